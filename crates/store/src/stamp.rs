//! Distinguishes a file from another one that took its name.

use std::path::Path;
use std::time::SystemTime;

/// A file's length, time and number. A file that replaces it never has the same three.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) length: u64,
    pub(crate) modified: Option<SystemTime>,
    pub(crate) file: u64,
}

impl Stamp {
    /// The stamp of the file at a path, if it exists.
    pub(crate) fn of(path: &Path) -> Option<Stamp> {
        let metadata = std::fs::metadata(path).ok()?;
        #[cfg(unix)]
        let file = std::os::unix::fs::MetadataExt::ino(&metadata);
        #[cfg(not(unix))]
        let file = 0;
        Some(Stamp { length: metadata.len(), modified: metadata.modified().ok(), file })
    }
}

/// The identity of a file, whatever is written to it. While a file is open, no other file has the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId {
    device: u64,
    file: u64,
    created: Option<SystemTime>,
}

impl FileId {
    /// The identity of the file at a path, if it exists.
    pub(crate) fn of(path: &Path) -> Option<FileId> {
        let metadata = std::fs::metadata(path).ok()?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            Some(FileId { device: metadata.dev(), file: metadata.ino(), created: None })
        }
        #[cfg(not(unix))]
        Some(FileId { device: 0, file: 0, created: metadata.created().ok() })
    }
}
