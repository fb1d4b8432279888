//! What tells a file from the one that took its name.

use std::path::Path;
use std::time::SystemTime;

/// A file's length, time and number: a file that is replaced whole never keeps all three.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) length: u64,
    pub(crate) modified: Option<SystemTime>,
    pub(crate) file: u64,
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

/// Which file stands under a name, whatever is written to it. As long as one is open, no other has the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId {
    device: u64,
    file: u64,
    made: Option<SystemTime>,
}

impl FileId {
    /// The file at a path, where there is one.
    pub(crate) fn of(path: &Path) -> Option<FileId> {
        let metadata = std::fs::metadata(path).ok()?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            Some(FileId { device: metadata.dev(), file: metadata.ino(), made: None })
        }
        #[cfg(not(unix))]
        Some(FileId { device: 0, file: 0, made: metadata.created().ok() })
    }
}
