//! What a search found, as text for an agent.

use std::fmt::Write;
use std::ops::Range;

use tamis::search::{AskedRelation, FurtherPassage, Nearest, judged, percent};
use tamis::{Answer, Hit};

use crate::operation::Call;
use crate::paging::{Entry, List, NEXT_CHARS, PageArguments};
use crate::untrusted_text::{clean, dedented, fenced, line, name, short};

/// The results below the line take no more than this part of an answer, and of one without results.
const NEAREST_PART: usize = 8;
const NEAREST_PART_OF_NOTHING: usize = 2;

/// Number of other passages of a result that are shown; the rest is counted.
const FURTHER: usize = 2;

/// Most characters of a name and of a line of another passage.
const FURTHER_NAME: usize = 60;
const FURTHER_LINE: usize = 120;

/// Lines of code below the first result.
const BRIEF_LINES: usize = 3;

/// Number of near-copies that are named; the rest is counted.
const COPIES: usize = 3;

/// A page of the results. What it shows is noted, since a client that turns a page searches again.
pub(crate) fn search_text(call: &Call<'_>, answer: &Answer, page: &PageArguments) -> String {
    let shows_namespace = answer.index.namespaces.len() > 1;
    let mut warnings = Vec::new();
    if let Some(reason) = &answer.fallback_reason {
        warnings.push(format!("answered with {}: {reason}", answer.model.as_deref().unwrap_or("words alone")));
    }
    warnings.extend(answer.warnings.iter().cloned());
    let entries: Vec<Entry> = answer.results.iter().map(|hit| entry(hit, shows_namespace)).collect();
    let shown: usize = entries.iter().skip(page.offset).map(|entry| entry.in_fences().chars().count()).sum();
    let around = warnings.iter().map(|warning| warning.chars().count() + "Note: \n".len()).sum::<usize>()
        + answer.summary.chars().count()
        + NEXT_CHARS;
    // No result below the line stands on a page that does not end the results.
    let part = if entries.is_empty() { NEAREST_PART_OF_NOTHING } else { NEAREST_PART };
    let mut room = if shown + around < page.max_chars { page.max_chars / part } else { 0 };
    let mut below = String::new();
    for nearest in answer.nearest.iter().map(|nearest| nearest_line(nearest, shows_namespace)) {
        let Some(left) = room.checked_sub(nearest.chars().count()) else { break };
        room = left;
        below.push_str(&nearest);
    }
    let query = answer.query_id.as_ref().map(|id| format!(" [query {id}]")).unwrap_or_default();
    let related = answer.asked_relation().map(|(hit, relation)| {
        let by = if relation == AskedRelation::Commits { "" } else { " and by = reference" };
        format!("related with the path:line of result {}{by} lists {}.\n", hit.rank, name(&relation.to_string()))
    });
    let sentence = format!("{}{query}\n{}", name(&answer.summary), related.unwrap_or_default());
    // An empty answer begins with the sentence.
    let tail = match (below.is_empty(), entries.is_empty()) {
        (true, _) => sentence,
        (false, true) => format!("{sentence}Nearest:\n{}", fenced(&below)),
        (false, false) => format!("Less likely:\n{}{sentence}", fenced(&below)),
    };
    let (text, range) = List { entries, shared: None, tail, warnings }.page(page);
    if let Some(query_id) = answer.query_id.as_deref().filter(|_| range.len() < answer.results.len()) {
        let ids = answer.results[range].iter().flat_map(|hit| {
            std::iter::once(hit.id.as_str()).chain(hit.passages.iter().take(FURTHER).map(|passage| passage.id.as_str()))
        });
        call.index.feedback().shown_in_part(query_id, &ids.collect::<Vec<_>>());
    }
    text
}

/// A result below the line.
fn nearest_line(nearest: &Nearest, shows_namespace: bool) -> String {
    let mut line = format!("{}:{}", place(&nearest.namespace, &nearest.path, shows_namespace), nearest.start_line);
    if let Some(called) = nearest.name() {
        let _ = write!(line, " {}", short(&name(called), FURTHER_NAME));
    }
    // A judgement says more than the probability that follows from it.
    if let Some(relevant) = nearest.judged_relevant {
        let _ = write!(line, ", {}", judged(relevant));
    } else if let Some(probability) = nearest.probability {
        let _ = write!(line, " {}", percent(probability));
    }
    line + "\n"
}

/// A path, which others named, after its namespace where that says something.
pub(crate) fn place(namespace: &str, path: &str, shows_namespace: bool) -> String {
    let namespace = if shows_namespace { format!("{}:", name(namespace)) } else { String::new() };
    namespace + &name(path)
}

fn entry(hit: &Hit, shows_namespace: bool) -> Entry {
    let called = hit.symbols_in_short().or_else(|| Some(hit.title.as_deref()?.into()));
    let called = called.map(|called| format!(" {}", name(&called)));
    let shown = shown_lines(hit);
    let snippet = clean(&hit.snippet);
    let lines: Vec<&str> = snippet.lines().skip(shown.start).take(shown.len()).collect();
    // A file's lines name the passage as well, in fewer tokens.
    let is_record = ["issues", "notes", "sessions", "commits", "evidence"].contains(&hit.collection.as_str());
    let id = if is_record { format!(" [{}]", hit.id) } else { String::new() };
    Entry {
        label: format!("{}.{id}\n", hit.rank),
        lead: format!(
            "{}:{}-{}{} ({})\n",
            place(&hit.namespace, &hit.path, shows_namespace),
            hit.start_line,
            hit.end_line,
            called.unwrap_or_default(),
            origin(hit, hit.snippet_line + shown.start as u32)
        ),
        body: dedented(&lines.join("\n")),
        rest: others(hit),
        ..Entry::default()
    }
}

/// The lines of a snippet that are shown, from 0: all of the first result and of prose, and of other code those with the most words
/// of the question.
fn shown_lines(hit: &Hit) -> Range<usize> {
    let lines = hit.snippet.lines().count();
    let marked: Vec<usize> =
        hit.highlights.iter().map(|mark| hit.snippet[..mark.start].matches('\n').count()).collect();
    let brief = |first: usize| first..first + BRIEF_LINES;
    let windows = (0..=lines.saturating_sub(BRIEF_LINES)).rev().map(brief);
    let best = windows.max_by_key(|window| marked.iter().filter(|line| window.contains(line)).count());
    best.filter(|_| hit.rank > 1 && hit.collection == "code").unwrap_or(0..lines)
}

/// The kind, with the author and the date where they matter: outside code and documentation, or when an author is known.
fn origin(hit: &Hit, first_line: u32) -> String {
    let mut words = tamis::kind_in_words(&hit.kind, hit.language.as_deref());
    let state = hit.attributes.get("state").map(|states| states.join(", "));
    if let Some(state) = state.filter(|_| hit.collection == "issues") {
        let _ = write!(words, ", {}", line(&state));
    }
    if let Some(author) = &hit.author {
        let _ = write!(words, " by {}", name(author));
    }
    let is_dated = hit.author.is_some() || !["code", "docs"].contains(&hit.collection.as_str());
    if let Some(day) = hit.dated_at.as_deref().filter(|_| is_dated).and_then(|date| date.get(..10)) {
        let _ = write!(words, ", {day}");
    }
    if let Some(url) = &hit.url {
        let _ = write!(words, ", {}", name(url));
    }
    if let Some(relevant) = hit.judged_relevant {
        let _ = write!(words, ", {}", judged(relevant));
    }
    if first_line != hit.start_line {
        let _ = write!(words, ", from line {first_line}");
    }
    words
}

/// The other passages and the near-copies, a line each.
fn others(hit: &Hit) -> String {
    let mut text = String::new();
    for FurtherPassage { start_line, end_line, symbol, title, snippet, .. } in hit.passages.iter().take(FURTHER) {
        let heading = title.as_deref().and_then(|title| title.rsplit(" > ").next());
        let shown = |text: &str, most: usize| short(&name(text), most).into_owned();
        let _ = write!(text, "\n+ {start_line}-{end_line}");
        let snippet = shown(snippet.trim(), FURTHER_LINE);
        let _ = match symbol.as_deref().or(heading).map(|called| shown(called, FURTHER_NAME)) {
            // A symbol's name says enough.
            Some(called) if hit.collection == "code" => write!(text, " {called}"),
            Some(called) => write!(text, " {called}: {snippet}"),
            None => write!(text, ": {snippet}"),
        };
    }
    match hit.passages.len().saturating_sub(FURTHER) {
        0 => {}
        1 => text.push_str("\n+ 1 more passage"),
        more => text.push_str(&format!("\n+ {more} more passages")),
    }
    if !hit.copies.is_empty() {
        let copies: Vec<String> = hit.copies.iter().take(COPIES).map(|copy| name(&copy.path)).collect();
        let _ = write!(text, "\nalso in {}", copies.join(", "));
        if hit.copies.len() > COPIES {
            let _ = write!(text, " and {} more", hit.copies.len() - COPIES);
        }
    }
    text
}
