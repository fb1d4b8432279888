//! Paths of files that belong to a database.

use std::path::{Path, PathBuf};

/// The file whose name is that of `path` followed by `suffix`.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// The write-ahead log of the database at `path`.
pub(crate) fn log_path(path: &Path) -> PathBuf {
    beside(path, "-wal")
}

/// The size of the write-ahead log in bytes; 0 if there is none.
pub(crate) fn log_bytes(path: &Path) -> u64 {
    std::fs::metadata(log_path(path)).map_or(0, |log| log.len())
}

/// Returns `true` if the write-ahead log holds changes that the database's file lacks.
pub(crate) fn has_log(path: &Path) -> bool {
    log_bytes(path) > 0
}
