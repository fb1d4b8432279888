//! The sessions in docs/mcp.md: a real client makes them from the small project, and they must match the page.

use super::fixture::{Fixture, MODELS};
use super::outcome::Outcome;
use super::tools::Tools;
use crate::run::root;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::time::Instant;

/// The lines around the sessions in the page.
const MARKS: [&str; 2] =
    ["<!-- sessions: made by `cargo xtask conformance sessions --write` -->", "<!-- sessions end -->"];

/// Makes the sessions and compares them with the page, or writes them into it.
///
/// # Errors
/// The sessions cannot be made, or the page lacks the lines around them.
pub fn run(tools: &Tools, fixture: &Fixture, writes: bool) -> Result<Vec<Outcome>> {
    let started = Instant::now();
    fixture.renew()?;
    // A reader has the models of the defaults.
    let environment: Vec<_> = fixture.environment().into_iter().filter(|(name, _)| *name != MODELS).collect();
    let indexed = fixture.tamis(&["index", "--wait", "--quiet"]).env_remove(MODELS).status()?;
    ensure!(indexed.success(), "the project cannot be indexed");
    let mut command = tools.script("sessions.mjs")?;
    command.arg(&fixture.binary).arg(&fixture.project);
    command.env("TAMIS_SERVED_WITH", serde_json::to_string(&environment)?);
    let output = command.output().context("node cannot be started")?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let name = "sessions in docs/mcp.md".to_owned();
        return Ok(vec![Outcome { name, failures: vec![errors], took: started.elapsed(), ..Outcome::default() }]);
    }
    let made = String::from_utf8(output.stdout)?;

    let path = root().join("docs/mcp.md");
    let page = fs::read_to_string(&path)?;
    let begin = page.find(MARKS[0]).context("docs/mcp.md lacks the mark where the sessions begin")? + MARKS[0].len();
    let end = page.find(MARKS[1]).context("docs/mcp.md lacks the mark where the sessions end")?;
    let mut outcome = Outcome { name: "sessions in docs/mcp.md".to_owned(), ..Outcome::default() };
    if writes {
        fs::write(&path, format!("{}\n{}\n{}", &page[..begin], made.trim_end(), &page[end..]))?;
        outcome.passed = 1;
    } else {
        let (shown, made) = (masked(&page[begin..end]), masked(&made));
        let differs = shown.lines().zip(made.lines()).find(|(shown, made)| shown != made);
        match differs {
            Some((shown, made)) => outcome.failures.push(format!(
                "the page shows\n  {shown}\nbut the server answers\n  {made}\nupdate the page with `cargo xtask conformance sessions --write`"
            )),
            None if shown.lines().count() != made.lines().count() => {
                outcome.failures.push("the page is longer or shorter than the server's answers".to_owned());
            }
            None => outcome.passed = shown.lines().count(),
        }
    }
    outcome.took = started.elapsed();
    Ok(vec![outcome])
}

/// The note that a tool adds while the index is being made.
const TEMPORARY: &str = "Note: the index is being updated";

/// The end of a result of almost no probability. Processors round the sums of an encoder differently, and so order these.
const UNLIKELY: &str = " <1%";

/// The text without everything that changes from run to run: figures, days, names of searches, the state of the index, and the least
/// likely results.
fn masked(text: &str) -> String {
    let lines: Vec<&str> =
        text.lines().filter(|line| !line.starts_with(TEMPORARY) && !line.ends_with(UNLIKELY)).collect();
    let text = lines.join("\n");
    let mut masked = String::new();
    let mut word = String::new();
    let mut before = String::new();
    for character in text.trim().chars().chain(['\n']) {
        if character.is_ascii_alphanumeric() || character == '_' {
            word.push(character);
            continue;
        }
        if !word.is_empty() {
            let is_query_id = before == "query" || before == "query_id" || before == "search";
            let is_figure = word.chars().any(|character| character.is_ascii_digit());
            masked.push_str(if is_figure || (is_query_id && word.len() == 8) { "#" } else { &word });
            before = std::mem::take(&mut word);
        }
        masked.push(character);
    }
    // Some figures have a fraction.
    masked.replace("#.#", "#").replace("-#", "#")
}
