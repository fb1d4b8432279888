//! `tamis jobs run`: a worker, which takes one job after the other.

use super::tree::Roots;
use crate::args::{Global, JobsRunArguments};
use crate::exit::{Exit, described};
use crate::interrupt::{self, Polled};
use crate::output::Output;
use crate::print::report;
use crate::print::text::label;
use crate::progress::Progress;
use crate::session::Session;
use anyhow::{Result, bail};
use std::io::Write;
use std::time::{Duration, Instant};
use tamis::{RunOptions, RunReport};
use tamis_store::{JobEnd, JobState, NextJob, PostgresStore, TakenJob};

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
pub fn run(arguments: &JobsRunArguments, global: &Global, output: &Output) -> Result<Exit> {
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
