//! What tells a file from the one that took its name.

use std::path::Path;
use std::time::SystemTime;

/// A file's length, time and number: a file that is replaced whole never keeps all three.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
    file: u64,
}

impl Stamp {
    /// The stamp of the file at a path, where there is one.
    pub(crate) fn of(path: &Path) -> Option<Stamp> {
        let metadata = std::fs::metadata(path).ok()?;
        #[cfg(unix)]
        let file = std::os::unix::fs::MetadataExt::ino(&metadata);
        #[cfg(not(unix))]
        let file = 0;
        Some(Stamp { length: metadata.len(), modified: metadata.modified().ok(), file })
    }
}
