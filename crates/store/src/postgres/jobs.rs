//! The queue of trees that wait to be indexed, shared by any number of workers.
//!
//! A worker takes the oldest job whose namespace nobody has locked, and keeps that lock while it works, by a transaction that stays
//! open on a connection of its own. The server ends the lock with the connection, so the job of a killed worker is free at once,
//! and jobs of one namespace never run at the same time. The number of starts tells a worker from the one before it: whoever lost its
//! connection, and its job to another worker, cannot end the job any more.

use deadpool_postgres::Transaction;
use serde::Serialize;
use tokio_postgres::Row;

use super::connection::Lasting;
use super::error::Failure;
use super::locks::key;
use super::namespaces::NOW_MS;
use super::store::PostgresStore;
use crate::error::{Result, StoreError};

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

impl JobState {
    const ALL: [JobState; 4] = [JobState::Waiting, JobState::Running, JobState::Done, JobState::Failed];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            JobState::Waiting => "waiting",
            JobState::Running => "running",
            JobState::Done => "done",
            JobState::Failed => "failed",
        }
    }
}

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
        state: JobState::ALL
            .into_iter()
            .find(|state| state.name() == row.get::<_, &str>(3))
            .unwrap_or(JobState::Waiting),
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
            transaction.execute(&update, &[&number, &namespace, &state.name(), &failures, &reason, &pause]).await?;
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
