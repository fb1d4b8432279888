//! One process at a time works on a queue.

use std::fs::File;
use std::path::Path;

/// The right to work on a queue. Whoever is killed loses it, since the system takes the lock of a file back.
pub struct Lock {
    file: Option<File>,
}

impl Lock {
    /// Takes the lock of a directory, unless another process holds it.
    pub fn take(directory: &Path) -> Lock {
        let file = File::create(directory.join("mill.lock")).ok();
        Lock { file: file.filter(|file| file.try_lock().is_ok()) }
    }

    /// Whether it was taken.
    pub fn is_held(&self) -> bool {
        self.file.is_some()
    }
}
