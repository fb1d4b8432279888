//! Long calls: the work runs on a thread of its own, while the caller's thread answers Ctrl-C and hands on the progress.

use crate::error;
use pyo3::exceptions::PyStopIteration;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tamis::index::RunReport;
use tamis::{Error, Observer, RunOptions, Stage};

/// How often Ctrl-C is looked for.
const SIGNALS_EVERY: Duration = Duration::from_millis(50);

/// The process that first shared work among threads; 0 before. A fork of it has none of these threads, and would wait for them for
/// ever.
static THREADS_OF: AtomicU32 = AtomicU32::new(0);

/// Refuses to share work among threads in a fork of the process that did so first. Nor may a fork use the files and connections of
/// an index that was opened before it, in the process `opened_in`.
pub fn refuse_fork(py: Python<'_>, opened_in: Option<u32>) -> PyResult<()> {
    let here = std::process::id();
    let first = THREADS_OF.compare_exchange(0, here, SeqCst, SeqCst).err().unwrap_or(here);
    match [opened_in.unwrap_or(here), first].into_iter().find(|&process| process != here) {
        None => Ok(()),
        Some(process) => {
            let message = format!(
                "tamis was in use in process {process} before this one was forked from it, and its threads did not come along; \
                 start processes with \"spawn\" or \"forkserver\", or use tamis only after the fork"
            );
            Err(error::exception(py, "TamisError", &message))
        }
    }
}

/// Follows a call for another thread, and stops it at its word.
#[derive(Default)]
struct Follower {
    cancelled: AtomicBool,
    done: AtomicU64,
    stage: Mutex<(String, Option<String>, u64)>,
}

impl Follower {
    fn now(&self) -> Step {
        let (stage, of, total) = self.stage.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Step { stage, of, done: self.done.load(SeqCst), total }
    }
}

impl Observer for Follower {
    fn stage(&self, stage: Stage, total: u64) {
        let (name, of) = stage_name(stage);
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = (name.to_owned(), of, total);
        self.done.store(0, SeqCst);
    }

    fn advance(&self, steps: u64) {
        self.done.fetch_add(steps, SeqCst);
    }

    fn cancelled(&self) -> bool {
        self.cancelled.load(SeqCst)
    }
}

/// The name of a stage, and what it is about.
fn stage_name(stage: Stage) -> (&'static str, Option<String>) {
    match stage {
        Stage::Walk => ("walk", None),
        Stage::Read => ("read", None),
        Stage::Publish => ("publish", None),
        Stage::Embed(model) => ("embed", Some(model)),
        Stage::Queue(holder) => ("queue", Some(holder)),
        Stage::Answer => ("answer", None),
        Stage::Search => ("search", None),
        Stage::Download(model) => ("download", Some(model)),
        Stage::Try(model) => ("try", Some(model)),
        other => ("other", Some(format!("{other:?}"))),
    }
}

/// The progress of a call: stage, what it is about, steps done, and their total or 0.
#[derive(PartialEq)]
struct Step {
    stage: String,
    of: Option<String>,
    done: u64,
    total: u64,
}

/// Runs work on a thread of its own. Ctrl-C stops the work at its next safe point and is raised then.
pub fn interruptible<T: Send>(py: Python<'_>, work: impl FnOnce(&dyn Observer) -> T + Send) -> PyResult<T> {
    let follower = Follower::default();
    std::thread::scope(|scope| {
        let (ended, end) = channel::<()>();
        let follower = &follower;
        let worker = scope.spawn(move || {
            // The channel closes when the work has ended, also by a panic.
            let _ended = ended;
            work(follower)
        });
        let end = Mutex::new(end);
        let interrupted = loop {
            let waited = py.detach(|| end.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(SIGNALS_EVERY));
            if waited != Err(RecvTimeoutError::Timeout) {
                break Ok(());
            }
            if let Err(signal) = py.check_signals() {
                follower.cancelled.store(true, SeqCst);
                break Err(signal);
            }
        };
        let done = py.detach(|| worker.join());
        interrupted?;
        done.map_err(|panic| panicked(py, &*panic))
    })
}

fn panicked(py: Python<'_>, panic: &(dyn std::any::Any + Send)) -> PyErr {
    let message = panic.downcast_ref::<String>().cloned();
    let message = message.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    error::exception(py, "TamisError", &format!("a fault in tamis: {}", message.unwrap_or_default()))
}

/// A run that brings an index up to date, as an iterator of its progress.
#[pyclass(frozen, module = "tamis")]
pub struct Refresh {
    follower: Arc<Follower>,
    work: Mutex<Work>,
}

struct Work {
    end: Receiver<()>,
    thread: Option<JoinHandle<Result<RunReport, Error>>>,
    last: Option<Step>,
    report: Option<String>,
}

impl Refresh {
    /// Starts the run.
    pub fn start(index: Arc<tamis::Index>, options: RunOptions) -> Refresh {
        let follower = Arc::new(Follower::default());
        let (ended, end): (Sender<()>, _) = channel();
        let observer = follower.clone();
        let thread = std::thread::spawn(move || {
            let _ended = ended;
            index.refresh_with(options, &*observer)
        });
        Refresh { follower, work: Mutex::new(Work { end, thread: Some(thread), last: None, report: None }) }
    }
}

impl Drop for Refresh {
    fn drop(&mut self) {
        // Nobody follows any more; the run stops at its next safe point by itself.
        self.follower.cancelled.store(true, SeqCst);
    }
}

#[pymethods]
impl Refresh {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    /// Waits for the next step: stage, what it is about, steps done and their total.
    fn __next__(&self, py: Python<'_>) -> PyResult<(String, Option<String>, u64, u64)> {
        loop {
            let waited = py.detach(|| {
                let work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
                match &work.thread {
                    Some(_) => work.end.recv_timeout(SIGNALS_EVERY),
                    None => Err(RecvTimeoutError::Disconnected),
                }
            });
            if waited != Err(RecvTimeoutError::Timeout) {
                self.finish(py)?;
                return Err(PyStopIteration::new_err(()));
            }
            if let Err(signal) = py.check_signals() {
                self.cancel();
                // The run must be over before the caller goes on, or it would still hold the index.
                let _ = self.finish(py);
                return Err(signal);
            }
            let step = self.follower.now();
            let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
            if !step.stage.is_empty() && work.last.as_ref() != Some(&step) {
                let said = (step.stage.clone(), step.of.clone(), step.done, step.total);
                work.last = Some(step);
                return Ok(said);
            }
        }
    }

    /// Stops the run at its next safe point; what is done stays.
    fn cancel(&self) {
        self.follower.cancelled.store(true, SeqCst);
    }

    /// Waits for the end and returns the report as JSON.
    fn finish(&self, py: Python<'_>) -> PyResult<String> {
        let thread = self.work.lock().unwrap_or_else(PoisonError::into_inner).thread.take();
        if let Some(thread) = thread {
            let done = py.detach(|| thread.join()).map_err(|panic| panicked(py, &*panic))?;
            let report = done.map_err(|error| error::of_index(py, &error))?;
            let text = serde_json::to_string(&report).unwrap_or_default();
            self.work.lock().unwrap_or_else(PoisonError::into_inner).report = Some(text);
        }
        let report = self.work.lock().unwrap_or_else(PoisonError::into_inner).report.clone();
        report.ok_or_else(|| error::exception(py, "TamisError", "the run failed, so it has no report"))
    }
}
