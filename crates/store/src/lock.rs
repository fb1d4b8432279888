//! One writer at a time: a locked file, held while anything writes.
//!
//! Waiting processes queue at a second locked file, the turn: only its holder tries to take the lock. A process that releases
//! the lock and wants it back at once has to queue as well, so it starves nobody.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Result, StoreError};

/// Pause between two attempts of the next process.
const NEXT: Duration = Duration::from_millis(5);
/// Pause between two attempts of the processes behind it.
const QUEUED: Duration = Duration::from_millis(20);

/// What a process that waits says of a writer whose name it cannot read.
pub(crate) const UNNAMED_HOLDER: &str = "another process";

/// The lock file of an index, locked while at least one [`Hold`] lives.
#[derive(Debug)]
pub(crate) struct WriteLock {
    path: PathBuf,
    turn: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    holds: usize,
    file: Option<File>,
}

/// A share of the right to write.
#[derive(Debug)]
pub(crate) struct Hold<'a> {
    lock: &'a WriteLock,
}

impl WriteLock {
    /// The lock file at `path`. The turn is the same path with another extension.
    pub(crate) fn new(path: PathBuf) -> WriteLock {
        WriteLock { turn: path.with_extension("turn"), path, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lock, or another share of it, without waiting. Fails if others wait for it.
    pub(crate) fn hold(&self) -> Result<Hold<'_>> {
        let mut state = self.state();
        if state.file.is_none() {
            let Some(_turn) = self.take_turn()? else { return Err(self.busy()) };
            state.file = Some(take(&self.path)?);
        }
        state.holds += 1;
        Ok(Hold { lock: self })
    }

    /// Takes the lock in turn, and gives up after `patience`. `waiting` receives the writer's name before each pause; returning
    /// false gives up.
    pub(crate) fn wait(&self, patience: Duration, waiting: &mut dyn FnMut(&str) -> bool) -> Result<Hold<'_>> {
        let started = Instant::now();
        let mut turn: Option<Turn> = None;
        loop {
            let error = {
                let mut state = self.state();
                if state.file.is_some() {
                    state.holds += 1;
                    return Ok(Hold { lock: self });
                }
                if turn.is_none() {
                    turn = self.take_turn()?;
                }
                match turn {
                    None => self.busy(),
                    Some(_) => match take(&self.path) {
                        Ok(file) => {
                            state.file = Some(file);
                            state.holds += 1;
                            return Ok(Hold { lock: self });
                        }
                        Err(busy @ StoreError::Busy { .. }) => busy,
                        Err(error) => return Err(error),
                    },
                }
            };
            let StoreError::Busy { holder, .. } = &error else { return Err(error) };
            if started.elapsed() >= patience || !waiting(holder) {
                return Err(error);
            }
            std::thread::sleep(if turn.is_some() { NEXT } else { QUEUED });
        }
    }

    /// Returns `true` while somebody holds the lock. Creates no file.
    pub(crate) fn is_held(&self) -> bool {
        let held = |file: File| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
        self.state().file.is_some() || File::open(&self.path).is_ok_and(held)
    }

    /// Takes the turn, unless another process has it.
    fn take_turn(&self) -> Result<Option<Turn>> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&self.turn);
        let Ok(file) = file else {
            // A full disk has no room for the turn. Writing works without it, in random order.
            return Ok(Some(Turn(None)));
        };
        match file.try_lock() {
            Ok(()) => Ok(Some(Turn(Some(file)))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(StoreError::locking(&self.turn, error)),
        }
    }

    fn busy(&self) -> StoreError {
        let holder = File::open(&self.path).map_or_else(|_| UNNAMED_HOLDER.to_owned(), |mut file| name(&mut file));
        StoreError::Busy { path: self.path.clone(), holder }
    }
}

/// The right to try for the lock, until dropped.
#[derive(Debug)]
struct Turn(Option<File>);

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.iter().for_each(release);
    }
}

/// Unlocks a file. Closing it would do the same, but a child process that is being started shares the file until it runs its
/// own program.
fn release(file: &File) {
    let _ = file.unlock();
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        let mut state = self.lock.state();
        state.holds -= 1;
        if state.holds == 0
            && let Some(file) = state.file.take()
        {
            release(&file);
        }
    }
}

/// The holder of a lock file, in its own words. On some systems a locked file cannot be read, and the holder stays unnamed.
fn name(file: &mut File) -> String {
    let mut holder = String::new();
    match file.read_to_string(&mut holder) {
        Ok(_) if !holder.trim().is_empty() => holder.trim().to_owned(),
        _ => UNNAMED_HOLDER.to_owned(),
    }
}

fn take(path: &Path) -> Result<File> {
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(|error| StoreError::io(path, "opening the lock file", error))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(StoreError::Busy { path: path.to_owned(), holder: name(&mut file) });
        }
        Err(TryLockError::Error(error)) => return Err(StoreError::locking(path, error)),
    }
    let program = std::env::current_exe()
        .ok()
        .and_then(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()))
        .unwrap_or_default();
    let name = format!("process {} {program}", std::process::id());
    // The name only serves the message of another process, so a full disk must not stop this one.
    let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(name.trim().as_bytes()));
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_lock_is_refused_by_name_until_the_last_share_is_gone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("write.lock");
        let (first, second) = (WriteLock::new(path.clone()), WriteLock::new(path));
        let one = first.hold().unwrap();
        let two = first.hold().unwrap();
        let error = second.hold().unwrap_err();
        assert!(error.to_string().contains(&format!("process {}", std::process::id())), "{error}");
        drop(one);
        assert!(matches!(second.hold(), Err(StoreError::Busy { .. })));
        assert!(first.is_held() && second.is_held());
        drop(two);
        assert!(!first.is_held() && !second.is_held());
        let _ = second.hold().unwrap();
        let _ = first.hold().unwrap();
    }
    #[test]
    fn whoever_waits_is_served_before_one_that_wants_the_lock_back() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("write.lock");
        let (greedy, patient) = (WriteLock::new(path.clone()), WriteLock::new(path));
        let held = greedy.hold().unwrap();
        let (told, waits) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                let served = patient.wait(Duration::MAX, &mut |holder| {
                    told.send(holder.to_owned()).unwrap();
                    true
                });
                drop(served.unwrap());
            });
            let holder = waits.recv().unwrap();
            assert!(holder.contains(&format!("process {}", std::process::id())), "{holder}");
            // Another share needs no turn, so that what is begun can be ended.
            drop(greedy.hold().unwrap());
            drop(held);
            // From now on the waiter is next, until it has been served.
            while !waiter.is_finished() {
                if let Ok(again) = greedy.hold() {
                    assert!(waiter.is_finished() || served(&waiter), "the lock was taken back from one that waited");
                    drop(again);
                }
            }
        });
        drop(greedy.hold().unwrap());
    }

    /// A served thread may still have to end.
    fn served(waiter: &std::thread::ScopedJoinHandle<'_, ()>) -> bool {
        let started = Instant::now();
        while !waiter.is_finished() && started.elapsed() < Duration::from_secs(60) {
            std::thread::yield_now();
        }
        waiter.is_finished()
    }

    #[test]
    fn waiting_ends_when_patience_does() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("write.lock");
        let (first, second) = (WriteLock::new(path.clone()), WriteLock::new(path));
        let _held = first.hold().unwrap();
        assert!(!WriteLock::new(directory.path().join("none.lock")).is_held());
        assert!(matches!(second.wait(Duration::ZERO, &mut |_| true), Err(StoreError::Busy { .. })));
        assert!(matches!(second.wait(Duration::MAX, &mut |_| false), Err(StoreError::Busy { .. })));
    }
}
