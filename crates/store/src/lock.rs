//! One writer at a time: a locked file, held while anything writes.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{Result, StoreError};

/// The lock file of an index, taken while at least one [`Hold`] lives.
#[derive(Debug)]
pub(crate) struct WriteLock {
    path: PathBuf,
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
    pub(crate) fn new(path: PathBuf) -> WriteLock {
        WriteLock { path, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lock, or another share of it; never waits.
    pub(crate) fn hold(&self) -> Result<Hold<'_>> {
        let mut state = self.state();
        if state.file.is_none() {
            state.file = Some(take(&self.path)?);
        }
        state.holds += 1;
        Ok(Hold { lock: self })
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        let mut state = self.lock.state();
        state.holds -= 1;
        if state.holds == 0 {
            // Closing the file releases the lock, also when the process is killed.
            state.file = None;
        }
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
            let mut holder = String::new();
            // On some systems a locked file can not be read: then the holder stays unnamed.
            let read = file.read_to_string(&mut holder);
            if read.is_err() || holder.trim().is_empty() {
                holder = "unnamed".to_owned();
            }
            return Err(StoreError::Busy { path: path.to_owned(), holder: holder.trim().to_owned() });
        }
        Err(TryLockError::Error(error)) => return Err(StoreError::io(path, "locking", error)),
    }
    let program = std::env::current_exe()
        .ok()
        .and_then(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()))
        .unwrap_or_default();
    let name = format!("process {} {program}", std::process::id());
    // The name only serves the message of the next process: a full disk must not stop this one here.
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
        drop(two);
        let _ = second.hold().unwrap();
        let _ = first.hold().unwrap();
    }
}
