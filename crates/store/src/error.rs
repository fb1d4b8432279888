//! What can go wrong in a store, with the path it happened at and the way out.

use std::path::{Path, PathBuf};

use crate::lexical::failure;
use crate::vectors::VectorError;

/// The result of a store's operation.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// What can go wrong in a store.
///
/// No type of the database underneath appears in it, so that every implementation of
/// [`Store`](crate::Store) reports alike.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The directory or its database can not be written.
    #[error("{path}: not writable: {reason}; the index is unchanged; make the directory writable or open it read-only")]
    ReadOnly {
        /// What was to be written.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The file system is full.
    #[error("{path}: no space left on the device; the index is unchanged; free some space and run again")]
    Full {
        /// What was to be written.
        path: PathBuf,
    },
    /// Another process, or another store of this process, is writing.
    #[error("{path}: another process is writing this index ({holder}); wait for it to end or stop it")]
    Busy {
        /// The lock file.
        path: PathBuf,
        /// Who holds it, as it described itself.
        holder: String,
    },
    /// There is no index here, and it was not to be made.
    #[error("{path}: no index here; index first, or name the directory that holds one")]
    Missing {
        /// The directory.
        path: PathBuf,
    },
    /// The database was written by a newer version of the program.
    #[error(
        "{path}: written with schema version {found}, this program reads up to {supported}; upgrade the program, or delete that file and index again"
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its schema version.
        found: u32,
        /// The newest that this program reads.
        supported: u32,
    },
    /// The database was written by an older version and may not be upgraded now.
    #[error(
        "{path}: written with schema version {found}, this program needs {supported} and may not upgrade a read-only index; open it once with the right to write"
    )]
    Older {
        /// The database.
        path: PathBuf,
        /// Its schema version.
        found: u32,
        /// The version that this program needs.
        supported: u32,
    },
    /// The database is no database, or its content contradicts itself.
    #[error("{path}: damaged: {reason}; restore that file from a copy, or delete it and index again")]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What was found.
        reason: String,
    },
    /// A read-only directory holds changes that can only be read by someone who may write.
    #[error(
        "{path}: holds unfinished changes and the directory is read-only; open it once with the right to write, or copy it"
    )]
    Unfinished {
        /// The write-ahead log that can not be replayed.
        path: PathBuf,
    },
    /// Any other failure of the file system.
    #[error("{path}: {action}: {source}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What was being done.
        action: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// Any other failure of the database.
    #[error("{path}: database: {reason}")]
    Database {
        /// The database.
        path: PathBuf,
        /// What it said.
        reason: String,
    },
    /// Any other failure of the lexical index.
    #[error("{path}: lexical index: {reason}; it can be deleted, it is rebuilt from the database")]
    Lexical {
        /// The directory of the lexical index.
        path: PathBuf,
        /// What it said.
        reason: String,
    },
    /// The lexical index can not be searched and not be rebuilt by whoever asks.
    #[error(
        "{path}: no lexical index to search: {reason}; index again, or open the index once with the right to write"
    )]
    Unpublished {
        /// The directory of the lexical index.
        path: PathBuf,
        /// What stands there.
        reason: String,
    },
    /// Any other failure of a vector file.
    #[error("{path}: vector file: {reason}; it can be deleted, it is rebuilt from the database")]
    Vectors {
        /// The vector file.
        path: PathBuf,
        /// What was found.
        reason: String,
    },
    /// A glob that can not be parsed.
    #[error("path glob {glob:?}: {reason}")]
    Glob {
        /// The glob as given.
        glob: String,
        /// Why it is none.
        reason: String,
    },
    /// A vector of another length than its model's.
    #[error("model {model}: expected vectors of {expected} dimensions, received {received}")]
    Dimension {
        /// The model.
        model: String,
        /// The dimension it is known with.
        expected: usize,
        /// The dimension received.
        received: usize,
    },
    /// A vector that holds a value which is not a finite number.
    #[error("model {model}: the vector of {what} holds a value that is not finite")]
    NotFinite {
        /// The model.
        model: String,
        /// Whose vector it is.
        what: String,
    },
    /// A document that is not, or no longer, in the store.
    #[error("document {document}: not in the index; read the documents again")]
    UnknownDocument {
        /// The identifier as given.
        document: u32,
    },
    /// A statement that can not be run, or not under its limits.
    #[error("{error}{}", hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default())]
    Sql {
        /// What is wrong.
        error: String,
        /// What would do.
        hint: Option<String>,
    },
    /// A value that the store can not hold.
    #[error("{what}: {reason}")]
    Invalid {
        /// What the value belongs to.
        what: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl StoreError {
    /// An error of the file system at `path` while doing `action`.
    pub(crate) fn io(path: &Path, action: &'static str, source: std::io::Error) -> StoreError {
        use std::io::ErrorKind;
        match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StoreError::Full { path: path.to_owned() },
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                StoreError::ReadOnly { path: path.to_owned(), reason: source.to_string() }
            }
            _ => StoreError::Io { path: path.to_owned(), action, source },
        }
    }

    /// An error of SQLite on the database at `path`.
    pub(crate) fn sqlite(path: &Path, error: rusqlite::Error) -> StoreError {
        use rusqlite::ErrorCode;
        let path = path.to_owned();
        let reason = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => StoreError::Full { path },
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                StoreError::ReadOnly { path, reason }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                StoreError::Busy { path, holder: "the database stayed locked".to_owned() }
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Corrupt { path, reason },
            _ => StoreError::Database { path, reason },
        }
    }

    /// An error of the vector files, on the one of `model` at `path`.
    pub(crate) fn vectors(path: &Path, model: &str, error: VectorError) -> StoreError {
        match error {
            VectorError::Dimension { expected, received } => {
                StoreError::Dimension { model: model.to_owned(), expected, received }
            }
            VectorError::NonFinite { passage, .. } => {
                StoreError::NotFinite { model: model.to_owned(), what: format!("passage {passage}") }
            }
            VectorError::NonFiniteQuery { .. } => {
                StoreError::NotFinite { model: model.to_owned(), what: "the query".to_owned() }
            }
            VectorError::Io { path, source } => StoreError::io(&path, "vector file", source),
            other => StoreError::Vectors { path: path.to_owned(), reason: other.to_string() },
        }
    }

    /// An error of Tantivy on the index in `path`.
    pub(crate) fn tantivy(path: &Path, error: tantivy::TantivyError) -> StoreError {
        if let Some(source) = failure::of_file_system(&error) {
            let source = std::io::Error::new(source.kind(), source.to_string());
            return match StoreError::io(path, "lexical index", source) {
                StoreError::Io { .. } => StoreError::Lexical { path: path.to_owned(), reason: failure::reason(&error) },
                known => known,
            };
        }
        StoreError::Lexical { path: path.to_owned(), reason: failure::reason(&error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_and_read_only_file_systems_are_told_apart() {
        let path = Path::new("index");
        let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
        assert!(matches!(StoreError::io(path, "writing", full), StoreError::Full { .. }));
        let read_only = std::io::Error::from(std::io::ErrorKind::ReadOnlyFilesystem);
        let error = StoreError::io(path, "writing", read_only);
        assert!(matches!(error, StoreError::ReadOnly { .. }));
        assert!(error.to_string().starts_with("index: not writable"));
        let other = std::io::Error::from(std::io::ErrorKind::NotFound);
        assert!(matches!(StoreError::io(path, "reading", other), StoreError::Io { .. }));
    }

    #[test]
    fn a_full_disk_is_named_in_every_engine() {
        let path = Path::new("index");
        let sqlite = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL), None);
        assert!(matches!(StoreError::sqlite(path, sqlite), StoreError::Full { .. }));
        let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
        assert!(matches!(StoreError::tantivy(path, full.into()), StoreError::Full { .. }));
    }
}
