//! `tamis jobs`: shares the indexing of many trees among workers.

use crate::command_line::Global;
use crate::exit::{Exit, described};
use crate::interrupt::{self, Polled};
use crate::output::Output;
use crate::print::report;
use crate::print::text::{ago, counted, label};
use crate::progress::Progress;
use crate::session::{Session, setting};
use anyhow::{Context, Result, bail, ensure};
use clap::{Args, Subcommand};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tamis::config::Config;
use tamis::{Index, Location, RunOptions, RunReport};
use tamis_store::{Job, JobEnd, JobState, NextJob, PostgresStore, TakenJob};

/// Flags of `tamis jobs`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis jobs add /srv/trees/api /srv/trees/web       queue two trees, each under the name of its directory
  tamis jobs add /srv/trees/old --namespace archive  queue a tree under another name
  tamis jobs run --root /srv/trees                   index what is queued, and wait for more
  tamis jobs run --root /srv/trees --until-empty     the same, and end when nothing is left
  tamis jobs list

The database is the one of --store, of TAMIS_STORE_URL, or of store.url in your own configuration. Start as many workers as you \
like: each takes the oldest job that is free. The job of a worker that was killed is free at once.")]
pub struct JobsArguments {
    /// The action
    #[command(subcommand)]
    pub action: JobsAction,
}

/// Actions of `tamis jobs`.
#[derive(Debug, Subcommand)]
pub enum JobsAction {
    /// Queue trees to be indexed
    Add(JobsAddArguments),
    /// Show what waits, what runs, and how the last job of each namespace ended
    List(JobsListArguments),
    /// Index queued trees until Ctrl-C
    Run(JobsRunArguments),
}

/// Flags of `tamis jobs add`.
#[derive(Debug, Args)]
pub struct JobsAddArguments {
    /// The trees, as the workers' machines name them; a relative path must exist here
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// Index the tree under this name instead of the name of its directory
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Say that the trees are those of their namespaces, at a new place
    #[arg(long)]
    pub moved: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `tamis jobs list`.
#[derive(Debug, Args)]
pub struct JobsListArguments {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `tamis jobs run`.
#[derive(Debug, Args)]
pub struct JobsRunArguments {
    /// Index trees in DIR only (repeatable): whoever can write to the database cannot have other directories read
    #[arg(long = "root", value_name = "DIR", required = true)]
    pub roots: Vec<PathBuf>,
    /// End when no job waits or runs
    #[arg(long)]
    pub until_empty: bool,
    /// Print a line of JSON for each job
    #[arg(long)]
    pub json: bool,
}

/// Queues trees, shows the queue, or works on it.
///
/// # Errors
/// No database is named, it cannot be reached, or it refuses.
pub fn run(arguments: &JobsArguments, global: &Global, output: &Output) -> Result<Exit> {
    match &arguments.action {
        JobsAction::Add(add) => self::add(add, global, output),
        JobsAction::List(list) => self::list(list, global, output),
        JobsAction::Run(run) => run_worker(run, global, output),
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
        .map(|path| Ok((job_name(path, arguments.namespace.as_deref())?, absolute(path)?)))
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
fn job_name(path: &Path, given: Option<&str>) -> Result<String> {
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
        writeln!(out, "{:<8} {}  {}  {}", job.state.as_str(), label(&job.namespace), label(&job.path), remark(job))?;
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

/// Pause while no job is free, and before a database that does not answer is asked again.
const PAUSE: Duration = Duration::from_millis(500);

/// Poll interval for Ctrl-C.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How long a database that does not answer is asked to note the end of a job. After that, the next worker does the job again,
/// and finds little to do.
const END_PATIENCE: Duration = Duration::from_secs(60);

/// Works until Ctrl-C, or until no job is left if the user wants that.
///
/// # Errors
/// No database is named, it cannot be reached at the start, or a root is missing.
fn run_worker(arguments: &JobsRunArguments, global: &Global, output: &Output) -> Result<Exit> {
    let roots = Roots::new(&arguments.roots)?;
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    let Some(url) = &config.store.url else {
        bail!("no database is named; give --store postgres://USER@HOST/DATABASE, or set store.url");
    };
    let store = PostgresStore::open(url, &session.location.namespace)?;
    interrupt::install()?;
    interrupt::be_patient();
    let _polled = Polled::new();
    let worker = Worker { arguments, global, output, roots, url, store, name: worker_name() };
    worker.work()
}

struct Worker<'a> {
    arguments: &'a JobsRunArguments,
    global: &'a Global,
    output: &'a Output,
    roots: Roots,
    url: &'a str,
    store: PostgresStore,
    /// Tells this process from others.
    name: String,
}

impl Worker<'_> {
    fn work(&self) -> Result<Exit> {
        let (mut failed, mut unreachable) = (false, false);
        while !interrupt::pressed() {
            match self.store.take_job(&self.name) {
                Ok(NextJob::Taken(job)) => {
                    unreachable = false;
                    failed |= !self.one(&job)?;
                }
                Ok(NextJob::Empty) if self.arguments.until_empty => return Ok(Exit::found(!failed)),
                Ok(NextJob::Empty | NextJob::Wait) => {
                    unreachable = false;
                    pause();
                }
                Err(error) => {
                    if !unreachable {
                        self.output.warn(&format!("{error}; trying again until it answers"));
                    }
                    unreachable = true;
                    pause();
                }
            }
        }
        // Ctrl-C is how a worker ends, unless there was an end to wait for.
        Ok(if self.arguments.until_empty { Exit::Interrupted } else { Exit::Found })
    }

    /// Does a job. Returns `false` if it was given up.
    fn one(&self, job: &TakenJob) -> Result<bool> {
        let done = self.index(job);
        let reason = match &done {
            Ok(report) if report.interrupted => None,
            Ok(report) => {
                let models: Vec<String> = report.unusable_models().collect();
                (!models.is_empty()).then(|| models.join("; "))
            }
            Err(error) => Some(described(error)),
        };
        let interrupted = done.as_ref().is_ok_and(|report| report.interrupted);
        let end = match &reason {
            _ if interrupted => JobEnd::Stopped,
            Some(reason) => JobEnd::Failed(reason),
            None => JobEnd::Done,
        };
        let state = self.end(job, end);
        self.tell(job, done.ok().as_ref(), reason.as_deref(), interrupted, state)?;
        Ok(state != Some(JobState::Failed))
    }

    /// The ordinary run, with every model: nobody else embeds for the servers.
    fn index(&self, job: &TakenJob) -> Result<RunReport> {
        let index = self.roots.open(&job.job, self.url, self.global)?;
        let progress = Progress::at_once(self.output);
        Ok(index.refresh_with(RunOptions::WHOLE, &progress)?)
    }

    /// Notes the end, and returns what the job does now; `None` if it is another worker's by then.
    fn end(&self, job: &TakenJob, end: JobEnd<'_>) -> Option<JobState> {
        let started = Instant::now();
        loop {
            match self.store.end_job(job, end) {
                Ok(state) => return state,
                Err(error) if started.elapsed() >= END_PATIENCE || interrupt::pressed() => {
                    self.output.warn(&format!("{error}; the job will be done again"));
                    return None;
                }
                Err(_) => pause(),
            }
        }
    }

    fn tell(
        &self,
        job: &TakenJob,
        report: Option<&RunReport>,
        reason: Option<&str>,
        interrupted: bool,
        state: Option<JobState>,
    ) -> Result<()> {
        let job = &job.job;
        let mut out = self.output.plain();
        if self.arguments.json {
            let line = serde_json::json!({
                "job": job.job, "namespace": job.namespace, "path": job.path, "report": report, "reason": reason,
                "interrupted": interrupted, "state": state,
            });
            writeln!(out, "{line}")?;
        } else if let Some(reason) = reason {
            let next = match state {
                Some(JobState::Failed) => "given up",
                Some(_) => "it will be tried again",
                None => "another worker has it",
            };
            self.output.warn(&format!("{}: {reason}; {next}", label(&job.namespace)));
        } else if interrupted {
            self.output.note(&format!(
                "{}: stopped; the finished part is kept, and the next worker continues",
                label(&job.namespace)
            ));
        } else if let Some(report) = report {
            writeln!(out, "{}: {}", label(&job.namespace), report::line(report))?;
        }
        out.flush()?;
        Ok(())
    }
}

/// Sleeps a while, or until Ctrl-C.
fn pause() {
    let started = Instant::now();
    while started.elapsed() < PAUSE && !interrupt::pressed() {
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// The name of this process for people: its machine and its number.
fn worker_name() -> String {
    format!("{}:{}", tamis::machine_name(), std::process::id())
}

/// The directories that a worker may read, without links.
#[derive(Debug)]
pub struct Roots(Vec<PathBuf>);

impl Roots {
    /// Finds the directories.
    ///
    /// # Errors
    /// One is missing or no directory.
    pub fn new(roots: &[PathBuf]) -> Result<Roots> {
        let root = |root: &PathBuf| {
            let found = dunce::canonicalize(root).with_context(|| format!("--root {}", root.display()))?;
            if !found.is_dir() {
                bail!("--root {}: not a directory; name the directory that holds the trees", root.display());
            }
            Ok(found)
        };
        Ok(Roots(roots.iter().map(root).collect::<Result<_>>()?))
    }

    /// Finds a directory in the roots by its path, without links.
    ///
    /// # Errors
    /// It is missing, no directory, or elsewhere.
    pub fn find(&self, path: &Path) -> Result<PathBuf> {
        let elsewhere = || {
            let roots: Vec<String> = self.0.iter().map(|root| root.display().to_string()).collect();
            format!("{}: outside of {}, where this worker may read", path.display(), roots.join(" and "))
        };
        // A path elsewhere is not even looked at.
        if !path.is_absolute() || path.components().any(|part| part == std::path::Component::ParentDir) {
            bail!(elsewhere());
        }
        let found = match dunce::canonicalize(path) {
            Ok(found) => found,
            Err(_) if !self.0.iter().any(|root| path.starts_with(root)) => bail!(elsewhere()),
            Err(error) => bail!("{}: {error}", path.display()),
        };
        if !self.0.iter().any(|root| found.starts_with(root)) {
            bail!(elsewhere());
        }
        if !found.is_dir() {
            bail!("{}: not a directory", path.display());
        }
        Ok(found)
    }

    /// Opens the index of a job's tree as `tamis index` would there, in the database at `url`.
    ///
    /// # Errors
    /// The tree or one that belongs to it lies elsewhere, its configuration is invalid, or the database cannot be reached.
    pub fn open(&self, job: &Job, url: &str, global: &Global) -> Result<Index> {
        let root = self.find(Path::new(&job.path))?;
        // Exactly this tree: no ancestor with a mark, which could lie outside.
        let name = setting("store.namespace", "jobs add --namespace", Some(&job.namespace));
        let session = Session::at(Location::at(&root, None), global, name.into_iter().collect());
        let mut config = session.config()?;
        config.store.url = Some(url.to_owned());
        let index = session.open(config)?;
        // The database and the configuration of the tree can name further directories.
        for source in index.sources() {
            if source.root.exists() {
                self.find(&source.root)?;
            }
        }
        Ok(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_directories_in_the_roots_are_found() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let base = dunce::canonicalize(directory.path()).expect("a path");
        for made in ["trees/api/src", "trees-of-others/api", "secret"] {
            fs::create_dir_all(base.join(made)).expect("made");
        }
        fs::write(base.join("trees/file"), "").expect("written");
        let roots = Roots::new(&[base.join("trees")]).expect("a root");
        assert_eq!(roots.find(&base.join("trees/api")).expect("inside"), base.join("trees/api"));
        assert_eq!(roots.find(&base.join("trees")).expect("the root itself"), base.join("trees"));
        for elsewhere in ["trees-of-others/api", "secret", "", "trees/api/../../secret", "missing"] {
            let refused = roots.find(&base.join(elsewhere)).expect_err(elsewhere).to_string();
            assert!(refused.contains("may read"), "{refused}");
        }
        assert!(roots.find(Path::new("trees/api")).is_err(), "relative to a directory that nobody knows");
        assert!(roots.find(&base.join("trees/file")).expect_err("a file").to_string().contains("not a directory"));
        assert!(!roots.find(&base.join("trees/gone")).expect_err("missing").to_string().contains("may read"));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(base.join("secret"), base.join("trees/link")).expect("linked");
            assert!(roots.find(&base.join("trees/link")).expect_err("a link").to_string().contains("may read"));
        }
        assert!(Roots::new(&[base.join("trees/file")]).is_err() && Roots::new(&[base.join("none")]).is_err());
    }
}
