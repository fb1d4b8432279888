//! `tamis recall`: asks the notes and conversations in the index.

use super::ask::{self, QueryArguments, ask};
use super::cut::method_names;
use super::search::explain_empty;
use crate::command_line::Global;
use crate::exit::Exit;
use crate::output::Output;
use anyhow::Result;
use clap::Args;
use std::io::Write;
use tamis::{Index, SearchRequest};

const RECALL_EXAMPLES: &str = "\
Examples:
  tamis recall \"what did we decide about backups\"
  tamis recall \"who called about the invoice\" --since monday";

const MORE_RECALL_EXAMPLES: &str = "  tamis recall deploy window --topic releases --explain
  tamis recall \"why did we move the job\" --collection sessions --context 3

The settings of [memory] apply. Of memories that say the same, the newest comes first and repetitions last; with
memory.decay_half_life_days, older ones count less. `tamis remember` adds a note.";

/// Flags of `tamis recall`.
#[derive(Debug, Args)]
#[command(
    after_help = RECALL_EXAMPLES,
    after_long_help = format!("{RECALL_EXAMPLES}\n{MORE_RECALL_EXAMPLES}\n\n{}", method_names()),
    mut_arg("collections", |flag| {
        flag.help("Search only these collections; repeat or separate with commas [default: memory.collections, notes and sessions]")
    }),
    mut_arg("context", |flag| {
        flag.help("Show N lines around the best line of each note, and N turns around that of each conversation, 0 to 500")
    }),
    mut_arg("cut", |flag| {
        flag.help("Choose where relevance ends (the methods are named below); off keeps everything [default: memory.cut, auto]")
    }),
    // They are about code, or about what notes do not have.
    mut_args(|flag| {
        let hidden = ["languages", "kinds", "roles", "symbols", "passages", "guarantee", "variants", "prefer_lang", "from"];
        let is_hidden = hidden.contains(&flag.get_id().as_str());
        flag.hide(is_hidden)
    })
)]
pub struct RecallArguments {
    #[command(flatten)]
    pub query: QueryArguments,
    #[command(flatten)]
    pub request: SearchRequest,
}

/// The remedy for an index without notes.
const HOW_TO_ADD: &str = "`tamis remember \"…\"` adds one, Markdown files such as MEMORY.md and memory/*.md are notes, and \
                          `tamis import conversations FILE` imports conversations";

/// Answers a question from notes and conversations.
///
/// # Errors
/// A flag or setting that is not allowed, no index to search, or an index or model that fails.
pub fn run(arguments: &RecallArguments, global: &Global, output: &Output) -> Result<Exit> {
    let RecallArguments { query, request } = arguments;
    let form = &query.output;
    let asked = SearchRequest { memory: true, ..ask::asked(request, query) };
    let settings = ask::settings(request, query, "memory.cut");
    let Some(mut answered) = ask(asked, &[], settings, form, global, output)? else {
        return Ok(Exit::Interrupted);
    };
    if let Some(around) = request.output.context {
        answered.index.notes().with_turns(&mut answered.answer, around)?;
    }
    if answered.answer.index.passages == 0 {
        match missing(&answered.index, &request.filters.collections)? {
            None => explain_empty(&answered.index, &answered.request, output)?,
            Some(reason) if form.json || form.jsonl || form.files => output.note(&reason),
            Some(reason) => {
                let mut out = output.styled();
                writeln!(out, "{reason}")?;
                out.flush()?;
                return Ok(Exit::Nothing);
            }
        }
    }
    ask::print(&answered, form, request.limit, output)?;
    Ok(Exit::found(!answered.answer.results.is_empty()))
}

/// The message if the collections are empty; `None` if only the filters leave nothing.
fn missing(index: &Index, collections: &[String]) -> Result<Option<String>> {
    let wanted = match collections.is_empty() {
        true => index.config().memory.collections.as_slice(),
        false => collections,
    };
    let counts = index.contents().summary()?.counts.collections;
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
