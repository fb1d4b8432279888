//! Reads documents that others made, such as a PDF, on a thread of their own.
//!
//! The readers bound their memory and their work, but the files come from strangers and the libraries are large. A reader that
//! panics or takes too long costs one document, and a tree of such documents costs a run no more than a budget.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};
use tamis_text::{Document, Options, Skip};

/// The time that every document may take. The largest books take a few seconds.
const USUAL: Duration = Duration::from_secs(5);

/// The time that one document may take besides, and all documents of a source together.
const LONGER: Duration = Duration::from_secs(55);
const ALL_LONGER: Duration = Duration::from_secs(5 * 60);

/// Most documents that are read at a time, in this process. One may take some hundred megabytes.
const MOST_AT_ONCE: usize = 3;

/// Stack of the thread, in bytes.
const STACK: usize = 16 << 20;

/// Documents that are being read, also those that nobody waits for any more.
static READING: (Mutex<usize>, Condvar) = (Mutex::new(0), Condvar::new());

/// A place among the documents that are being read.
struct Place;

impl Place {
    /// Waits for a place.
    fn take() -> Self {
        let (reading, left) = &READING;
        let mut count = reading.lock().unwrap_or_else(PoisonError::into_inner);
        while *count >= MOST_AT_ONCE {
            count = left.wait(count).unwrap_or_else(PoisonError::into_inner);
        }
        *count += 1;
        Self
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let (reading, left) = &READING;
        *reading.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        left.notify_one();
    }
}

type Reader = fn(&str, &[u8], &Options) -> Result<Option<Document>, Skip>;

/// The time that the documents of a source may take besides the usual.
pub(super) struct Budget {
    left: Mutex<Duration>,
    usual: Duration,
    read: Reader,
}

impl Default for Budget {
    fn default() -> Self {
        Self { left: Mutex::new(ALL_LONGER), usual: USUAL, read: tamis_text::read_document }
    }
}

impl Budget {
    /// [`tamis_text::read_document`] within a time limit. A thread that exceeds it ends by itself, later.
    pub fn read_document(&self, path: &str, bytes: &[u8], options: &Options) -> Result<Option<Document>, Skip> {
        if !tamis_text::is_document(path) && !bytes.starts_with(b"%PDF-") {
            return tamis_text::read_document(path, bytes, options);
        }
        let (sender, receiver) = sync_channel(1);
        let (path, bytes, options) = (path.to_owned(), bytes.to_vec(), options.clone());
        let (place, read, usual) = (Place::take(), self.read, self.usual);
        let work = move || {
            let read = read(&path, &bytes, &options);
            drop(place);
            // The receiver is gone only if the time was up.
            let _ = sender.send(read);
        };
        if Builder::new().name("document".to_owned()).stack_size(STACK).spawn(work).is_err() {
            return Err(Skip::TooMuchWork);
        }
        let started = Instant::now();
        let read = receiver.recv_timeout(usual + LONGER.min(*self.left()));
        let longer = started.elapsed().saturating_sub(usual);
        let mut left = self.left();
        *left = left.saturating_sub(longer);
        match read {
            Ok(read) => read,
            Err(RecvTimeoutError::Timeout) => Err(Skip::TooMuchWork),
            // The thread panicked.
            Err(RecvTimeoutError::Disconnected) => Err(Skip::Damaged),
        }
    }

    fn left(&self) -> std::sync::MutexGuard<'_, Duration> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_read_within_the_budget() {
        let read =
            |_| Budget::default().read_document("a.ipynb", br#"{"cells": [{"source": "x"}]}"#, &Options::default());
        std::thread::scope(|scope| {
            for thread in 0..3 * MOST_AT_ONCE {
                scope.spawn(move || assert!(read(thread).is_ok_and(|document| document.is_some())));
            }
        });
        let places: Vec<Place> = (0..MOST_AT_ONCE).map(|_| Place::take()).collect();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| read(0));
            std::thread::sleep(Duration::from_millis(50));
            assert!(!waiting.is_finished());
            drop(places);
            assert!(waiting.join().expect("no panic").is_ok());
        });

        let budget = Budget { left: Mutex::new(Duration::from_secs(7)), ..Budget::default() };
        assert!(budget.read_document("a.ipynb", b"{}", &Options::default()).is_err());
        assert_eq!(*budget.left(), Duration::from_secs(7));

        let slow = |_: &str, _: &[u8], _: &Options| {
            std::thread::sleep(Duration::from_millis(400));
            Ok(None)
        };
        let read = |left| {
            let budget = Budget { left: Mutex::new(left), usual: Duration::from_millis(50), read: slow };
            (budget.read_document("a.pdf", b"", &Options::default()), *budget.left())
        };
        let (done, left) = read(Duration::from_secs(60));
        assert!(done.is_ok() && left <= Duration::from_millis(59_650), "{left:?}");
        let (late, left) = read(Duration::from_millis(100));
        assert!(matches!(late, Err(Skip::TooMuchWork)) && left.is_zero(), "{left:?}");
    }
}
