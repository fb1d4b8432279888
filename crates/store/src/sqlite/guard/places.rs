//! How many statements run at a time in the whole process.

use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use super::CANCEL_INTERVAL;
use crate::error::{Result, StoreError};
use crate::sqlite::lock;

/// The most statements at a time.
const PLACES: usize = 4;
/// How long one waits for a place.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

static TAKEN: Mutex<usize> = Mutex::new(0);
static FREED: Condvar = Condvar::new();

/// The right to run a statement, until dropped.
#[derive(Debug)]
pub(super) struct Place(());

impl Place {
    /// Waits for one.
    pub(super) fn take(cancelled: &dyn Fn() -> bool) -> Result<Place> {
        let give_up = Instant::now() + LONGEST_WAIT;
        let mut taken = lock(&TAKEN);
        while *taken >= PLACES {
            let left = give_up.saturating_duration_since(Instant::now());
            if left.is_zero() || cancelled() {
                let error = format!("{PLACES} other statements run, and none of them ended in time");
                return Err(StoreError::Sql { error, hint: Some("try again in a few seconds".to_owned()) });
            }
            let waited = FREED.wait_timeout(taken, left.min(CANCEL_INTERVAL));
            taken = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
        *taken += 1;
        Ok(Place(()))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        *lock(&TAKEN) -= 1;
        FREED.notify_one();
    }
}
