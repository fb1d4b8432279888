//! `tamis import github`: imports a repository's issues, live.

use crate::command_line::Global;
use crate::commands::refresh;
use crate::exit::Exit;
use crate::output::Output;
use crate::page::Page;
use crate::print::report::embedded;
use crate::print::text::{count, counted, label, milliseconds, visible};
use crate::progress::Progress;
use crate::session::Session;
use crate::{background, interrupt};
use anyhow::{Result, anyhow};
use clap::Args;
use clap::builder::PossibleValuesParser;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use owo_colors::OwoColorize;
use std::io;
use std::time::Duration;
use tamis::flags::moment;
use tamis::import::{GITHUB_API, GithubAccess, GithubImport, GithubReport, IssueStates, Stopped, Token};

/// Flags of `tamis import github`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis import github rust-lang/cargo                      everything; the next time only the changes
  GITHUB_TOKEN=$(gh auth token) tamis import github OWNER/REPO
  tamis import github OWNER/REPO --state closed --since 1y --no-pulls
  tamis import github OWNER/REPO --namespace repo-issues   apart from another repository's issues
  tamis import github OWNER/REPO --api-url https://git.example.org/api/v3

The token comes from GITHUB_TOKEN, else from GH_TOKEN. It needs only the right to read; nothing on GitHub is changed. \
GitHub allows 60 requests an hour without a token (public repositories only) and 5,000 with one.
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
    /// Wait at most this long at GitHub's request limit, then stop for the next import to continue
    #[arg(long, value_name = "MINUTES", default_value = "15", value_parser = minutes, allow_negative_numbers = true)]
    pub max_wait: f64,
    /// Use the API of your own GitHub server at this address; the token is sent there
    #[arg(long, value_name = "URL", default_value = GITHUB_API)]
    pub api_url: String,
    /// Embed with every model before ending, in place of the first one
    #[arg(long)]
    pub wait: bool,
    /// Print what was done as JSON
    #[arg(long)]
    pub json: bool,
}

/// A wait in minutes, up to a day.
fn minutes(text: &str) -> Result<f64, String> {
    let minutes = text.parse().ok().filter(|minutes| (0.0..=1440.0).contains(minutes));
    minutes.ok_or_else(|| "must be a number of minutes from 0 to 1440".into())
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
        max_wait: Duration::from_secs_f64(arguments.max_wait * 60.0),
        ..GithubImport::new(arguments.repository.parse()?)
    };
    let token = Token::from_environment(|name| std::env::var(name).ok())?;
    let has_token = token.is_some();
    let access = GithubAccess { api_url: arguments.api_url.clone(), ..GithubAccess::new(token) };
    let index = session.open(config)?;
    interrupt::install()?;
    let report = {
        let progress = Progress::at_once(output);
        index.imports().github(&request, &access, &progress)?
    };
    output.answer(arguments.json, &report, output.styled(), |out| {
        print_report(out, &report, index.own_namespace(), output.verbose())
    })?;
    refresh::warn_of_models(&report.run, output);
    background::start(&index, Some(&report.run), output);
    Ok(match report.stopped {
        None => Exit::Found,
        Some(Stopped::Interrupted) => {
            output.note("stopped; what was read is kept, and the next import continues there");
            Exit::Interrupted
        }
        Some(Stopped::RateLimit { until }) => {
            output.warn(&limited(until, &tamis::dates::now().with_time_zone(TimeZone::system()), has_token));
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
fn limited(until: Timestamp, now: &Zoned, has_token: bool) -> String {
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
    use super::*;
    use crate::print::plain;

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
        insta::assert_snapshot!(plain(|out| print_report(out, &sample(), Some("engine"), false)), @r"
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
        insta::assert_snapshot!(plain(|out| print_report(out, &other, Some("here"), true)), @r#"
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
