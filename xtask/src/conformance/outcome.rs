//! The outcome of a part, as a row of a table.

use anyhow::{Result, bail};
use std::time::Duration;

/// One row.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The part and its variant.
    pub name: String,
    /// Checks that passed.
    pub passed: usize,
    /// Checks that do not apply, each listed with its reason.
    pub not_applicable: usize,
    /// Checks that the suite itself skipped.
    pub skipped: usize,
    /// Descriptions of failed checks.
    pub failures: Vec<String>,
    /// The time that it took.
    pub took: Duration,
}

/// Prints the table and the failures.
///
/// # Errors
/// A check failed.
pub fn report(outcomes: &[Outcome]) -> Result<()> {
    let width = outcomes.iter().map(|outcome| outcome.name.len()).max().unwrap_or_default();
    println!("\n{:width$}  passed  not applicable  skipped  failed  seconds", "");
    for outcome in outcomes {
        println!(
            "{:width$}  {:6}  {:14}  {:7}  {:6}  {:7.1}",
            outcome.name,
            outcome.passed,
            outcome.not_applicable,
            outcome.skipped,
            outcome.failures.len(),
            outcome.took.as_secs_f64()
        );
    }
    for outcome in outcomes {
        for failure in &outcome.failures {
            println!("{}: {failure}", outcome.name);
        }
    }
    match outcomes.iter().map(|outcome| outcome.failures.len()).sum::<usize>() {
        0 => Ok(()),
        failed => bail!("conformance: {failed} checks failed"),
    }
}
