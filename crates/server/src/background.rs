//! Keeps the index fresh: one thread reads the tree at the start and after each change and embeds with the quick model, and a
//! second thread embeds with the better models.
//!
//! Embedding has low priority; answers are stale until a read ends. Both pause while calls are in progress, except for the first read of
//! the tree, which calls wait for, and hold the write lock only for a commit, so that other processes can write in between.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use tamis::index::watch;
use tamis::{Error, Index, Observer, RunOptions, RunReport, Stage};
use tamis_store::StoreError;
use tokio::sync::watch;

use crate::call_queue::{ActiveCalls, lower_thread_priority};
use crate::caller::Caller;

/// Reading embeds with the quick model only; the better models belong to the other thread.
const QUICK_MODEL_ONLY: RunOptions = RunOptions { embed_at_most: 0, hurried: true, ..RunOptions::WHOLE };

/// Wait before the next attempt after another process was writing.
const RETRY_WHEN_BUSY: Duration = Duration::from_secs(5);

/// Wait before the next attempt after a failure.
const RETRY_AFTER_FAILURE: Duration = Duration::from_secs(60);

/// Quiet time after the last call before work continues: an agent that has asked once often asks again.
const QUIET_AFTER_CALL: Duration = Duration::from_millis(100);

/// Longest pause before a step, so that the index becomes fresh even under constant calls.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Poll interval during a pause.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Longest wait for the threads to end. Commits are atomic, so the process may end before them.
const JOIN_TIMEOUT: Duration = Duration::from_millis(400);

/// Phase of the background work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The index is not kept fresh.
    #[default]
    Off,
    /// Files are being read and indexed.
    Indexing,
    /// All files can be found, and the better models are still embedding.
    Embedding,
    /// The index matches the tree.
    Fresh,
    /// The last attempt failed; another one follows.
    Failed,
}

/// State of the background work.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BackgroundState {
    /// The phase.
    pub phase: Phase,
    /// Finished steps of the phase: files or passages.
    pub done: u64,
    /// All steps of the phase; 0 when unknown.
    pub total: u64,
    /// The model in use while embedding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Reason of a failure, or of checking files only once a minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl BackgroundState {
    /// The part that a caller may read. Counts and reasons could reveal other namespaces, so only callers who may read all of them
    /// get these.
    pub(crate) fn seen_by(self, caller: &Caller) -> BackgroundState {
        match caller.namespaces {
            None => self,
            Some(_) => BackgroundState { phase: self.phase, ..BackgroundState::default() },
        }
    }
}

/// Progress of one of the two threads.
#[derive(Debug, Default)]
struct Task {
    running: bool,
    /// True while it waits for another process that writes an index with content.
    queued: bool,
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
    /// Set when a read has ended since the last embedding began.
    wanted: bool,
    unwatched: Option<String>,
    /// Number of finished reads, so that one too short to be seen is noticed.
    reads: u64,
}

/// Keeps an index fresh in two threads.
#[derive(Debug, Default)]
pub(crate) struct Background {
    tasks: Mutex<Tasks>,
    changed: Condvar,
    stopped: AtomicBool,
    /// Set when somebody asked for a read, until it begins.
    requested: AtomicBool,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Background {
    /// Starts both threads.
    pub fn start(self: &Arc<Self>, index: &Arc<CurrentIndex>, active_calls: &Arc<ActiveCalls>) {
        self.tasks().started = true;
        self.tasks().reading.running = true;
        // Searches use the global pool. Its threads inherit the priority of the thread that starts it, so it starts here.
        rayon::current_num_threads();
        for (name, work) in [("tamis-refresh", read as fn(&Worker)), ("tamis-embed", embed)] {
            let worker = Worker { background: self.clone(), index: index.clone(), active_calls: active_calls.clone() };
            let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
                // The work and parallel code below it use this pool of one thread.
                match rayon::ThreadPoolBuilder::new().num_threads(1).build() {
                    Ok(pool) => pool.install(|| work(&worker)),
                    Err(error) => worker.background.failed(&error.to_string()),
                }
            });
            match thread {
                Ok(thread) => self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread),
                Err(error) => self.failed(&error.to_string()),
            }
        }
    }

    /// Stops both threads after their current step, and waits briefly for them.
    pub fn stop(&self) {
        self.stopped.store(true, SeqCst);
        drop(self.tasks());
        self.changed.notify_all();
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        let started = Instant::now();
        for thread in threads {
            while !thread.is_finished() && started.elapsed() < JOIN_TIMEOUT {
                std::thread::sleep(POLL_INTERVAL);
            }
            if thread.is_finished() {
                // A panic has already been printed.
                let _ = thread.join();
            }
        }
    }

    /// Asks for a read of the tree without waiting for a change. Returns false if nothing keeps the index fresh.
    pub fn request(&self) -> bool {
        let mut tasks = self.tasks();
        if !tasks.started {
            return false;
        }
        self.requested.store(true, SeqCst);
        tasks.reading = Task { running: true, ..Task::default() };
        drop(tasks);
        self.changed.notify_all();
        true
    }

    /// True while reading waits for another process that writes an index with content.
    pub fn is_queued(&self) -> bool {
        self.tasks().reading.queued
    }

    /// Number of finished reads of the tree.
    pub fn reads(&self) -> u64 {
        self.tasks().reads
    }

    /// The current state.
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
        tracing::warn!(target: "tamis::background", reason, "cannot keep the index fresh");
        self.tasks().reading = Task { failed: Some(reason.to_owned()), ..Task::default() };
    }

    /// Sleeps, or returns at once when the work should stop or somebody asks for a read.
    fn wait(&self, time: Duration) {
        let (tasks, started) = (self.tasks(), Instant::now());
        let over = |_: &mut Tasks| !self.stopped() && !self.requested.load(SeqCst) && started.elapsed() < time;
        drop(self.changed.wait_timeout_while(tasks, time, over));
    }

    /// Waits until there is something to embed. Returns false when the work should stop.
    fn wait_for_work(&self) -> bool {
        let waited = self.changed.wait_while(self.tasks(), |tasks| !tasks.wanted && !self.stopped());
        waited.unwrap_or_else(PoisonError::into_inner).wanted = false;
        !self.stopped()
    }
}

/// Everything that one thread works with.
struct Worker {
    background: Arc<Background>,
    index: Arc<CurrentIndex>,
    active_calls: Arc<ActiveCalls>,
}

impl Worker {
    fn has_content(&self) -> bool {
        self.index.get().contents().summary().is_ok_and(|summary| summary.last_publish_ms.is_some())
    }
}

/// Records the progress of one thread, pauses it while calls are in progress, and stops it.
struct WorkerObserver<'a> {
    worker: &'a Worker,
    task: fn(&mut Tasks) -> &mut Task,
    /// Set when a run failed, so that watching has to start over.
    restart: &'a AtomicBool,
    /// Set while no run is in progress, when a request for one may end the watching.
    idle: &'a AtomicBool,
}

impl Observer for WorkerObserver<'_> {
    fn stage(&self, stage: Stage, total: u64) {
        let queued = matches!(stage, Stage::Queue(_)) && self.worker.has_content();
        let mut tasks = self.worker.background.tasks();
        let task = (self.task)(&mut tasks);
        let model = if let Stage::Embed(model) = stage { Some(model) } else { None };
        *task = Task { running: true, queued, model, total, ..Task::default() };
        self.idle.store(false, SeqCst);
    }

    fn advance(&self, steps: u64) {
        let mut tasks = self.worker.background.tasks();
        (self.task)(&mut tasks).done += steps;
        let is_awaited = tasks.reads == 0;
        drop(tasks);
        let started = Instant::now();
        while !is_awaited
            && !self.worker.active_calls.is_quiet(QUIET_AFTER_CALL)
            && started.elapsed() < LONGEST_PAUSE
            && !self.cancelled()
        {
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    fn cancelled(&self) -> bool {
        let background = &self.worker.background;
        let is_asked = || self.idle.load(SeqCst) && background.requested.load(SeqCst);
        background.stopped() || self.restart.load(SeqCst) || is_asked()
    }
}

/// Reads the tree at the start and after each change.
fn read(worker: &Worker) {
    let Worker { background, index, .. } = worker;
    while !background.stopped() {
        background.requested.store(false, SeqCst);
        let (restart, idle) = (AtomicBool::new(false), AtomicBool::new(false));
        let observer = WorkerObserver { worker, task: |tasks| &mut tasks.reading, restart: &restart, idle: &idle };
        let busy = AtomicBool::new(false);
        let served = index.get();
        let ran = |run: Result<RunReport, Error>| {
            if let Err(error) = &run {
                busy.store(is_busy(error), SeqCst);
                restart.store(true, SeqCst);
            }
            has_read(background, run);
            idle.store(true, SeqCst);
        };
        match watch(&served, QUICK_MODEL_ONLY, &observer, ran) {
            Ok(()) => {}
            Err(Error::Store(error @ StoreError::ReadOnly { .. })) => return background.failed(&error.to_string()),
            Err(error @ Error::Store(StoreError::Replaced { .. })) => has_read(background, Err(error)),
            Err(error) => {
                busy.store(is_busy(&error), SeqCst);
                // A tree that cannot be watched is checked at intervals.
                let run = served.refresh_with(QUICK_MODEL_ONLY, &observer);
                background.tasks().unwatched = Some(error.to_string());
                has_read(background, run);
            }
        }
        // A replaced index is read at once.
        if Arc::ptr_eq(&served, &index.get()) && !background.requested.load(SeqCst) {
            background.wait(if busy.load(SeqCst) { RETRY_WHEN_BUSY } else { RETRY_AFTER_FAILURE });
        }
    }
}

fn is_busy(error: &Error) -> bool {
    matches!(error, Error::Store(StoreError::Busy { .. }))
}

/// Notes a finished read.
fn has_read(background: &Background, run: Result<RunReport, Error>) {
    let mut tasks = background.tasks();
    tasks.reads += 1;
    match run {
        Ok(report) => {
            tasks.reading = Task::default();
            if !report.interrupted {
                tracing::debug!(target: "tamis::background", added = report.counts.added, changed = report.counts.changed,
                    removed = report.counts.removed, "the index is up to date");
                tasks.wanted = true;
                tasks.embedding.running |= report.embedding.pending.values().any(|&passages| passages > 0);
            }
        }
        // Another process is writing, perhaps the same changes.
        Err(error) if is_busy(&error) => tasks.reading = Task::default(),
        Err(error) => {
            let reason = error.to_string();
            tracing::warn!(target: "tamis::background", reason, "could not bring the index up to date");
            tasks.reading = Task { failed: Some(reason), ..Task::default() };
        }
    }
    drop(tasks);
    background.changed.notify_all();
}

/// Embeds with the better models after each read.
fn embed(worker: &Worker) {
    let Worker { background, index, .. } = worker;
    lower_thread_priority();
    let (restart, idle) = (AtomicBool::new(false), AtomicBool::new(false));
    let observer = WorkerObserver { worker, task: |tasks| &mut tasks.embedding, restart: &restart, idle: &idle };
    while background.wait_for_work() {
        let (busy, reason) = match index.get().embed_missing(&observer) {
            Ok(report) if report.embedding.unusable.is_empty() => {
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
        background.wait(if busy { RETRY_WHEN_BUSY } else { RETRY_AFTER_FAILURE });
    }
}

// Notices changes of the index, by this process or another one, for everybody who follows them.

/// Longest wait for a change before a look at who still follows.
const PATIENCE: Duration = Duration::from_secs(1);

/// Pause after a failure. An index that cannot be read now may be readable later, and every call says why it is not.
const FAILURE_PAUSE: Duration = Duration::from_millis(500);

/// The change number of the index. One thread waits for changes while somebody follows them.
#[derive(Debug, Default)]
pub(crate) struct ChangeFeed {
    number: watch::Sender<Option<u64>>,
    running: Mutex<bool>,
}

impl ChangeFeed {
    /// Follows the number; `None` until it is known.
    pub fn follow(self: &Arc<Self>, index: &Arc<CurrentIndex>) -> watch::Receiver<Option<u64>> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let follower = self.number.subscribe();
        if !*running {
            let (feed, index) = (self.clone(), index.clone());
            let thread = std::thread::Builder::new().name("tamis-changes".to_owned()).spawn(move || feed.run(&index));
            match thread {
                Ok(_) => *running = true,
                Err(error) => {
                    let reason = error.to_string();
                    tracing::warn!(target: "tamis::index", reason, "cannot follow changes");
                }
            }
        }
        follower
    }

    /// Waits for changes until nobody follows.
    fn run(&self, index: &CurrentIndex) {
        loop {
            let seen = *self.number.borrow();
            match index.get().wait_for_change(seen, PATIENCE) {
                Ok(number) => drop(self.number.send_if_modified(|known| known.replace(number) != Some(number))),
                Err(_) => std::thread::sleep(FAILURE_PAUSE),
            }
            let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            if self.number.receiver_count() == 0 {
                *running = false;
                return;
            }
        }
    }
}

// The index in the server's directory. When another process replaces it, the server goes on with the new one. When it
// is deleted, each call fails with the reason and the remedy.

/// The open index, exchanged for its replacement.
pub(crate) struct CurrentIndex {
    index: RwLock<Arc<Index>>,
}

impl CurrentIndex {
    pub fn new(index: Arc<Index>) -> CurrentIndex {
        CurrentIndex { index: RwLock::new(index) }
    }

    /// The current index. When the replacement cannot be opened, the old index stays and its calls fail with the reason.
    pub fn get(&self) -> Arc<Index> {
        let known = self.index.read().unwrap_or_else(PoisonError::into_inner).clone();
        if !known.is_replaced() {
            return known;
        }
        // Several threads may notice at once; the lock lets one of them exchange it.
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        if let Ok(Some(successor)) = index.successor() {
            let directory = successor.location().directory.display().to_string();
            tracing::warn!(target: "tamis::index", directory, "another process replaced the index; the new one is open now");
            *index = Arc::new(successor);
        }
        index.clone()
    }
}
