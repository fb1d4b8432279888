//! The processes that use the server, counted by a shared lock, which the system ends with its process.

use anyhow::{Context, Result};
use std::fs::{File, TryLockError};
use std::path::Path;

/// One user of the server.
#[derive(Debug)]
pub struct Users {
    file: File,
}

impl Users {
    /// Joins the users.
    ///
    /// # Errors
    /// The file cannot be made or locked.
    pub fn join(directory: &Path) -> Result<Users> {
        let path = directory.join("users");
        let file = File::create(&path).with_context(|| path.display().to_string())?;
        file.lock_shared().with_context(|| path.display().to_string())?;
        Ok(Users { file })
    }

    /// Leaves the users. Returns true for the last one.
    ///
    /// # Errors
    /// The lock cannot be changed.
    pub fn leave(self) -> Result<bool> {
        self.file.unlock()?;
        match self.file.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_to_leave_learns_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let [first, second] = [(); 2].map(|()| Users::join(directory.path()).expect("joined"));
        assert!(!first.leave().expect("left"));
        let third = Users::join(directory.path()).expect("joined");
        assert!(!second.leave().expect("left"));
        assert!(third.leave().expect("left"));
    }
}
