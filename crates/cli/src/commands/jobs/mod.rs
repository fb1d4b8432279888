//! `tamis jobs`: shares the indexing of many trees among workers.

mod tree;
mod worker;

use crate::args::{Global, JobsAction, JobsAddArguments, JobsArguments, JobsListArguments};
use crate::exit::Exit;
use crate::output::Output;
use crate::print::text::{ago, counted, label};
use crate::session::{Session, setting};
use anyhow::{Context, Result, bail, ensure};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tamis::config::Config;
use tamis_store::{Job, JobState, PostgresStore};

/// Queues trees, shows the queue, or works on it.
///
/// # Errors
/// No database is named, it cannot be reached, or it refuses.
pub fn run(arguments: &JobsArguments, global: &Global, output: &Output) -> Result<Exit> {
    match &arguments.action {
        JobsAction::Add(add) => self::add(add, global, output),
        JobsAction::List(list) => self::list(list, global, output),
        JobsAction::Run(run) => worker::run(run, global, output),
    }
}

/// Opens the database that the configuration names.
fn open(global: &Global) -> Result<PostgresStore> {
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    let Some(url) = &config.store.url else {
        bail!("no database is named; give --store postgres://USER@HOST/DATABASE, or set store.url");
    };
    Ok(PostgresStore::open(url, &session.location.namespace)?)
}

fn add(arguments: &JobsAddArguments, global: &Global, output: &Output) -> Result<Exit> {
    ensure!(
        arguments.namespace.is_none() || arguments.paths.len() == 1,
        "--namespace names one tree; queue the {} trees one by one, or leave it out",
        arguments.paths.len()
    );
    let trees = arguments
        .paths
        .iter()
        .map(|path| Ok((named(path, arguments.namespace.as_deref())?, absolute(path)?)))
        .collect::<Result<Vec<(String, String)>>>()?;
    for (at, (namespace, path)) in trees.iter().enumerate() {
        let twin = trees[..at].iter().find(|(other, at)| other == namespace && at != path);
        if let Some((_, other)) = twin {
            bail!("{path} and {other} would both be {namespace}; queue one of them with --namespace NAME");
        }
    }
    let added = open(global)?
        .add_jobs(&trees, arguments.moved)
        .context("nothing was queued; --namespace NAME gives another name, --moved says that the tree has moved")?;
    let added: Vec<(String, String, bool)> =
        trees.into_iter().zip(added).map(|((namespace, path), is_new)| (namespace, path, is_new)).collect();
    if arguments.json {
        let job = |(namespace, path, is_new): &(String, String, bool)| serde_json::json!({ "namespace": namespace, "path": path, "added": is_new });
        output.json(&added.iter().map(job).collect::<Vec<_>>())?;
        return Ok(Exit::Found);
    }
    let mut out = output.plain();
    for (namespace, path, is_new) in &added {
        let what = if *is_new { "queued" } else { "waits already" };
        writeln!(out, "{what}: {} from {}", label(namespace), label(path))?;
    }
    out.flush()?;
    Ok(Exit::Found)
}

/// The namespace of a tree. It passes the checks of `store.namespace`.
fn named(path: &Path, given: Option<&str>) -> Result<String> {
    let name = match given {
        Some(name) => name.to_owned(),
        None => {
            let whole = std::path::absolute(path).with_context(|| path.display().to_string())?;
            let whole = dunce::canonicalize(&whole).unwrap_or(whole);
            let name = whole.file_name().and_then(|name| name.to_str()).map(str::to_owned);
            name.with_context(|| format!("{}: has no name of its own; give it one with --namespace", path.display()))?
        }
    };
    ensure!(!name.is_empty(), "--namespace: a name is needed");
    let flag = if given.is_some() { "--namespace" } else { "PATH" };
    let origins = tamis::config::Origins {
        flags: setting("store.namespace", flag, Some(&name)).into_iter().collect(),
        ..tamis::config::Origins::default()
    };
    Config::load(&origins, None)?;
    Ok(name)
}

/// The path for the workers. A path that does not exist here is theirs to check.
fn absolute(path: &Path) -> Result<String> {
    let found = match dunce::canonicalize(path) {
        Ok(found) => found,
        Err(_) if path.is_absolute() => path.to_owned(),
        Err(error) => bail!("{}: {error}; name a tree of another machine by its whole path", path.display()),
    };
    let text = found.to_str().map(str::to_owned);
    text.with_context(|| format!("{}: a path must be UTF-8", path.display()))
}

fn list(arguments: &JobsListArguments, global: &Global, output: &Output) -> Result<Exit> {
    let jobs = open(global)?.jobs()?;
    if arguments.json {
        output.json(&jobs)?;
        return Ok(Exit::found(!jobs.is_empty()));
    }
    let mut out = output.styled();
    for job in &jobs {
        writeln!(out, "{:<8} {}  {}  {}", job.state.name(), label(&job.namespace), label(&job.path), remark(job))?;
        if let Some(reason) = &job.reason {
            writeln!(out, "         {}", label(reason))?;
        }
    }
    out.flush()?;
    if jobs.is_empty() {
        output.note("no jobs; `tamis jobs add PATH` queues a tree");
    }
    Ok(Exit::found(!jobs.is_empty()))
}

/// Since when, and by whom.
fn remark(job: &Job) -> String {
    let since = |ms: Option<i64>| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        ago(now.saturating_sub(Duration::from_millis(ms.unwrap_or_default().max(0) as u64)))
    };
    let worker = job.worker.as_deref().map(label).unwrap_or_default();
    match job.state {
        JobState::Waiting if job.failures > 0 => format!("after {}", counted(job.failures.into(), "failure")),
        JobState::Waiting => format!("since {}", since(Some(job.added_ms))),
        JobState::Running => format!("by {worker} since {}", since(job.started_ms)),
        JobState::Done | JobState::Failed => format!("by {worker} {}", since(job.ended_ms)),
    }
}
