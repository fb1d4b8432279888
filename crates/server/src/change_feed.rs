//! Notices changes of the index, by this process or another one, for everybody who follows them.

use crate::current_index::CurrentIndex;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

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
