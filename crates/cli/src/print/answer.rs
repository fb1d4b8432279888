//! The results of a search, and the line that says how many there are and why.

use super::text::{count, label, visible};
use owo_colors::OwoColorize;
use std::collections::HashSet;
use std::io::{self, Write};
use std::ops::Range;
use tamis::{Answer, Hit};

/// Longer lines are shortened; they are data or generated, and a terminal would wrap them over half the screen.
const LONGEST_LINE: usize = 240;

/// Every result: place, symbol, kind, heading, and the lines that answer best.
///
/// Where several namespaces were searched, each place says which one it is in.
pub fn hits(out: &mut dyn Write, answer: &Answer) -> io::Result<()> {
    for hit in &answer.results {
        if answer.index.namespaces.len() > 1 {
            write!(out, "{} ", label(&hit.namespace).cyan())?;
        }
        match state(hit) {
            Some(state) => issue(out, hit, state)?,
            None => passage(out, hit)?,
        }
        snippet(out, hit)?;
        writeln!(out)?;
    }
    Ok(())
}

/// Where a passage is and what.
fn passage(out: &mut dyn Write, hit: &Hit) -> io::Result<()> {
    write!(out, "{}:{}-{}", label(&hit.path).purple(), hit.start_line.green(), hit.end_line.green())?;
    if let Some(symbol) = &hit.symbol {
        write!(out, "  {}", label(symbol).bold())?;
    }
    write!(out, "  {}", origin(hit).dimmed())?;
    if let (None, Some(title)) = (&hit.symbol, &hit.title) {
        write!(out, "  {}", label(title).bold())?;
    }
    writeln!(out)
}

/// A passage of an issue as people know issues: by number, state and title, whichever lines of it answer.
fn issue(out: &mut dyn Write, hit: &Hit, state: &str) -> io::Result<()> {
    write!(out, "{}  ", label(&hit.path).purple())?;
    match state {
        "open" => write!(out, "{}", state.green())?,
        "merged" => write!(out, "{}", state.purple())?,
        state => write!(out, "{}", label(state).red())?,
    }
    if let Some(title) = &hit.title {
        write!(out, "  {}", label(title).bold())?;
    }
    writeln!(out, "  {}", origin(hit).dimmed())
}

/// The state that tells most of an issue or pull request; `None` of what is neither.
fn state(hit: &Hit) -> Option<&str> {
    let known = |name: &str| hit.attributes.get(name).map(Vec::as_slice).unwrap_or_default();
    known("type").first()?;
    let states = known("state");
    let merged = states.iter().find(|state| *state == "merged");
    let told = merged.or_else(|| states.iter().find(|state| ["open", "closed"].contains(&state.as_str())));
    told.or(states.first()).map(String::as_str)
}

/// What a passage is; by whom and of which day, where it is one person's or nothing else of its document is dated.
fn origin(hit: &Hit) -> String {
    let mut words = hit.kind.replace('_', " ");
    if let Some(author) = &hit.author {
        words.push_str(&format!(" by {}", label(author)));
    }
    // What code and files of a tree were last changed is told by their history.
    let told = hit.author.is_some() || !["code", "docs"].contains(&hit.collection.as_str());
    if let Some(day) = hit.dated_at.as_deref().filter(|_| told).and_then(|date| date.get(..10)) {
        words.push_str(&format!(", {day}"));
    }
    format!("({words})")
}

fn snippet(out: &mut dyn Write, hit: &Hit) -> io::Result<()> {
    let lines = hit.snippet.split_inclusive('\n');
    let width = (hit.snippet_line as usize + lines.clone().count()).to_string().len().max(4);
    let mut start = 0;
    for (number, line) in (hit.snippet_line..).zip(lines) {
        write!(out, "{} {} ", format_args!("{number:>width$}").green(), "│".dimmed())?;
        let end = start + line.trim_end_matches('\n').len();
        highlighted(out, &hit.snippet, start..end, &hit.highlights)?;
        writeln!(out)?;
        start += line.len();
    }
    Ok(())
}

/// One line of a snippet, the query's terms in it highlighted.
fn highlighted(out: &mut dyn Write, snippet: &str, line: Range<usize>, highlights: &[Range<usize>]) -> io::Result<()> {
    let longest = snippet[line.clone()].char_indices().nth(LONGEST_LINE).map(|(at, _)| line.start + at);
    let end = longest.unwrap_or(line.end);
    let mut at = line.start;
    for highlight in highlights {
        let (from, to) = (highlight.start.max(at), highlight.end.min(end));
        // A highlight comes from elsewhere; one that is not between characters is left plain.
        let (Some(before), Some(term)) = (snippet.get(at..from), snippet.get(from..to)) else { continue };
        if term.is_empty() {
            continue;
        }
        write!(out, "{}{}", visible(before), visible(term).red().bold())?;
        at = to;
    }
    write!(out, "{}", visible(&snippet[at..end]))?;
    if longest.is_some() {
        write!(out, "{}", "…".dimmed())?;
    }
    Ok(())
}

/// How many of how many are relevant, why, and the identifier to judge the answer by.
pub fn summary(answer: &Answer) -> String {
    if answer.index.passages == 0 {
        return "Nothing found: no indexed passage passes the filters.".into();
    }
    match &answer.query_id {
        Some(id) => format!("{} [query {id}]", reasoned(answer)),
        None => reasoned(answer),
    }
}

fn reasoned(answer: &Answer) -> String {
    let cut = &answer.cut;
    let reason = visible(cut.reason.trim_end_matches('.'));
    let candidates = count(cut.candidates as u64);
    match cut.keep {
        0 if cut.diagnostics.contains_key("best_tokens") => {
            format!("Nothing fits into the budget among {candidates} candidates ({}): {reason}.", cut.method)
        }
        0 => format!("Nothing relevant among {candidates} candidates ({}): {reason}.", cut.method),
        keep => {
            let verb = if keep == 1 { "is" } else { "are" };
            let shown = match answer.results.len() {
                shown if shown < keep => format!(", the first {shown} shown"),
                _ => String::new(),
            };
            format!("{keep} of {candidates} candidates {verb} relevant{shown} ({}): {reason}.", cut.method)
        }
    }
}

/// The path of each result once, best first.
pub fn files(out: &mut dyn Write, results: &[Hit], limit: usize) -> io::Result<()> {
    let mut seen = HashSet::new();
    for hit in results.iter().filter(|hit| seen.insert(&hit.path)).take(limit) {
        writeln!(out, "{}", label(&hit.path))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::plain;
    use super::*;
    use crate::print::samples::{answer, hit};

    #[test]
    fn a_result_shows_place_symbol_kind_and_numbered_lines() {
        let mut first = hit("src/lock.rs", 8, 12);
        first.symbol = Some("Lock::take".into());
        first.snippet = "/// Takes the lock.\nfn take() {}".into();
        first.snippet_line = 9;
        let mut second = hit("guide.md", 1, 3);
        second.kind = "front_matter".into();
        second.title = Some("Guide > Install".into());
        second.snippet = "Copy it.".into();
        second.snippet_line = 1;
        let found = Answer { results: vec![first, second], ..answer() };
        insta::assert_snapshot!(plain(|out| hits(out, &found)), @r"
        src/lock.rs:8-12  Lock::take  (function)
           9 │ /// Takes the lock.
          10 │ fn take() {}

        guide.md:1-3  (front matter)  Guide > Install
           1 │ Copy it.
        ");
    }

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

    fn line(snippet: &str, highlights: &[Range<usize>]) -> String {
        let mut written = Vec::new();
        highlighted(&mut written, snippet, 0..snippet.len(), highlights).expect("a vector takes everything");
        String::from_utf8(written).expect("text")
    }

    #[test]
    fn terms_are_highlighted_and_bad_ranges_do_no_harm() {
        assert_eq!(line("take the lock", &[0..4, 9..13]).matches("\u{1b}[1m").count(), 2);
        let odd = line("süß", &[2..3, 9..20, 1..1]);
        assert_eq!(odd, "süß");
    }

    #[test]
    fn long_lines_are_shortened() {
        let long = "ä".repeat(500);
        let shown = anstream::adapter::strip_str(&line(&long, &[0..10, 500..900])).to_string();
        assert_eq!(shown, format!("{}…", "ä".repeat(LONGEST_LINE)));
    }

    #[test]
    fn the_summary_says_how_many_and_why() {
        let mut answer = answer();
        answer.cut.reason = "0.41 is far below".into();
        answer.cut.method = "background".into();
        (answer.cut.candidates, answer.cut.keep) = (1200, 0);
        answer.index.passages = 5000;
        assert_eq!(summary(&answer), "Nothing relevant among 1,200 candidates (background): 0.41 is far below.");
        answer.cut.keep = 1;
        answer.results = vec![hit("a", 1, 2)];
        assert_eq!(summary(&answer), "1 of 1,200 candidates is relevant (background): 0.41 is far below.");
        answer.cut.keep = 7;
        assert_eq!(
            summary(&answer),
            "7 of 1,200 candidates are relevant, the first 1 shown (background): 0.41 is far below."
        );
        answer.query_id = Some("7k2m9qrt".into());
        assert!(summary(&answer).ends_with("0.41 is far below. [query 7k2m9qrt]"), "{}", summary(&answer));
        answer.index.passages = 0;
        assert!(summary(&answer).contains("filters"));
    }

    #[test]
    fn each_path_is_printed_once_in_order() {
        let results = [hit("b.rs", 1, 2), hit("a.rs", 1, 2), hit("b.rs", 9, 12)];
        assert_eq!(plain(|out| files(out, &results, 10)), "b.rs\na.rs\n");
    }
}
