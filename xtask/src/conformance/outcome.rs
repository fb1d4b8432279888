//! What came of a part, as one row of a table.

use super::all_passed;
use anyhow::{Result, bail};
use std::time::Duration;

/// One row.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What was run, and how.
    pub name: String,
    /// Checks that passed.
    pub passed: usize,
    /// Checks that do not apply, each listed with its reason.
    pub not_applicable: usize,
    /// Checks that the suite itself passed over.
    pub skipped: usize,
    /// What is wrong.
    pub failures: Vec<String>,
    /// How long it took.
    pub took: Duration,
}

/// Prints the table and all that is wrong.
///
/// # Errors
/// Something is wrong.
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
    if !all_passed(outcomes) {
        bail!("conformance: {} checks failed", outcomes.iter().map(|outcome| outcome.failures.len()).sum::<usize>());
    }
    Ok(())
}
