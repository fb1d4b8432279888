//! Packs the relevant entries of a search into one text for a prompt, within a budget of tokens.
//!
//! The pack has the entries that the search keeps, with the same configuration and cut: first the best passage of each, best
//! entries first, then their other passages. What fits is put into reading order, and passages that touch become one section.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamis_store::StoredPassage;
use tamis_text::estimate_tokens;

use crate::Error;
#[cfg(feature = "clap")]
use crate::flag_values::{language, whole};
use crate::get::by_line;
use crate::handle::Index;
use crate::search::{Asker, CutReport, SearchRequest};

/// A request for a pack.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct PackRequest {
    /// Question, or some words.
    #[schemars(length(min = 1, max = 10_000))]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub query: String,
    /// Token limit of the whole text; at least 50.
    #[schemars(range(min = 50, max = 1_000_000))]
    #[serde(default = "usual_budget")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = BUDGET, value_parser = whole::<50, 1_000_000>))]
    pub budget_tokens: usize,
    /// Pack at most this many results (default: all relevant ones).
    #[schemars(range(min = 1, max = 1000))]
    #[cfg_attr(feature = "clap", arg(short = 'n', long, value_name = "N", value_parser = whole::<1, 1000>))]
    pub limit: Option<usize>,
    /// Only matching paths; !GLOB leaves paths out.
    #[schemars(length(max = 50), inner(length(max = 4000)), extend("x-whole" = true))]
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long = "path", value_name = "GLOB"))]
    pub paths: Vec<String>,
    /// Only these languages or file extensions.
    #[schemars(length(max = 50), inner(length(max = 50)))]
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long = "lang", value_name = "LANG", value_delimiter = ',', value_parser = language))]
    pub languages: Vec<String>,
    /// Only these collections, such as code or docs.
    #[schemars(length(max = 20), inner(length(max = 200)))]
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long = "collection", value_name = "NAME", value_delimiter = ','))]
    pub collections: Vec<String>,
    /// Only these namespaces, all with equal rank.
    #[schemars(length(max = 100), inner(length(max = 200)))]
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long = "namespace", value_name = "NAME", value_delimiter = ','))]
    pub namespaces: Vec<String>,
    /// Repository (default: this one, or all).
    #[schemars(length(min = 1, max = 200))]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub namespace: Option<String>,
    /// Who asks.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub asker: Asker,
}

/// Most tokens of a text by default.
const BUDGET: usize = 4000;

fn usual_budget() -> usize {
    BUDGET
}

impl PackRequest {
    /// Creates a request for the relevant entries of a question, in a text of at most 4000 tokens.
    pub fn new(query: impl Into<String>) -> Self {
        PackRequest { query: query.into(), budget_tokens: BUDGET, ..PackRequest::default() }
    }

    /// The search whose relevant entries are packed.
    ///
    /// # Errors
    /// An empty query, an unknown language, or a limit out of range.
    pub fn search(&self) -> Result<SearchRequest, Error> {
        let request = self.clone();
        let mut search = SearchRequest::new(request.query)
            .paths(request.paths)
            .languages(request.languages)
            .collections(request.collections)
            .namespaces(request.namespaces)
            .namespace(request.namespace)
            .asker(request.asker);
        search.limit = request.limit;
        search.check()?;
        Ok(search)
    }
}

/// One text of relevant passages.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Pack {
    /// The text: each section under its place, and a last line on what was left out.
    pub text: String,
    /// Estimated tokens of the text.
    pub tokens: usize,
    /// The sections in reading order: by namespace, path and line.
    pub sections: Vec<PackSection>,
    /// Places of relevant passages that did not fit, best first. Those whose beginning is in the text count too.
    pub left_out: Vec<String>,
    /// The identifier of the recorded search; null if it was not recorded.
    pub query_id: Option<String>,
    /// The cut of the search.
    pub cut: CutReport,
    /// Problems that did not prevent an answer.
    pub warnings: Vec<String>,
}

/// Neighbouring lines of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PackSection {
    /// The repository or project it belongs to.
    pub namespace: String,
    /// Path of the document.
    pub path: String,
    /// First line, from 1.
    pub start_line: u32,
    /// Last line, included.
    pub end_line: u32,
    /// The lines.
    pub text: String,
}

/// Most entries of a pack.
const MOST_ENTRIES: usize = 1000;

/// Does the work of [`Index::pack`].
pub(super) fn pack(index: &Index, request: &PackRequest) -> Result<Pack, Error> {
    let budget = request.budget_tokens;
    if !(50..=1_000_000).contains(&budget) {
        return Err(Error::argument("budget_tokens", budget.to_string(), "50 to 1000000"));
    }
    let search = request.search()?;
    let limit = search.limit.unwrap_or(MOST_ENTRIES);
    let answer = index.search(search.limit(limit).strict())?;
    let several = answer.index.namespaces.len() > 1 || index.elsewhere().is_some();
    let mut wanted: Vec<(StoredPassage, Option<(u32, String)>)> = Vec::new();
    let best = answer.results.iter().map(|hit| (&hit.id, Some((hit.snippet_line, hit.snippet.clone()))));
    let further = answer.results.iter().flat_map(|hit| &hit.passages).map(|other| (&other.id, None));
    for (id, snippet) in best.chain(further) {
        let passage = index.store.find(id, 1)?.into_iter().find(|passage| passage.id == *id);
        wanted.extend(passage.map(|passage| (passage, snippet)));
    }
    let beyond = answer.cut.keep.saturating_sub(answer.results.len());
    let room = Room { budget, several, beyond };
    let mut chosen: Vec<StoredPassage> = Vec::new();
    let mut left_out: Vec<String> = Vec::new();
    for (passage, snippet) in wanted {
        let place = place(&passage.namespace, &passage.path, passage.start_line, passage.end_line, several);
        let fits = |chosen: &[StoredPassage], left_out: &[String]| {
            // The last line grows with what is left out later.
            let spare = LAST_LINE_TOKENS.min(budget / 4);
            estimate_tokens(&rendered(&sections(chosen), left_out, NAMED, &room)) + spare <= budget
        };
        chosen.push(passage);
        if fits(&chosen, &left_out) {
            continue;
        }
        left_out.push(place);
        // The lines that answer best may fit where the whole passage does not.
        match (chosen.pop(), snippet) {
            (Some(passage), Some((line, snippet))) => {
                let end_line = line + u32::try_from(snippet.trim_end().matches('\n').count()).unwrap_or_default();
                chosen.push(StoredPassage { start_line: line, end_line, text: snippet, ..passage });
                if !fits(&chosen, &left_out) {
                    chosen.pop();
                }
            }
            _ => continue,
        }
    }
    let sections = sections(&chosen);
    let nothing = answer.summary;
    let text = match answer.results.is_empty() {
        true => format!("{nothing}\n"),
        false => {
            let mut texts = (0..=NAMED).rev().map(|named| rendered(&sections, &left_out, named, &room));
            let fitting = texts.find(|text| estimate_tokens(text) <= budget);
            fitting.unwrap_or_else(|| rendered(&sections, &left_out, 0, &room))
        }
    };
    Ok(Pack {
        tokens: estimate_tokens(&text),
        text,
        sections,
        left_out,
        query_id: answer.query_id,
        cut: answer.cut,
        warnings: answer.fallback_reason.into_iter().chain(answer.warnings).collect(),
    })
}

/// Tokens kept for the names in the last line.
const LAST_LINE_TOKENS: usize = 60;

/// Places that the last line names.
const NAMED: usize = 5;

/// The frame of a pack.
struct Room {
    /// Most tokens.
    budget: usize,
    /// True if places name their namespace.
    several: bool,
    /// Number of relevant entries beyond the limit.
    beyond: usize,
}

fn place(namespace: &str, path: &str, start_line: u32, end_line: u32, several: bool) -> String {
    let namespace = if several { format!("{namespace}:") } else { String::new() };
    format!("{namespace}{path}:{start_line}-{end_line}")
}

/// The sections under their places, and the last line, which names so many of the places that are left out.
fn rendered(
    sections: &[PackSection],
    left_out: &[String],
    named: usize,
    &Room { budget, several, beyond }: &Room,
) -> String {
    let mut text = String::new();
    for section in sections {
        let PackSection { namespace, path, start_line, end_line, text: lines } = section;
        text.push_str(&format!("=== {}\n", place(namespace, path, *start_line, *end_line, several)));
        for line in lines.lines() {
            // A line of a document that looks like one of the pack's own is indented.
            let indent = if line.starts_with("===") { " " } else { "" };
            text.push_str(&format!("{indent}{line}\n"));
        }
        if lines.ends_with('\n') {
            text.push('\n');
        }
    }
    let (named, more) = left_out.split_at(left_out.len().min(named));
    let more = match (named.len(), more.len()) {
        (_, 0) => String::new(),
        (0, 1) => "1 passage".to_owned(),
        (0, all) => format!("{all} passages"),
        (_, more) => format!(" and {more} more"),
    };
    let named = named.join(", ");
    let results = if beyond == 1 { "result" } else { "results" };
    text.push_str(&match left_out.len() {
        0 if beyond > 0 => String::new(),
        0 => "=== Nothing relevant was left out.\n".to_owned(),
        _ => format!("=== Left out or shortened to fit {budget} tokens: {named}{more}\n"),
    });
    if beyond > 0 {
        text.push_str(&format!("=== Left out by the limit: {beyond} more relevant {results}\n"));
    }
    text
}

/// The passages in reading order, with those that touch or overlap as one.
fn sections(chosen: &[StoredPassage]) -> Vec<PackSection> {
    let mut files: BTreeMap<(&str, &str), Vec<StoredPassage>> = BTreeMap::new();
    for passage in chosen {
        files.entry((&passage.namespace, &passage.path)).or_default().push(passage.clone());
    }
    let mut sections: Vec<PackSection> = Vec::new();
    for ((namespace, path), mut passages) in files {
        passages.sort_by_key(|passage| (passage.start_line, passage.ordinal));
        // Blank lines between neighbouring passages are in none of them.
        let joins = |line: u32, next: u32| {
            let before = passages.iter().filter(|one| one.end_line == line);
            let after: Vec<u32> = passages.iter().filter(|one| one.start_line == next).map(|one| one.ordinal).collect();
            before.into_iter().any(|one| after.contains(&(one.ordinal + 1)))
        };
        let mut last: Option<PackSection> = None;
        for (line, content) in by_line(&passages) {
            match last.as_mut().filter(|last| line == last.end_line + 1 || joins(last.end_line, line)) {
                Some(last) => {
                    (last.end_line + 1..line).for_each(|_| last.text.push('\n'));
                    last.text.push_str(&content);
                    last.text.push('\n');
                    last.end_line = line;
                }
                None => sections.extend(last.replace(PackSection {
                    namespace: namespace.to_owned(),
                    path: path.to_owned(),
                    start_line: line,
                    end_line: line,
                    text: format!("{content}\n"),
                })),
            }
        }
        sections.extend(last);
    }
    sections
}
