//! What servers need: to notice changes of others, and to know the sessions that another server opened.

use std::time::{Duration, Instant};

use super::Maintenance;
use crate::error::Result;

/// How often a store is asked for its change number where nothing tells of changes.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Serves many clients from a store that others change.
pub trait Serving: Maintenance {
    /// Waits until the change number is another one than `seen`, for `patience` at most, and returns the number then.
    ///
    /// # Errors
    /// The store cannot be read.
    fn wait_for_change(&self, seen: Option<u64>, patience: Duration) -> Result<u64> {
        let started = Instant::now();
        loop {
            let number = self.change_number()?;
            let left = patience.saturating_sub(started.elapsed());
            if seen != Some(number) || left.is_zero() {
                return Ok(number);
            }
            std::thread::sleep(left.min(POLL_INTERVAL));
        }
    }

    /// Returns `true` if calls mostly wait for another process, so that many can wait at once.
    fn waits_for_server(&self) -> bool {
        false
    }

    /// The sessions that all servers of the store share; `None` if a session belongs to the process that opened it.
    fn shared_sessions(&self) -> Option<&dyn SharedSessions> {
        None
    }
}

/// A session of a client, which any server may continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedSession {
    /// Its identifier, which only the client and the servers know.
    pub id: String,
    /// Who opened it, as a text that only this client has.
    pub owner: String,
    /// Its opening message, as JSON.
    pub opened: String,
}

/// Keeps the sessions of all servers of a store.
pub trait SharedSessions: Send + Sync {
    /// Adds a session. Ends the oldest of an owner that has more than `most`, and all that nobody has used for a day.
    ///
    /// # Errors
    /// The store cannot be written.
    fn open_session(&self, session: &SharedSession, most: usize) -> Result<()>;

    /// Returns an open session.
    ///
    /// # Errors
    /// The store cannot be read.
    fn session(&self, id: &str) -> Result<Option<SharedSession>>;

    /// Ends a session.
    ///
    /// # Errors
    /// The store cannot be written.
    fn end_session(&self, id: &str) -> Result<()>;
}
