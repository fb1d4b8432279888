//! `tamis import github`: imports a repository's issues, live.

use crate::command_line::Global;
use crate::commands::refresh;
use crate::exit::Exit;
use crate::layout::Page;
use crate::output::Output;
use crate::print::report::embedded;
use crate::print::text::{count, counted, label, milliseconds, visible};
use crate::progress::Progress;
use crate::session::Session;
use crate::{background_embedding, interrupt};
use anyhow::{Result, anyhow};
use clap::Args;
use clap::builder::PossibleValuesParser;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use owo_colors::OwoColorize;
use std::io;
use tamis::flag_values::moment;
use tamis::import::{GITHUB_HOST, GithubCounts, GithubImport, GithubReport, IssueStates, Stopped};

/// Flags of `tamis import github`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis import github rust-lang/cargo                      everything; the next time only the changes
  tamis import github OWNER/REPO --state closed --since 1y --no-pulls
  tamis import github OWNER/REPO --namespace repo-issues   apart from another repository's issues
  tamis import github OWNER/REPO --hostname git.example.org

It runs `gh api`, of GitHub's own command line, which has to be installed and logged in (`gh auth login`). It only reads; \
nothing on GitHub is changed.
Ctrl-C stops at the next page; the next import continues there.
Exit status: 0 complete, 1 stopped at GitHub's limit, 2 an error, 130 stopped by Ctrl-C.")]
pub struct ImportGithubArguments {
    /// Repository, by its name or the address of its page
    #[arg(value_name = "OWNER/REPO")]
    pub repository: String,
    /// Import only what was updated since: how long ago (90d, 1y), a date, a date and time, or words (last month)
    #[arg(long, value_name = "DATE", value_parser = moment, allow_hyphen_values = true)]
    pub since: Option<Timestamp>,
    /// Import only issues and pull requests in this state; those in the index are updated in any state
    #[arg(long, value_name = "STATE", default_value = "all", value_parser = PossibleValuesParser::new(IssueStates::NAMES))]
    pub state: String,
    /// Leave out pull requests
    #[arg(long)]
    pub no_pulls: bool,
    /// Leave out reviews, which cost one request for each changed pull request
    #[arg(long)]
    pub no_reviews: bool,
    /// Import into this namespace in place of the current one; a new one is made
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Read everything again, changed or not
    #[arg(long)]
    pub full: bool,
    /// Read from your own GitHub server, in place of GH_HOST or github.com
    #[arg(long, value_name = "HOST")]
    pub hostname: Option<String>,
    /// Embed with every model before exiting, not only the first
    #[arg(long)]
    pub wait: bool,
    /// Print what was done as JSON
    #[arg(long)]
    pub json: bool,
}

/// Returns the host that a flag names, or else the variable with which people name it to `gh`.
fn host(flag: Option<&String>) -> String {
    let variable = || std::env::var("GH_HOST").ok().filter(|host| !host.is_empty());
    flag.cloned().or_else(variable).unwrap_or_else(|| GITHUB_HOST.to_owned()).to_ascii_lowercase()
}

/// Imports the issues of a repository on GitHub.
///
/// # Errors
/// The repository cannot be read, the index cannot be written, or a model fails.
pub fn run(arguments: &ImportGithubArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    let request = GithubImport {
        namespace: arguments.namespace.clone(),
        since: arguments.since,
        states: arguments.state.parse().map_err(|error| anyhow!("--state: {error}"))?,
        pulls: !arguments.no_pulls,
        reviews: !arguments.no_reviews,
        full: arguments.full,
        wait: arguments.wait,
        host: host(arguments.hostname.as_ref()),
        ..GithubImport::new(arguments.repository.parse()?)
    };
    let index = session.open(config)?;
    interrupt::install()?;
    let report = {
        let progress = Progress::at_once(output);
        index.imports().github(&request, &progress)?
    };
    output.answer(arguments.json, &report, output.styled(), |out| {
        print_report(out, &report, index.own_namespace(), output.verbose())
    })?;
    refresh::warn_of_models(&report.run, output);
    background_embedding::start(&index, Some(&report.run), output);
    Ok(match report.stopped {
        None => Exit::Found,
        Some(Stopped::Interrupted) => {
            output.note("stopped; what was read is kept, and the next import continues there");
            Exit::Interrupted
        }
        Some(Stopped::RateLimit { until }) => {
            output.warn(&limited(until, &tamis::dates::now().with_time_zone(TimeZone::system())));
            Exit::Nothing
        }
    })
}

/// The most records that are named; the rest is counted.
const NAMED: usize = 20;

/// Writes the result of an import from GitHub. `own` is the namespace that searches read by default.
fn print_report(out: &mut dyn Page, report: &GithubReport, own: Option<&str>, verbose: bool) -> io::Result<()> {
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
    if report.counts.left_out > 0 && verbose {
        writeln!(out, "  {} left out by the flags", counted(report.counts.left_out, "issue"))?;
    }
    if report.counts.pending > 0 {
        let pending = format!("reviews or comments of {} are left", counted(report.counts.pending, "issue"));
        writeln!(out, "  {} for the next import, since each costs one request", pending.yellow())?;
    }
    if report.counts.gone > 0 {
        writeln!(out, "  {} deleted or moved away in the meantime", counted(report.counts.gone, "issue"))?;
    }
    bad(out, report)?;
    if verbose {
        writeln!(out, "  {}", counted(report.requests, "request"))?;
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
    let GithubReport { counts: GithubCounts { added, updated, comments, passages, .. }, .. } = report;
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
fn limited(until: Timestamp, now: &Zoned) -> String {
    let until = until.to_zoned(now.time_zone().clone());
    let form = if until.date() == now.date() { "%H:%M" } else { "%Y-%m-%d %H:%M" };
    format!(
        "GitHub's request limit was reached before the end; what was read is kept. Run the import again after {} to continue",
        until.strftime(form)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::plain;

    fn sample() -> GithubReport {
        GithubReport {
            repository: "ada/engine".into(),
            origin: "github:ada/engine".into(),
            namespace: "engine".into(),
            counts: GithubCounts { added: 1200, updated: 3, comments: 2500, passages: 9000, ..GithubCounts::default() },
            requests: 45,
            elapsed_ms: 4200.0,
            ..GithubReport::default()
        }
    }

    #[test]
    fn an_import_takes_a_few_lines() {
        insta::assert_snapshot!(plain(|out| print_report(out, &sample(), Some("engine"), false)), @r"
        issues: 1,200 added, 3 updated, 2,500 new comments; 9,000 passages written in 4.2 s
          from github:ada/engine, namespace engine, collection issues
        ");
    }

    #[test]
    fn what_is_left_and_what_went_otherwise_is_said() {
        let other = GithubReport {
            moved_to: Some("ada/motor".into()),
            anew: Some("the last import used other filters".into()),
            counts: GithubCounts { left_out: 7, pending: 9500, gone: 1, added: 0, updated: 0, ..sample().counts },
            ..sample()
        };
        insta::assert_snapshot!(plain(|out| print_report(out, &other, Some("here"), true)), @"
        nothing new in 4.2 s
          from github:ada/engine, namespace engine, collection issues
          ada/engine is now called ada/motor; its issues keep the old name
          everything was read again: the last import used other filters
          7 issues left out by the flags
          reviews or comments of 9,500 issues are left for the next import, since each costs one request
          1 issue deleted or moved away in the meantime
          45 requests
          search it with --namespace engine
        ");
    }

    #[test]
    fn a_limit_says_when_to_go_on() {
        let now: Zoned = "2026-11-22T23:30:00+01:00[Europe/Berlin]".parse().expect("a time");
        let said = |until: &str| limited(until.parse().expect("a time"), &now);
        assert!(said("2026-11-22T22:50:00Z").contains("after 23:50 to continue"));
        assert!(said("2026-11-22T23:10:00Z").contains("after 2026-11-23 00:10"));
    }
}
