//! `tamis import github`: imports a repository's issues, live.

use super::super::refresh;
use crate::args::{Global, ImportGithubArguments, local_zone};
use crate::background;
use crate::exit::Exit;
use crate::interrupt;
use crate::output::Output;
use crate::print::import_github as print;
use crate::progress::Progress;
use crate::session::Session;
use anyhow::{Result, anyhow};
use std::time::Duration;
use tamis::import::{GithubAccess, GithubImport, Stopped, Token};

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
        print::report(out, &report, index.own_namespace(), output.verbose())
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
            output.warn(&print::limited(until, &tamis::dates::now().with_time_zone(local_zone()), has_token));
            Exit::Nothing
        }
    })
}
