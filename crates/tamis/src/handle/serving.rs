//! What servers need of an index: to notice changes of other processes, and the sessions that all servers share.

use super::Index;
use crate::Error;
use std::time::Duration;
use tamis_store::SharedSessions;

impl Index {
    /// Waits until the change number is another one than `seen`, for `patience` at most, and returns the number then. A change in a
    /// database is noticed when it is published, or within a second.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn wait_for_change(&self, seen: Option<u64>, patience: Duration) -> Result<u64, Error> {
        Ok(self.store.wait_for_change(seen, patience)?)
    }

    /// Returns the sessions that all servers of the index share; `None` if a session belongs to the process that opened it.
    pub fn shared_sessions(&self) -> Option<&dyn SharedSessions> {
        self.store.shared_sessions()
    }
}
