//! Two lanes of calls: for those that are over soon, such as searches, and for those that can take seconds.
//!
//! Each has places and threads of its own, so that no search waits for a slow call.

use crate::priority::lower_thread_priority;
use crate::turns::{Place, Turn, Turns};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use tamis::search::SearchCaller;

/// The lane of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// It is over soon.
    Quick,
    /// It can take seconds.
    Slow,
}

/// The caller that a request's turns are counted for: the holder of its token, however many sessions and connections that has.
#[derive(Clone, Copy)]
pub(crate) struct Share(pub SearchCaller);

/// Both lanes.
pub(crate) struct Lanes {
    quick: Turns,
    slow: Turns,
    /// Threads of each call that has a pool of its own. It would fill the pool that searches share.
    threads: usize,
    /// Pools that no call uses now.
    idle: Mutex<Vec<ThreadPool>>,
    /// True if there are callers to yield to.
    yields: AtomicBool,
}

impl Lanes {
    /// Lanes in which a caller has up to `parallel` quick calls in progress, and as many slow ones.
    pub fn new(parallel: usize) -> Lanes {
        let (quick, slow) = (Turns::new(parallel), Turns::new(parallel));
        Lanes { quick, slow, threads: parallel.max(1), idle: Mutex::default(), yields: AtomicBool::default() }
    }

    /// Has calls that take long, and those of callers with several in progress, yield the processors to the rest from now on. For one
    /// person, they would yield to everything else on the machine alone.
    pub fn yield_to_others(&self) {
        self.yields.store(true, Ordering::Relaxed);
    }

    /// Waits for the turn of a call. Dropping the future gives up the wait.
    pub async fn wait(&self, lane: Lane, Share(caller): Share) -> Option<Turn> {
        match lane {
            Lane::Quick => self.quick.wait(caller).await,
            Lane::Slow => self.slow.wait(caller).await,
        }
    }

    /// Number of a caller's calls, in progress or waiting.
    pub fn calls_of(&self, Share(caller): Share) -> usize {
        self.quick.calls_of(caller) + self.slow.calls_of(caller)
    }

    /// Runs a call whose turn has come.
    pub fn run<T: Send>(&self, lane: Lane, place: Place, work: impl FnOnce() -> T + Send) -> T {
        let yields = self.yields.load(Ordering::Relaxed);
        if lane == Lane::Quick && (place == Place::First || !yields) {
            return work();
        }
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let pool = idle().pop();
        let made = || {
            let threads = ThreadPoolBuilder::new().num_threads(self.threads);
            threads
                .start_handler(move |_| {
                    if yields {
                        lower_thread_priority()
                    }
                })
                .build()
                .ok()
        };
        let Some(pool) = pool.or_else(made) else {
            return work();
        };
        let done = pool.install(work);
        idle().push(pool);
        done
    }
}
