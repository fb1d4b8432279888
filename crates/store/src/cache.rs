//! Locking a mutex, and a small cache of the latest results.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex and ignores poisoning: everything behind these locks is a cache or a connection whose transaction
/// has rolled back, so a panic leaves nothing half done.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The latest results by key. The oldest one makes room.
#[derive(Debug)]
pub(crate) struct Recent<K, V> {
    entries: Mutex<VecDeque<(K, V)>>,
}

/// The number of results kept.
const CAPACITY: usize = 16;

impl<K, V: Clone> Recent<K, V> {
    /// Returns the result whose key matches.
    pub(crate) fn get(&self, matches: impl Fn(&K) -> bool) -> Option<V> {
        lock(&self.entries).iter().find(|(key, _)| matches(key)).map(|(_, value)| value.clone())
    }

    /// Drops the results whose keys fail the test.
    pub(crate) fn retain(&self, keep: impl Fn(&K) -> bool) {
        lock(&self.entries).retain(|(key, _)| keep(key));
    }

    pub(crate) fn push(&self, key: K, value: V) {
        let mut entries = lock(&self.entries);
        if entries.len() == CAPACITY {
            entries.pop_front();
        }
        entries.push_back((key, value));
    }
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Recent<K, V> {
        Recent { entries: Mutex::default() }
    }
}
