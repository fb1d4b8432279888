//! `tamis recall`: asks the notes and conversations in the index.

use super::ask::{self, ask};
use crate::args::{Global, RecallArguments};
use crate::exit::Exit;
use crate::output::Output;
use anyhow::Result;
use std::io::Write;
use tamis::Index;

/// The remedy for an index without notes.
const HOW_TO_ADD: &str = "`tamis remember \"…\"` adds one, Markdown files such as MEMORY.md and memory/*.md are notes, and \
                          `tamis import conversations FILE` imports conversations";

/// Answers a question from notes and conversations.
///
/// # Errors
/// A flag or setting that is not allowed, no index to search, or an index or model that fails.
pub fn run(arguments: &RecallArguments, global: &Global, output: &Output) -> Result<Exit> {
    let RecallArguments { query, parameters } = arguments;
    let form = &query.output;
    let asked = ask::asked(parameters, query);
    let settings = ask::settings(parameters, query, "memory.cut");
    let Some(mut answered) = ask(|config| asked.recall(config), &[], settings, form, global, output)? else {
        return Ok(Exit::Interrupted);
    };
    if let Some(around) = parameters.context {
        answered.index.notes().with_turns(&mut answered.answer, around)?;
    }
    if answered.answer.index.passages == 0
        && let Some(reason) = missing(&answered.index, &parameters.collections)?
    {
        if form.json || form.jsonl || form.files {
            output.note(&reason);
        } else {
            let mut out = output.styled();
            writeln!(out, "{reason}")?;
            out.flush()?;
            return Ok(Exit::Nothing);
        }
    }
    ask::print(&answered, form, parameters.limit, output)?;
    Ok(Exit::found(!answered.answer.results.is_empty()))
}

/// The message if the collections are empty; `None` if only the filters leave nothing.
fn missing(index: &Index, collections: &[String]) -> Result<Option<String>> {
    let wanted = match collections.is_empty() {
        true => index.config().memory.collections.as_slice(),
        false => collections,
    };
    let counts = index.contents().summary()?.collections;
    if counts.iter().any(|count| count.passages > 0 && wanted.contains(&count.name)) {
        return Ok(None);
    }
    let documentation = counts.iter().find(|count| count.name == "docs").map_or(0, |count| count.passages);
    if collections.is_empty() && documentation > 0 {
        return Ok(Some(format!(
            "No notes yet: the Markdown files here are documentation, which `tamis search` searches. `index.notes` names files that are \
             notes. {HOW_TO_ADD}."
        )));
    }
    let what = if collections.is_empty() { "notes".to_owned() } else { wanted.join(", ") };
    Ok(Some(format!("No {what} yet: {HOW_TO_ADD}.")))
}
