//! The index kept fresh by the server itself: brought up to date at the start and after each change of the tree, by words and
//! by the quick model first, then embedded with the better one.
//!
//! Both run on a thread each that gives way to others, and pause while calls are worked on. The
//! right to write is held for a commit only, so that other processes write in between.

use crate::current::Current;
use crate::load::Load;
use crate::priority::give_way;
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tamis::index::watch;
use tamis::store::StoreError;
use tamis::{Error, Observer, RunOptions, RunReport, Stage};

/// Nothing is embedded with the better models while the tree is read: that is the other thread's.
const QUICK: RunOptions = RunOptions { embed_at_most: 0, reread: false };

/// After another process was writing, it is tried again so much later.
const BUSY: Duration = Duration::from_secs(5);

/// After a failure, it is tried again so much later.
const FAILED: Duration = Duration::from_secs(60);

/// A pause ends so long after the last call: an agent that asks once often asks again.
const QUIET: Duration = Duration::from_millis(100);

/// Longest pause before a step, so that whoever asks all the time gets a fresh index all the same.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// How often it is looked whether a pause is over.
const LOOK: Duration = Duration::from_millis(5);

/// How long the end of the threads is waited for. What is committed is whole, so they need not be.
const PATIENCE: Duration = Duration::from_millis(400);

/// How far an index that is kept fresh is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// It is not kept fresh.
    #[default]
    Off,
    /// Files are being read and indexed.
    Indexing,
    /// All files can be found; the better models are still embedding.
    Embedding,
    /// It holds what the tree holds.
    Fresh,
    /// It could not be brought up to date; that is tried again.
    Failed,
}

/// How far an index that is kept fresh is, with numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BackgroundState {
    /// How far.
    pub phase: Phase,
    /// Steps of the phase that are done: files, passages.
    pub done: u64,
    /// Steps of the phase; 0: not known.
    pub total: u64,
    /// The model that is embedding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Why it failed, or why files are only looked at once a minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What one of the two threads is at.
#[derive(Debug, Default)]
struct Task {
    running: bool,
    model: Option<String>,
    done: u64,
    total: u64,
    failed: Option<String>,
}

#[derive(Debug, Default)]
struct Tasks {
    started: bool,
    reading: Task,
    embedding: Task,
    /// Something was read since the last embedding began.
    wanted: bool,
    unwatched: Option<String>,
}

/// Keeps an index fresh.
#[derive(Debug, Default)]
pub(crate) struct Background {
    tasks: Mutex<Tasks>,
    changed: Condvar,
    stopped: AtomicBool,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Background {
    /// Begins.
    pub fn start(self: &Arc<Self>, index: &Arc<Current>, load: &Arc<Load>) {
        self.tasks().started = true;
        self.tasks().reading.running = true;
        // The pool that searches use is made now, since threads inherit how they are run.
        rayon::current_num_threads();
        for (name, work) in [("tamis-refresh", read as fn(&Work)), ("tamis-embed", embed)] {
            let work_of = Work { background: self.clone(), index: index.clone(), load: load.clone() };
            let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
                give_way();
                // What is done in parallel elsewhere is done by this one thread here.
                match rayon::ThreadPoolBuilder::new().num_threads(1).start_handler(|_| give_way()).build() {
                    Ok(pool) => pool.install(|| work(&work_of)),
                    Err(error) => work_of.background.failed(&error.to_string()),
                }
            });
            match thread {
                Ok(thread) => self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread),
                Err(error) => self.failed(&error.to_string()),
            }
        }
    }

    /// Ends at the next whole step, which is waited for a little.
    pub fn stop(&self) {
        self.stopped.store(true, SeqCst);
        drop(self.tasks());
        self.changed.notify_all();
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        let started = Instant::now();
        for thread in threads {
            while !thread.is_finished() && started.elapsed() < PATIENCE {
                std::thread::sleep(LOOK);
            }
            if thread.is_finished() {
                // A panic was printed when it happened.
                let _ = thread.join();
            }
        }
    }

    /// How far it is.
    pub fn state(&self) -> BackgroundState {
        let tasks = self.tasks();
        let of = |phase, task: &Task| BackgroundState {
            phase,
            done: task.done,
            total: task.total,
            model: task.model.clone(),
            reason: task.failed.clone().or_else(|| tasks.unwatched.clone()),
        };
        let Tasks { reading, embedding, .. } = &*tasks;
        match (tasks.started, reading, embedding) {
            (false, ..) => BackgroundState::default(),
            (_, Task { failed: Some(_), .. }, _) => of(Phase::Failed, reading),
            (_, Task { running: true, .. }, _) => of(Phase::Indexing, reading),
            (_, _, Task { failed: Some(_), .. }) => of(Phase::Failed, embedding),
            (_, _, Task { running: true, .. }) => of(Phase::Embedding, embedding),
            _ => of(Phase::Fresh, &Task::default()),
        }
    }

    fn tasks(&self) -> MutexGuard<'_, Tasks> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stopped(&self) -> bool {
        self.stopped.load(SeqCst)
    }

    fn failed(&self, reason: &str) {
        tracing::warn!(target: "tamis::background", reason, "the index is not kept fresh");
        self.tasks().reading = Task { failed: Some(reason.to_owned()), ..Task::default() };
    }

    /// Waits, unless it is to end.
    fn wait(&self, time: Duration) {
        let (tasks, started) = (self.tasks(), Instant::now());
        let over = |_: &mut Tasks| !self.stopped() && started.elapsed() < time;
        drop(self.changed.wait_timeout_while(tasks, time, over));
    }

    /// Waits until there is something to embed; false: it is to end.
    fn wait_for_work(&self) -> bool {
        let waited = self.changed.wait_while(self.tasks(), |tasks| !tasks.wanted && !self.stopped());
        waited.unwrap_or_else(PoisonError::into_inner).wanted = false;
        !self.stopped()
    }
}

/// One thread's.
struct Work {
    background: Arc<Background>,
    index: Arc<Current>,
    load: Arc<Load>,
}

/// Sees the progress of one thread, and makes it wait and stop.
struct Pace<'a> {
    work: &'a Work,
    task: fn(&mut Tasks) -> &mut Task,
    /// A run failed, so that watching has to begin anew.
    again: &'a AtomicBool,
}

impl Observer for Pace<'_> {
    fn stage(&self, stage: Stage, total: u64) {
        let mut tasks = self.work.background.tasks();
        let task = (self.task)(&mut tasks);
        let model = if let Stage::Embed(model) = stage { Some(model) } else { None };
        *task = Task { running: true, model, total, ..Task::default() };
    }

    fn advance(&self, steps: u64) {
        (self.task)(&mut self.work.background.tasks()).done += steps;
        let started = Instant::now();
        while !self.work.load.is_quiet(QUIET) && started.elapsed() < LONGEST_PAUSE && !self.cancelled() {
            std::thread::sleep(LOOK);
        }
    }

    fn cancelled(&self) -> bool {
        self.work.background.stopped() || self.again.load(SeqCst)
    }
}

/// Reads the tree at the start and after each change.
fn read(work: &Work) {
    let Work { background, index, .. } = work;
    while !background.stopped() {
        let again = AtomicBool::new(false);
        let pace = Pace { work, task: |tasks| &mut tasks.reading, again: &again };
        let busy = AtomicBool::new(false);
        let served = index.get();
        let ran = |run: Result<RunReport, Error>| {
            if let Err(error) = &run {
                busy.store(is_busy(error), SeqCst);
                again.store(true, SeqCst);
            }
            has_read(background, run);
        };
        match watch(&served, QUICK, &pace, ran) {
            Ok(()) => {}
            Err(Error::Store(error @ StoreError::ReadOnly { .. })) => return background.failed(&error.to_string()),
            Err(error @ Error::Store(StoreError::Replaced { .. })) => has_read(background, Err(error)),
            Err(error) => {
                busy.store(is_busy(&error), SeqCst);
                // A tree that cannot be watched is looked at all the same.
                let run = served.refresh_with(QUICK, &pace);
                background.tasks().unwatched = Some(error.to_string());
                has_read(background, run);
            }
        }
        // What has taken the place of the index is read at once.
        if Arc::ptr_eq(&served, &index.get()) {
            background.wait(if busy.load(SeqCst) { BUSY } else { FAILED });
        }
    }
}

fn is_busy(error: &Error) -> bool {
    matches!(error, Error::Store(StoreError::Busy { .. }))
}

fn has_read(background: &Background, run: Result<RunReport, Error>) {
    let mut tasks = background.tasks();
    match run {
        Ok(report) => {
            tasks.reading = Task::default();
            if !report.interrupted {
                tracing::debug!(target: "tamis::background", added = report.added, changed = report.changed,
                    removed = report.removed, "the index is up to date");
                tasks.wanted = true;
                tasks.embedding.running |= report.pending.values().any(|&passages| passages > 0);
            }
        }
        // Another process does the same work, or one that comes first.
        Err(error) if is_busy(&error) => tasks.reading = Task::default(),
        Err(error) => {
            let reason = error.to_string();
            tracing::warn!(target: "tamis::background", reason, "the index could not be brought up to date");
            tasks.reading = Task { failed: Some(reason), ..Task::default() };
        }
    }
    drop(tasks);
    background.changed.notify_all();
}

/// Embeds what the better models lack, whenever something was read.
fn embed(work: &Work) {
    let Work { background, index, .. } = work;
    let again = AtomicBool::new(false);
    let pace = Pace { work, task: |tasks| &mut tasks.embedding, again: &again };
    while background.wait_for_work() {
        let (busy, reason) = match index.get().embed_missing(&pace) {
            Ok(report) if report.unusable.is_empty() => {
                background.tasks().embedding = Task::default();
                continue;
            }
            Ok(report) => (false, report.unusable_models().collect::<Vec<_>>().join("; ")),
            Err(error) => (is_busy(&error), error.to_string()),
        };
        let mut tasks = background.tasks();
        tasks.wanted = true;
        if !busy {
            tracing::warn!(target: "tamis::background", reason, "embedding failed");
            tasks.embedding = Task { failed: Some(reason), ..Task::default() };
        }
        drop(tasks);
        background.wait(if busy { BUSY } else { FAILED });
    }
}
