//! The results of a search, and the line on how many there are and why.

use super::text::{highlighted, label, line_range, origin_of, visible};
use crate::layout::{Page, shortened, shortened_middle, shortened_start, wrapped};
use console::measure_text_width;
use owo_colors::OwoColorize;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::{self, Write};
use tamis::search::{AskedRelation, FurtherPassage, Nearest, judged, percent};
use tamis::{Answer, Hit, kind_in_words};

/// The most characters of a line if the terminal sets no limit; longer lines are data or generated code.
const LONGEST_LINE: usize = 240;

/// Writes an answer: its results, the entries below the line, and the sentence about them. An empty answer begins with the sentence.
///
/// # Errors
/// `out` cannot be written.
pub fn whole(out: &mut dyn Page, answer: &Answer) -> io::Result<()> {
    let summary = summary(answer);
    if answer.results.is_empty() {
        writeln!(out, "{summary}")?;
        return nearest(out, answer, "Nearest:");
    }
    hits(out, answer)?;
    if !answer.nearest.is_empty() {
        nearest(out, answer, "Less likely:")?;
        writeln!(out)?;
    }
    writeln!(out, "{summary}")?;
    if let Some((hit, relation)) = answer.asked_relation() {
        let by = if relation == AskedRelation::Commits { "" } else { " --by reference" };
        let command = format!("tamis related {}:{}{by}", label(&hit.path), hit.start_line);
        writeln!(out, "{}", format_args!("`{command}` lists {}.", label(&relation.to_string())).dimmed())?;
    }
    Ok(())
}

/// Writes the entries below the line under a heading, one line each.
fn nearest(out: &mut dyn Page, answer: &Answer, heading: &str) -> io::Result<()> {
    if answer.nearest.is_empty() {
        return Ok(());
    }
    writeln!(out, "{}", heading.dimmed())?;
    let columns = out.columns_after(BELOW_INDENTATION, LONGEST_LINE);
    for one in &answer.nearest {
        let namespace = shown_namespace(answer, &one.namespace, &one.path);
        let line = below(out, one, namespace, columns);
        writeln!(out, "{:BELOW_INDENTATION$}{}", "", line.dimmed())?;
    }
    Ok(())
}

/// Columns before an entry below the line.
const BELOW_INDENTATION: usize = 2;

/// Fewest columns of a name in which it says something.
const SHORTEST_NAME: usize = 8;

/// An entry below the line in so many columns: place, name, and the probability or what people said of it.
fn below(out: &mut dyn Page, one: &Nearest, namespace: Option<&str>, columns: usize) -> String {
    let namespace = namespace.map(|namespace| format!("{} ", label(namespace))).unwrap_or_default();
    let place = format!("{namespace}{}:{}", label(&one.path), one.start_line);
    // A judgement says more than the probability that follows from it.
    let said = one.judged_relevant.map(|relevant| judged(relevant).to_owned());
    let likely = said.or(one.probability.map(percent)).map(|likely| format!("  {likely}")).unwrap_or_default();
    let room = columns.saturating_sub(measure_text_width(&likely));
    let place = shortened_start(&place, room);
    let left = room.saturating_sub(measure_text_width(&place) + 2);
    let place = out.link(&one.namespace, &one.path, (one.start_line, 1), place.into_owned());
    match one.name().filter(|_| left >= SHORTEST_NAME) {
        Some(name) => format!("{place}  {}{likely}", shortened_middle(&label(name), left)),
        None => format!("{place}{likely}"),
    }
}

/// Writes every result: place, symbol, kind, heading, the lines that answer best, and in short its other passages and
/// near-copies.
///
/// An answer from several namespaces names the namespace of each place.
pub fn hits(out: &mut dyn Page, answer: &Answer) -> io::Result<()> {
    for hit in &answer.results {
        let namespace = shown_namespace(answer, &hit.namespace, &hit.path);
        let mut heading = namespace.map(|name| format!("{} ", label(name).cyan())).unwrap_or_default();
        let state = state(hit);
        heading.push_str(&match state {
            Some(state) => issue(hit, state),
            None => passage(out, hit),
        });
        out.line(&heading, 4)?;
        snippet(out, hit)?;
        further(out, hit, state.is_some())?;
        writeln!(out)?;
    }
    Ok(())
}

/// The namespace of a place of an answer from several, unless its path begins with it.
fn shown_namespace<'a>(answer: &Answer, namespace: &'a str, path: &str) -> Option<&'a str> {
    let is_in_path = path.strip_prefix(namespace).is_some_and(|rest| rest.starts_with(':'));
    (answer.index.namespaces.len() > 1 && !is_in_path).then_some(namespace)
}

/// The place and the name of a passage.
fn passage(out: &mut dyn Page, hit: &Hit) -> String {
    let place = format!("{}:{}", label(&hit.path).purple(), line_range(hit.start_line, hit.end_line).green());
    let mut text = out.link(&hit.namespace, &hit.path, (hit.start_line, 1), place);
    // Writing to a string cannot fail.
    if let Some(symbols) = hit.symbols_in_short() {
        let _ = write!(text, "  {}", label(&symbols).bold());
    }
    let _ = write!(text, "  {}", origin(hit).dimmed());
    if let (None, Some(title)) = (&hit.symbol, &hit.title) {
        let _ = write!(text, "  {}", label(title).bold());
    }
    text
}

/// A passage of an issue, named as people name issues: by number, state and title.
fn issue(hit: &Hit, state: &str) -> String {
    let state = match state {
        "open" => state.green().to_string(),
        "merged" => state.purple().to_string(),
        state => label(state).red().to_string(),
    };
    let title = hit.title.as_deref().map(|title| format!("  {}", label(title).bold())).unwrap_or_default();
    format!("{}  {state}{title}  {}", label(&hit.path).purple(), origin(hit).dimmed())
}

/// The most telling state of an issue or pull request; `None` for everything else.
fn state(hit: &Hit) -> Option<&str> {
    let known = |name: &str| hit.attributes.get(name).map(Vec::as_slice).unwrap_or_default();
    known("type").first()?;
    let states = known("state");
    let merged = states.iter().find(|state| *state == "merged");
    let telling = merged.or_else(|| states.iter().find(|state| ["open", "closed"].contains(&state.as_str())));
    telling.or(states.first()).map(String::as_str)
}

/// The kind of a passage, with its author and day where these say something, and what people said of it.
fn origin(hit: &Hit) -> String {
    // The history of a tree shows the dates of its files better.
    let shows_day = hit.author.is_some() || !["code", "docs"].contains(&hit.collection.as_str());
    let dated_at = hit.dated_at.as_deref().filter(|_| shows_day);
    let said = hit.judged_relevant.map(|relevant| format!("  {}", judged(relevant))).unwrap_or_default();
    format!("({}){said}", origin_of(kind_in_words(&hit.kind, hit.language.as_deref()), hit.author.as_deref(), dated_at))
}

/// Rows of a terminal for one line of prose.
const PROSE_ROWS: usize = 4;

fn snippet(out: &mut dyn Page, hit: &Hit) -> io::Result<()> {
    let lines = hit.snippet.split_inclusive('\n');
    let width = (hit.snippet_line as usize + lines.clone().count()).to_string().len().max(4);
    let columns = out.columns_after(width + 3, LONGEST_LINE);
    let mut start = 0;
    for (number, line) in (hit.snippet_line..).zip(lines) {
        let end = start + line.trim_end_matches('\n').len();
        let mut text = highlighted(&hit.snippet, start..end, &hit.highlights);
        if out.columns().is_some() {
            // A tab takes as many columns as the terminal likes.
            text = text.replace('\t', "    ");
        }
        // A paragraph is often one line of its file.
        let is_wrapped = hit.collection != "code" && out.columns().is_some();
        let text = match is_wrapped {
            true => wrapped(&shortened(&text, PROSE_ROWS * columns), columns, 0).into_owned(),
            false => shortened(&text, columns).into_owned(),
        };
        let mut number = format!("{number:>width$}");
        for row in text.split('\n') {
            writeln!(out, "{} {} {row}", number.green(), "│".dimmed())?;
            number = " ".repeat(width);
        }
        start += line.len();
    }
    Ok(())
}

/// The sentence on how much is relevant and why, with the identifier to judge the answer by.
pub fn summary(answer: &Answer) -> String {
    let sentence = visible(&answer.summary);
    match &answer.query_id {
        // There is nothing to judge.
        Some(id) if answer.index.passages > 0 => format!("{sentence} [query {id}]"),
        _ => sentence.into_owned(),
    }
}

/// Each result as `PATH:LINE:COLUMN:TEXT`, at the first line of its snippet that has a word of the query, best first.
pub fn vimgrep(out: &mut dyn Write, results: &[Hit]) -> io::Result<()> {
    for hit in results {
        let at = hit.highlights.first().map_or(0, |highlight| highlight.start);
        let before = hit.snippet.get(..at).unwrap_or_default();
        let line = hit.snippet_line as usize + before.matches('\n').count();
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let text = hit.snippet[start..].lines().next().unwrap_or_default();
        writeln!(out, "{}:{line}:{}:{}", label(&hit.path), at - start + 1, visible(text))?;
    }
    Ok(())
}

/// The path of each result once, best first, for at most `limit` files. Returns the number of results that are in them.
pub fn files(out: &mut dyn Write, results: &[Hit], limit: usize) -> io::Result<usize> {
    let mut seen = HashSet::new();
    for (at, hit) in results.iter().enumerate() {
        if seen.contains(&hit.path) {
            continue;
        }
        if seen.len() == limit {
            return Ok(at);
        }
        seen.insert(&hit.path);
        writeln!(out, "{}", label(&hit.path))?;
    }
    Ok(results.len())
}

/// Number of other passages that are shown; the rest is counted.
const SHOWN: usize = 2;

/// Longer lines are shortened if the terminal sets no limit.
const LONGEST_FURTHER_LINE: usize = 160;

/// Writes the other passages of a result and its near-copies. Passages of an issue are named by author and day, since its line
/// numbers mean little.
pub(super) fn further(out: &mut dyn Page, hit: &Hit, is_issue: bool) -> io::Result<()> {
    let columns = out.columns_after(0, LONGEST_FURTHER_LINE);
    for passage in hit.passages.iter().take(SHOWN) {
        let line = one_line(out, hit, passage, is_issue);
        writeln!(out, "{}", shortened(&line, columns))?;
    }
    match hit.passages.len().saturating_sub(SHOWN) {
        0 => {}
        1 => writeln!(out, "   {}", "and 1 more passage".dimmed())?,
        more => writeln!(out, "   {}", format_args!("and {more} more passages").dimmed())?,
    }
    if let Some(first) = hit.copies.first() {
        let more = match hit.copies.len() {
            1 => String::new(),
            copies => format!(" and {} more", copies - 1),
        };
        let path = label(&first.path).purple().to_string();
        let path = out.link(&first.namespace, &first.path, (first.start_line, 1), path);
        let copies = format!("   {} {path}{}", "also in".dimmed(), more.dimmed());
        out.line(&copies, 5)?;
    }
    Ok(())
}

/// Returns place, name and best line of a passage.
fn one_line(out: &mut dyn Page, hit: &Hit, passage: &FurtherPassage, is_issue: bool) -> String {
    let place = match is_issue {
        true => origin_of(kind_in_words(&passage.kind, None), passage.author.as_deref(), passage.dated_at.as_deref()),
        false => {
            let lines = line_range(passage.start_line, passage.end_line).green().to_string();
            out.link(&hit.namespace, &hit.path, (passage.start_line, 1), lines)
        }
    };
    let mut line = format!("   + {place}");
    let heading = || passage.title.as_deref().filter(|_| !is_issue && passage.title != hit.title);
    let name = passage.symbol.as_deref().or_else(|| heading()?.rsplit(" > ").next());
    if let Some(name) = name {
        // Writing to a string cannot fail.
        let _ = write!(line, "  {}", label(name).bold());
    }
    let start = passage.snippet.len() - passage.snippet.trim_start().len();
    let text = highlighted(&passage.snippet, start..passage.snippet.len(), &passage.highlights);
    let _ = write!(line, "  {}", text.replace('\t', " "));
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::samples::{answer, copy, further_passage, hit, nearest as nearest_entry};
    use crate::print::{plain, plain_in};
    use std::ops::Range;

    #[test]
    fn an_issue_is_shown_as_people_know_it() {
        let mut comment = hit("issue:12", 8, 12);
        comment.kind = "comment".into();
        comment.collection = "issues".into();
        comment.title = Some("Crash when the window is closed".into());
        comment.author = Some("alice".into());
        comment.dated_at = Some("2024-03-01T09:30:00Z".into());
        let known = |values: &[(&str, &[&str])]| {
            let owned = |values: &[&str]| values.iter().map(|&value| value.to_owned()).collect::<Vec<String>>();
            values.iter().map(|(name, values)| ((*name).to_owned(), owned(values))).collect()
        };
        comment.attributes = known(&[("state", &["closed", "resolved"]), ("type", &["issue"])]);
        comment.snippet = "It was the driver.".into();
        let mut pull = hit("issue:13", 1, 4);
        pull.kind = "pull_request".into();
        pull.title = Some("Close windows in order".into());
        pull.attributes = known(&[("state", &["closed", "merged", "resolved"]), ("type", &["pull_request"])]);
        let mut note = hit("memory/2024-03-01.md", 3, 5);
        note.kind = "note".into();
        note.collection = "notes".into();
        note.dated_at = Some("2024-03-01T00:00:00Z".into());
        note.attributes = known(&[("topic", &["drivers"])]);
        let found = Answer { results: vec![comment, pull, note], ..answer() };
        insta::assert_snapshot!(plain(|out| hits(out, &found)), @r"
        issue:12  closed  Crash when the window is closed  (comment by alice, 2024-03-01)
           8 │ It was the driver.

        issue:13  merged  Close windows in order  (pull request)

        memory/2024-03-01.md:3-5  (note, 2024-03-01)
        ");
    }

    #[test]
    fn a_paragraph_of_one_line_is_wrapped_on_a_terminal_code_is_not_and_terms_are_highlighted() {
        let mut long = hit("a.md", 14, 14);
        long.snippet = "The battery lasts eleven minutes, and then the server shuts itself down.".into();
        let rows = |hit: &Hit| plain_in(30, |out| snippet(out, hit));
        long.collection = "docs".into();
        let wrapped =
            "  14 │ The battery lasts\n     │ eleven minutes, and\n     │ then the server shuts\n     │ itself down.\n";
        assert_eq!(rows(&long), wrapped);
        long.collection = "code".into();
        assert_eq!(rows(&long).lines().count(), 1);
        let line = |snippet: &str, highlights: &[Range<usize>]| highlighted(snippet, 0..snippet.len(), highlights);
        assert_eq!(line("take the lock", &[0..4, 9..13]).matches("\u{1b}[1m").count(), 2);
        assert_eq!(line("süß", &[2..3, 9..20, 1..1]), "süß");
    }

    #[test]
    fn long_lines_are_shortened_to_the_terminal() {
        let mut long = hit("data.md", 1, 1);
        long.snippet = "ä".repeat(500);
        long.highlights = vec![0..10, 500..900];
        let found = Answer { results: vec![long], ..answer() };
        let shown = |text: String| text.lines().nth(1).map(|line| line.chars().count());
        assert_eq!(shown(plain(|out| hits(out, &found))), Some(LONGEST_LINE + 7));
        let narrow = plain_in(40, |out| hits(out, &found));
        assert_eq!(narrow.lines().map(|line| line.chars().count()).max(), Some(40), "{narrow}");
        assert!(narrow.lines().nth(1).is_some_and(|line| line.ends_with('…')), "{narrow}");
    }

    #[test]
    fn less_likely_entries_stand_below_the_line() {
        let mut first = hit("src/lock.rs", 8, 12);
        first.snippet = "fn take() {}".into();
        let mut second = nearest_entry("src/queue.rs", 40);
        second.symbol = Some("Queue::take".into());
        second.probability = Some(0.12);
        let mut third = nearest_entry("docs/locks and queues/heat\u{1b}[2Jing.md", 7);
        third.title = Some("Guide > What to do when a lock is never released, step by step".into());
        third.probability = Some(0.004);
        let found = Answer {
            results: vec![first],
            nearest: vec![second, third, nearest_entry("c.md", 1)],
            summary: "1 of 97 looks relevant (92%); the next has 12%.".into(),
            query_id: Some("7k2m9qrt".into()),
            ..answer()
        };
        insta::assert_snapshot!(plain_in(80, |out| whole(out, &found)), @r"
        src/lock.rs:8-12  (function)
           8 │ fn take() {}

        Less likely:
          src/queue.rs:40  Queue::take  12%
          docs/locks and queues/heat␛[2Jing.md:7  What to do when …ed, step by step  <1%
          c.md:1

        1 of 97 looks relevant (92%); the next has 12%. [query 7k2m9qrt]
        ");
        let mut several = found.clone();
        several.index.namespaces.push("other".into());
        assert!(plain(|out| whole(out, &several)).contains("\n  sample src/queue.rs:40  "));
        let narrow = plain_in(30, |out| nearest(out, &found, "Less likely:"));
        assert!(narrow.lines().count() == 4 && narrow.lines().all(|line| line.chars().count() <= 30), "{narrow}");
    }

    #[test]
    fn two_more_passages_are_shown_and_the_others_counted() {
        let mut found = hit("src/lock.rs", 8, 12);
        let passage = |line: u32, symbol: &str| FurtherPassage {
            symbol: Some(symbol.into()),
            snippet: "    fn release(&mut self) {".into(),
            ..further_passage(line, line + 3)
        };
        found.passages = vec![passage(40, "Lock::release"), passage(80, "Lock::drop"), passage(90, "Lock::wait")];
        found.copies = vec![copy("vendor/lock.rs"), copy("old/lock.rs")];
        insta::assert_snapshot!(plain(|out| further(out, &found, false)), @r"
           + 40-43  Lock::release  fn release(&mut self) {
           + 80-83  Lock::drop  fn release(&mut self) {
           and 1 more passage
           also in vendor/lock.rs and 1 more
        ");
        found.passages.push(passage(99, "Lock::try"));
        assert!(plain(|out| further(out, &found, false)).contains("and 2 more passages"));
        let narrow = plain_in(30, |out| further(out, &found, false));
        assert!(narrow.lines().all(|line| line.chars().count() <= 30), "{narrow}");
    }

    #[test]
    fn comments_are_named_by_who_wrote_them_and_a_section_by_its_own_heading_where_it_differs() {
        let mut found = hit("issue:12", 1, 4);
        found.title = Some("Crash when the window is closed".into());
        found.passages = vec![FurtherPassage {
            kind: "comment".into(),
            author: Some("alice".into()),
            dated_at: Some("2024-03-01T09:30:00Z".into()),
            title: found.title.clone(),
            snippet: "It was the driver.".into(),
            ..further_passage(8, 12)
        }];
        assert_eq!(plain(|out| further(out, &found, true)), "   + comment by alice, 2024-03-01  It was the driver.\n");
        let mut found = hit("guide.md", 1, 4);
        found.title = Some("Guide > Install".into());
        let section = |title: &str| FurtherPassage { title: Some(title.into()), ..further_passage(8, 12) };
        found.passages = vec![section("Guide > Remove"), section("Guide > Install")];
        assert_eq!(plain(|out| further(out, &found, false)), "   + 8-12  Remove  \n   + 8-12  \n");
    }
}
