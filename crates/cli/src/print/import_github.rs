//! The report of an import from GitHub.

use super::report::embedded;
use super::text::{count, counted, label, milliseconds, visible};
use crate::page::Page;
use jiff::{Timestamp, Zoned};
use owo_colors::OwoColorize;
use std::io;
use tamis::import::GithubReport;

/// The most records that are named; the rest is counted.
const NAMED: usize = 20;

/// Writes the result of an import from GitHub. `own` is the namespace that searches read by default.
///
/// # Errors
/// `out` cannot be written.
pub fn report(out: &mut dyn Page, report: &GithubReport, own: Option<&str>, verbose: bool) -> io::Result<()> {
    writeln!(out, "{} in {}", changes(report).bold(), milliseconds(report.elapsed_ms))?;
    embedded(out, &report.run)?;
    let GithubReport { origin, namespace, repository, .. } = report;
    writeln!(out, "  from {}, namespace {}, collection issues", label(origin), label(namespace))?;
    if let Some(moved) = &report.moved_to {
        writeln!(out, "  {} is now called {}; its issues keep the old name", visible(repository), visible(moved))?;
    }
    if let Some(reason) = &report.anew {
        writeln!(out, "  everything was read again: {}", visible(reason))?;
    }
    if report.left_out > 0 && verbose {
        writeln!(out, "  {} left out by the flags", counted(report.left_out, "issue"))?;
    }
    if report.pending > 0 {
        let pending = format!("reviews or comments of {} are left", counted(report.pending, "issue"));
        writeln!(out, "  {} for the next import, since each costs one request", pending.yellow())?;
    }
    if report.gone > 0 {
        writeln!(out, "  {} deleted or moved away in the meantime", counted(report.gone, "issue"))?;
    }
    bad(out, report)?;
    if verbose {
        let same = match report.not_modified {
            0 => String::new(),
            same => format!(", {} answered by \"not changed\"", count(same)),
        };
        let left = report.remaining_requests.map(|left| format!("; {} left in this hour", count(left)));
        writeln!(out, "  {}{same}{}", counted(report.requests, "request"), left.unwrap_or_default())?;
    }
    if own.is_some_and(|own| own != namespace) {
        writeln!(out, "  search it with --namespace {}", label(namespace))?;
    }
    Ok(())
}

fn bad(out: &mut dyn Page, report: &GithubReport) -> io::Result<()> {
    if report.bad.is_empty() {
        return Ok(());
    }
    writeln!(out, "  {}:", format!("{} left out", counted(report.bad.len() as u64, "bad record")).yellow())?;
    for record in report.bad.iter().take(NAMED) {
        writeln!(out, "    {}", visible(&record.to_string()))?;
    }
    if report.bad.len() > NAMED {
        writeln!(out, "    and {} more", count((report.bad.len() - NAMED) as u64))?;
    }
    Ok(())
}

/// The number of issues and what became of them, in one line.
fn changes(report: &GithubReport) -> String {
    let GithubReport { added, updated, comments, passages, .. } = report;
    if !report.changed_anything() {
        return "nothing new".to_owned();
    }
    let parts = [(added, "added"), (updated, "updated")];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(issues, _)| **issues > 0)
        .map(|(issues, what)| format!("{} {what}", count(**issues)))
        .collect();
    let comments = match comments {
        0 => String::new(),
        comments => format!(", {}", counted(*comments, "new comment")),
    };
    format!("issues: {}{comments}; {} written", parts.join(", "), counted(*passages, "passage"))
}

/// The reason an import stopped at the request limit, and the time to continue.
pub fn limited(until: Timestamp, now: &Zoned, has_token: bool) -> String {
    let until = until.to_zoned(now.time_zone().clone());
    let form = if until.date() == now.date() { "%H:%M" } else { "%Y-%m-%d %H:%M" };
    let token = match has_token {
        true => "",
        false => "; with a token in GITHUB_TOKEN the limit is far higher",
    };
    format!(
        "GitHub's request limit was reached before the end; what was read is kept. Run the import again after {} to continue, \
         or let it wait with --max-wait MINUTES{token}",
        until.strftime(form)
    )
}

#[cfg(test)]
mod tests {
    use super::super::plain;
    use super::*;

    fn sample() -> GithubReport {
        GithubReport {
            repository: "ada/engine".into(),
            origin: "github:ada/engine".into(),
            namespace: "engine".into(),
            added: 1200,
            updated: 3,
            comments: 2500,
            passages: 9000,
            requests: 45,
            elapsed_ms: 4200.0,
            ..GithubReport::default()
        }
    }

    #[test]
    fn an_import_takes_a_few_lines() {
        insta::assert_snapshot!(plain(|out| report(out, &sample(), Some("engine"), false)), @r"
        issues: 1,200 added, 3 updated, 2,500 new comments; 9,000 passages written in 4.2 s
          from github:ada/engine, namespace engine, collection issues
        ");
    }

    #[test]
    fn what_is_left_and_what_went_otherwise_is_said() {
        let other = GithubReport {
            moved_to: Some("ada/motor".into()),
            anew: Some("the last import took others in".into()),
            left_out: 7,
            pending: 9500,
            gone: 1,
            not_modified: 3,
            remaining_requests: Some(4955),
            added: 0,
            updated: 0,
            ..sample()
        };
        insta::assert_snapshot!(plain(|out| report(out, &other, Some("here"), true)), @r#"
        nothing new in 4.2 s
          from github:ada/engine, namespace engine, collection issues
          ada/engine is now called ada/motor; its issues keep the old name
          everything was read again: the last import took others in
          7 issues left out by the flags
          reviews or comments of 9,500 issues are left for the next import, since each costs one request
          1 issue deleted or moved away in the meantime
          45 requests, 3 answered by "not changed"; 4,955 left in this hour
          search it with --namespace engine
        "#);
    }

    #[test]
    fn a_limit_says_when_to_go_on() {
        let now: Zoned = "2026-11-22T23:30:00+01:00[Europe/Berlin]".parse().expect("a time");
        let said = |until: &str, has_token| limited(until.parse().expect("a time"), &now, has_token);
        assert!(said("2026-11-22T22:50:00Z", true).contains("after 23:50 to continue"));
        let next_day = said("2026-11-22T23:10:00Z", false);
        assert!(next_day.contains("after 2026-11-23 00:10") && next_day.contains("GITHUB_TOKEN"), "{next_day}");
    }
}
