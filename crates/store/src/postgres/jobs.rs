//! The queue of trees that wait to be indexed, shared by any number of workers.
//!
//! A worker takes the oldest job whose namespace nobody has locked, and keeps that lock while it works, by a transaction that stays
//! open on a connection of its own. The server ends the lock with the connection, so the job of a killed worker is free at once,
//! and jobs of one namespace never run at the same time. The number of starts tells a worker from the one before it: whoever lost its
//! connection, and its job to another worker, cannot end the job any more.

use deadpool_postgres::Transaction;
use serde::Serialize;
use tokio_postgres::Row;

use super::PostgresStore;
use super::connection::Lasting;
use super::failure::Failure;
use super::namespaces::{NOW_MS, key};
use crate::error::{Result, StoreError};
use crate::names::names;

/// Number of failures after which a job is given up.
pub const MOST_JOB_FAILURES: u32 = 3;

/// Number of workers that end in the middle of a job until it is given up: it might be what ends them.
const MOST_LOST: i32 = 3;

/// Pause after a failure, in milliseconds, times the number of failures.
const PAUSE_MS: i64 = 10_000;

/// What a job is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// It waits for a worker, or for the pause after a failure to end.
    Waiting,
    /// A worker has it.
    Running,
    /// The tree was indexed.
    Done,
    /// It failed too often.
    Failed,
}

names!(JobState { Waiting = "waiting", Running = "running", Done = "done", Failed = "failed" });

/// A tree to be indexed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Job {
    /// Its number.
    pub job: u64,
    /// The namespace of the tree's documents.
    pub namespace: String,
    /// The tree, on the workers' machines.
    pub path: String,
    /// What it is doing.
    pub state: JobState,
    /// Number of failures so far.
    pub failures: u32,
    /// The last worker: its machine and process.
    pub worker: Option<String>,
    /// Reason of the last failure.
    pub reason: Option<String>,
    /// Time when it was added, in milliseconds since 1970.
    pub added_ms: i64,
    /// Time when the last worker began, in milliseconds since 1970.
    pub started_ms: Option<i64>,
    /// Time when it was done or given up, in milliseconds since 1970.
    pub ended_ms: Option<i64>,
}

/// The end of a worker's try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobEnd<'r> {
    /// The tree was indexed.
    Done,
    /// It failed for this reason.
    Failed(&'r str),
    /// The worker was stopped; the next one continues.
    Stopped,
}

/// What a worker can do now.
#[derive(Debug)]
pub enum NextJob {
    /// Work.
    Taken(Box<TakenJob>),
    /// Wait: the jobs left run elsewhere, or pause after a failure.
    Wait,
    /// Nothing: no job is left.
    Empty,
}

/// A job that this process has. It is free again once this is dropped.
#[derive(Debug)]
pub struct TakenJob {
    /// The job.
    pub job: Job,
    starts: i32,
    /// The transaction that holds the lock.
    lock: Lasting,
}

const COLUMNS: &str =
    "job, namespace, path, state, failures, worker, reason, added_ms, started_ms, ended_ms, starts, lost";

fn job(row: &Row) -> Job {
    Job {
        job: row.get::<_, i64>(0) as u64,
        namespace: row.get(1),
        path: row.get(2),
        state: JobState::from_name(row.get(3)).unwrap_or(JobState::Waiting),
        failures: row.get::<_, i32>(4) as u32,
        worker: row.get(5),
        reason: row.get(6),
        added_ms: row.get(7),
        started_ms: row.get(8),
        ended_ms: row.get(9),
    }
}

fn lock_key(namespace: &str) -> i64 {
    key("job", namespace)
}

/// The lock of whoever adds a job to a namespace.
fn add_key(namespace: &str) -> i64 {
    key("add job", namespace)
}

impl PostgresStore {
    /// Adds jobs, all or none of them: each names a namespace and the path of the tree to index into it. Returns `false` for each that
    /// waits already.
    ///
    /// # Errors
    /// A namespace was given to another tree, and `moved` does not say that this tree is the same one at another place.
    pub fn add_jobs(&self, trees: &[(String, String)], moved: bool) -> Result<Vec<bool>> {
        self.connections.write(async |transaction| {
            let mut locks: Vec<i64> = trees.iter().map(|(namespace, _)| add_key(namespace)).collect();
            // In one order everywhere, so that nobody waits in a circle.
            locks.sort_unstable();
            for lock in locks {
                transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&lock]).await?;
            }
            let mut added = Vec::with_capacity(trees.len());
            for (namespace, path) in trees {
                added.push(add(transaction, namespace, path, moved).await?);
            }
            if moved {
                let names: Vec<&str> = trees.iter().map(|(namespace, _)| namespace.as_str()).collect();
                self.note(transaction, &names).await?;
            }
            Ok(added)
        })
    }

    /// Returns all jobs in their order: those that wait or run, and the last one of each namespace that ended.
    ///
    /// # Errors
    /// The server cannot be reached or refuses.
    pub fn jobs(&self) -> Result<Vec<Job>> {
        let select = format!("SELECT {COLUMNS} FROM jobs ORDER BY job");
        self.connections.read(async |transaction| Ok(transaction.query(&select, &[]).await?.iter().map(job).collect()))
    }

    /// Takes the oldest job that is free. `worker` names this process for people.
    ///
    /// # Errors
    /// The server cannot be reached or refuses.
    pub fn take_job(&self, worker: &str) -> Result<NextJob> {
        let free = format!(
            "SELECT namespace, not_before_ms <= {NOW_MS} FROM jobs WHERE state IN ('waiting', 'running') AND namespace <> ALL($1) \
             ORDER BY not_before_ms > {NOW_MS}, job LIMIT 1"
        );
        self.connections.wait(async {
            let mut busy: Vec<String> = Vec::new();
            loop {
                let first = self.connections.asking(async |connection| {
                    let row = connection.query_opt(&free, &[&busy]).await?;
                    Ok(row.map(|row| (row.get::<_, String>(0), row.get(1))))
                });
                let namespace = match first.await? {
                    Some((namespace, true)) => namespace,
                    // It pauses after a failure.
                    Some(_) => return Ok(NextJob::Wait),
                    None if busy.is_empty() => return Ok(NextJob::Empty),
                    None => return Ok(NextJob::Wait),
                };
                let lock = self.connections.lasting().await?;
                if !lock.try_lock(lock_key(&namespace)).await? {
                    lock.end().await;
                    busy.push(namespace);
                    continue;
                }
                let started =
                    self.connections.writing(async |transaction| start(transaction, &namespace, worker).await);
                match started.await? {
                    Some((job, starts)) => return Ok(NextJob::Taken(Box::new(TakenJob { job, starts, lock }))),
                    None => lock.end().await,
                }
            }
        })
    }

    /// Notes how a try ended, and returns what the job does now; `None` if another worker has taken it over meanwhile. A failure
    /// for which the connection to the server broke is not the job's, so the next worker continues at once.
    ///
    /// # Errors
    /// The server cannot be reached or refuses; the job can be ended again then.
    pub fn end_job(&self, taken: &TakenJob, end: JobEnd<'_>) -> Result<Option<JobState>> {
        let (number, namespace) = (taken.job.job as i64, taken.job.namespace.as_str());
        self.connections.write(async |transaction| {
            // Whoever adds a job to the namespace waits, so that there is never a second one that waits.
            transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&add_key(namespace)]).await?;
            let mine = "SELECT failures FROM jobs WHERE job = $1 AND namespace = $2 AND starts = $3 AND state = 'running' \
                 FOR UPDATE";
            let Some(mine) = transaction.query_opt(mine, &[&number, &namespace, &taken.starts]).await? else {
                return Ok(None);
            };
            let end = if matches!(end, JobEnd::Failed(_)) && taken.lock.is_closed() { JobEnd::Stopped } else { end };
            let failures = mine.get::<_, i32>(0) + i32::from(matches!(end, JobEnd::Failed(_)));
            let waits = "SELECT EXISTS (SELECT 1 FROM jobs WHERE namespace = $1 AND state = 'waiting')";
            let waits: bool = transaction.query_one(waits, &[&namespace]).await?.get(0);
            let gives_up = failures >= MOST_JOB_FAILURES as i32 || waits;
            if end == JobEnd::Stopped && waits {
                // A job that was added meanwhile does the same work.
                let delete = "DELETE FROM jobs WHERE job = $1 AND namespace = $2";
                transaction.execute(delete, &[&number, &namespace]).await?;
                return Ok(Some(JobState::Waiting));
            }
            let (state, reason, pause) = match end {
                JobEnd::Done => (JobState::Done, None, 0),
                JobEnd::Failed(reason) if gives_up => (JobState::Failed, Some(reason), 0),
                JobEnd::Failed(reason) => (JobState::Waiting, Some(reason), PAUSE_MS * i64::from(failures)),
                JobEnd::Stopped => (JobState::Waiting, None, 0),
            };
            let update = format!(
                "UPDATE jobs SET state = $3, failures = $4, reason = $5, not_before_ms = {NOW_MS} + $6, \
                 ended_ms = CASE WHEN $3 IN ('done', 'failed') THEN {NOW_MS} END \
                 WHERE job = $1 AND namespace = $2"
            );
            // The text of an error can hold what PostgreSQL cannot.
            let reason = reason.map(|reason| reason.replace('\0', ""));
            transaction.execute(&update, &[&number, &namespace, &state.as_str(), &failures, &reason, &pause]).await?;
            remove_earlier(transaction, namespace, number).await?;
            Ok(Some(state))
        })
    }
}

/// Adds a job. Returns `false` if one waits already.
async fn add(transaction: &Transaction<'_>, namespace: &str, path: &str, moved: bool) -> Result<bool, Failure> {
    let last = "SELECT path FROM jobs WHERE namespace = $1 ORDER BY job DESC LIMIT 1";
    let last: Option<String> = transaction.query_opt(last, &[&namespace]).await?.map(|row| row.get(0));
    // The path of a worker can lead through links, so the last job's comes first.
    let before = match last {
        Some(last) => Some(last),
        None => {
            let tree = "SELECT root FROM namespaces WHERE namespace = $1";
            transaction.query_opt(tree, &[&namespace]).await?.and_then(|row| row.get(0))
        }
    };
    if let Some(before) = before.filter(|before| before != path) {
        if !moved {
            return Err(StoreError::Invalid {
                what: format!("a job for {path} in the namespace {namespace}"),
                reason: format!("that namespace holds {before}: give it another one, or say that the tree has moved"),
            }
            .into());
        }
        let update = "UPDATE jobs SET path = $2 WHERE namespace = $1 AND state <> 'running'";
        transaction.execute(update, &[&namespace, &path]).await?;
    }
    if moved {
        // The worker makes it the tree's.
        let release = format!(
            "UPDATE namespaces SET root = NULL, machine = NULL, change_number = change_number + 1, changed_ms = {NOW_MS} \
             WHERE namespace = $1"
        );
        transaction.execute(&release, &[&namespace]).await?;
    }
    let insert = format!(
        "INSERT INTO jobs(namespace, path, added_ms) VALUES ($1, $2, {NOW_MS}) \
         ON CONFLICT (namespace) WHERE state = 'waiting' DO NOTHING"
    );
    Ok(transaction.execute(&insert, &[&namespace, &path]).await? > 0)
}

/// Removes the jobs of a namespace that ended before this one, if this one ended.
async fn remove_earlier(transaction: &Transaction<'_>, namespace: &str, number: i64) -> Result<(), Failure> {
    let delete = "DELETE FROM jobs o USING jobs n WHERE o.namespace = $1 AND n.namespace = $1 AND n.job = $2 \
         AND n.state IN ('done', 'failed') AND o.job < n.job AND o.state IN ('done', 'failed')";
    transaction.execute(delete, &[&namespace, &number]).await?;
    Ok(())
}

/// Starts the oldest job of a namespace, whose lock the caller has. `None` if none is free any more, or it was given up.
async fn start(transaction: &Transaction<'_>, namespace: &str, worker: &str) -> Result<Option<(Job, i32)>, Failure> {
    let select = format!(
        "SELECT job, state, lost, worker FROM jobs WHERE namespace = $1 AND state IN ('waiting', 'running') \
         AND not_before_ms <= {NOW_MS} ORDER BY job LIMIT 1 FOR UPDATE"
    );
    let Some(row) = transaction.query_opt(&select, &[&namespace]).await? else { return Ok(None) };
    let number: i64 = row.get(0);
    if row.get::<_, &str>(1) == "running" && row.get::<_, i32>(2) + 1 >= MOST_LOST {
        let last = row.get::<_, Option<&str>>(3).unwrap_or("unnamed");
        let reason = format!("{MOST_LOST} workers ended in the middle of it, the last one {last}");
        let give_up = format!(
            "UPDATE jobs SET state = 'failed', reason = $3, ended_ms = {NOW_MS} WHERE job = $1 AND namespace = $2"
        );
        transaction.execute(&give_up, &[&number, &namespace, &reason]).await?;
        remove_earlier(transaction, namespace, number).await?;
        return Ok(None);
    }
    let start = format!(
        "UPDATE jobs SET state = 'running', starts = starts + 1, lost = lost + (state = 'running')::integer, worker = $3, \
         started_ms = {NOW_MS} WHERE job = $1 AND namespace = $2 RETURNING {COLUMNS}"
    );
    let row = transaction.query_one(&start, &[&number, &namespace, &worker]).await?;
    Ok(Some((job(&row), row.get(10))))
}

#[cfg(test)]
mod tests {
    use crate::error::Result;
    use crate::postgres::tests::TestStore;
    use crate::postgres::{JobEnd, JobState, MOST_JOB_FAILURES, NextJob, PostgresStore, TakenJob, tests};
    use std::collections::BTreeMap;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    /// Takes a job. The one before it may still be giving back its lock.
    fn taken(store: &PostgresStore) -> Box<TakenJob> {
        let started = Instant::now();
        loop {
            match store.take_job("worker").unwrap() {
                NextJob::Taken(job) => return job,
                other => assert!(started.elapsed() < Duration::from_secs(20), "{other:?}"),
            }
        }
    }

    fn add(store: &PostgresStore, namespace: &str, path: &str, moved: bool) -> Result<bool> {
        store.add_jobs(&[(namespace.to_owned(), path.to_owned())], moved).map(|added| added[0])
    }

    fn states(store: &PostgresStore) -> Vec<(String, JobState)> {
        store.jobs().unwrap().into_iter().map(|job| (job.namespace, job.state)).collect()
    }

    /// Ends the connection of the worker that has a job.
    fn lose_worker(store: &TestStore) {
        store.execute(
            "SELECT pg_terminate_backend(l.pid) FROM pg_locks l WHERE l.locktype = 'advisory' AND l.granted \
             AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())",
        );
    }

    /// Ends the pauses after failures.
    fn hurry(store: &TestStore) {
        store.execute("UPDATE tamis.jobs SET not_before_ms = 0");
    }

    #[test]
    fn ten_workers_share_the_jobs_and_never_have_two_of_one_namespace() {
        const JOBS: usize = 60;
        let Some(store) = tests::store() else { return };
        let namespaces: Vec<String> = (0..JOBS / 3).map(|number| format!("n{number}")).collect();
        for namespace in &namespaces {
            assert!(add(&store, namespace, "/trees/x", false).unwrap());
            assert!(!add(&store, namespace, "/trees/x", false).unwrap(), "it waits already");
        }
        let done = Mutex::new(BTreeMap::<String, usize>::new());
        let running: BTreeMap<&str, AtomicBool> =
            namespaces.iter().map(|name| (name.as_str(), AtomicBool::new(false))).collect();
        std::thread::scope(|scope| {
            for worker in 0..10 {
                let (store, done, running) = (store.another(), &done, &running);
                scope.spawn(move || {
                    loop {
                        match store.take_job(&format!("worker {worker}")).unwrap() {
                            NextJob::Taken(job) => {
                                let namespace = job.job.namespace.clone();
                                let alone = &running[namespace.as_str()];
                                assert!(!alone.swap(true, Ordering::SeqCst), "{namespace} runs twice");
                                let count = {
                                    let mut done = done.lock().unwrap();
                                    let count = done.entry(namespace.clone()).or_default();
                                    *count += 1;
                                    *count
                                };
                                // Work that comes while a job of the namespace runs.
                                if count < 3 {
                                    assert!(add(&store, &namespace, "/trees/x", false).unwrap());
                                }
                                std::thread::sleep(Duration::from_millis(3));
                                alone.store(false, Ordering::SeqCst);
                                assert_eq!(store.end_job(&job, JobEnd::Done).unwrap(), Some(JobState::Done));
                            }
                            NextJob::Wait => std::thread::sleep(Duration::from_millis(5)),
                            NextJob::Empty => break,
                        }
                    }
                });
            }
        });
        let done = done.into_inner().unwrap();
        assert_eq!(done.values().sum::<usize>(), JOBS);
        assert!(done.values().all(|count| *count == 3), "{done:?}");
        // One that ended is kept of each namespace.
        let left = states(&store);
        assert_eq!(left.len(), namespaces.len());
        assert!(left.iter().all(|(_, state)| *state == JobState::Done));
    }

    #[test]
    fn the_job_of_a_lost_worker_is_free_at_once_and_the_lost_one_cannot_end_it() {
        let Some(store) = tests::store() else { return };
        add(&store, "one", "/trees/one", false).unwrap();
        let lost = taken(&store);
        assert!(matches!(store.another().take_job("other").unwrap(), NextJob::Wait));
        lose_worker(&store);
        let next = taken(&store.another());
        assert_eq!(next.job.job, lost.job.job);
        assert_eq!(store.end_job(&lost, JobEnd::Failed("too late")).unwrap(), None);
        assert_eq!(store.end_job(&next, JobEnd::Done).unwrap(), Some(JobState::Done));
        assert_eq!(states(&store), [("one".to_owned(), JobState::Done)]);
    }

    #[test]
    fn a_job_that_fails_is_tried_again_after_a_pause_and_then_given_up() {
        let Some(store) = tests::store() else { return };
        add(&store, "one", "/trees/one", false).unwrap();
        for failure in 1..=MOST_JOB_FAILURES {
            let job = taken(&store);
            let end = if failure < MOST_JOB_FAILURES { JobState::Waiting } else { JobState::Failed };
            assert_eq!(store.end_job(&job, JobEnd::Failed("the tree is\0 gone")).unwrap(), Some(end));
            drop(job);
            let listed = store.jobs().unwrap().remove(0);
            assert_eq!((listed.failures, listed.reason.as_deref()), (failure, Some("the tree is gone")));
            if failure < MOST_JOB_FAILURES {
                assert!(matches!(store.take_job("worker").unwrap(), NextJob::Wait), "it pauses");
                hurry(&store);
            }
        }
        assert_eq!(states(&store), [("one".to_owned(), JobState::Failed)]);
        assert!(matches!(store.take_job("worker").unwrap(), NextJob::Empty));
        // It can be added again, and the next end replaces the failed one.
        assert!(add(&store, "one", "/trees/one", false).unwrap());
        let job = taken(&store);
        assert_eq!(store.end_job(&job, JobEnd::Stopped).unwrap(), Some(JobState::Waiting));
        drop(job);
        let job = taken(&store);
        assert_eq!(store.end_job(&job, JobEnd::Done).unwrap(), Some(JobState::Done));
        assert_eq!(states(&store), [("one".to_owned(), JobState::Done)]);
    }

    #[test]
    fn a_broken_connection_is_no_failure_of_the_job() {
        let Some(store) = tests::store() else { return };
        add(&store, "one", "/trees/one", false).unwrap();
        let job = taken(&store);
        lose_worker(&store);
        // Its end arrives a moment later.
        std::thread::sleep(Duration::from_millis(200));
        assert_eq!(store.end_job(&job, JobEnd::Failed("connection closed")).unwrap(), Some(JobState::Waiting));
        let listed = store.jobs().unwrap().remove(0);
        assert_eq!((listed.state, listed.failures, listed.reason), (JobState::Waiting, 0, None));
        drop(taken(&store));
    }

    #[test]
    fn a_job_that_ends_its_workers_is_given_up() {
        let Some(store) = tests::store() else { return };
        add(&store, "one", "/trees/one", false).unwrap();
        store.execute("UPDATE tamis.jobs SET state = 'running', lost = 2, worker = 'mill:7'");
        assert!(matches!(store.take_job("worker").unwrap(), NextJob::Empty));
        let listed = store.jobs().unwrap().remove(0);
        assert_eq!(listed.state, JobState::Failed);
        assert!(listed.reason.unwrap().contains("the last one mill:7"));
    }

    #[test]
    fn a_namespace_is_not_given_to_another_tree_by_accident() {
        let Some(store) = tests::store() else { return };
        add(&store, "api", "/trees/a/api", false).unwrap();
        let refused = add(&store, "api", "/trees/b/api", false).unwrap_err().to_string();
        assert!(refused.contains("/trees/a/api") && refused.contains("moved"), "{refused}");
        let job = taken(&store);
        assert!(add(&store, "api", "/trees/b/api", false).is_err(), "while it runs");
        assert!(add(&store, "api", "/trees/b/api", true).unwrap());
        let ended = store.end_job(&job, JobEnd::Failed("moved away")).unwrap();
        assert_eq!(ended, Some(JobState::Failed), "another one waits");
        drop(job);
        assert!(!add(&store, "api", "/trees/b/api", false).unwrap(), "the new place is known");
        assert_eq!(taken(&store).job.path, "/trees/b/api");
    }
}
