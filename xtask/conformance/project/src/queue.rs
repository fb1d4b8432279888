//! Jobs in the order in which they are due.

use crate::lock::Lock;
use crate::retry::{backoff, may_retry};
use std::collections::BTreeMap;

/// A piece of work.
#[derive(Debug, Clone)]
pub struct Job {
    /// What is to be done.
    pub name: String,
    /// How often it has failed.
    pub tries: u32,
}

/// The queue of one mill. Each job is on disk before it is run.
pub struct Queue {
    due: BTreeMap<u64, Job>,
    aside: Vec<Job>,
    lock: Lock,
}

impl Queue {
    /// An empty queue. Fails where another process works on it.
    pub fn open(lock: Lock) -> Option<Queue> {
        lock.is_held().then(|| Queue { due: BTreeMap::new(), aside: Vec::new(), lock })
    }

    /// Puts a job in, to be run at a time.
    pub fn put(&mut self, at: u64, job: Job) {
        self.due.insert(at, job);
    }

    /// Takes out the job that is due first, if any is due by now.
    pub fn take(&mut self, now: u64) -> Option<Job> {
        let (&at, _) = self.due.first_key_value()?;
        if at <= now { self.due.remove(&at) } else { None }
    }

    /// Puts a job that failed back, to be tried again after the backoff, or aside after the last try.
    pub fn failed(&mut self, now: u64, mut job: Job) {
        job.tries += 1;
        if may_retry(job.tries, 5) {
            self.put(now + backoff(job.tries).as_secs(), job);
        } else {
            self.aside.push(job);
        }
    }
}
