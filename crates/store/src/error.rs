//! What can go wrong in a store, with the path it happened at and the way out.

use std::path::{Path, PathBuf};

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
    #[error(
        "{path}: not writable: {reason}; what was committed stays; make the directory writable or open it read-only"
    )]
    ReadOnly {
        /// What was to be written.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The file system is full.
    #[error("{path}: no space left on the device; what was committed stays; free some space and run again")]
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
    /// The file that was opened is not the one that stands there now: somebody deleted or replaced it.
    #[error(
        "{path}: {what} since it was opened, and nothing more is read from it or written there; {}",
        if *gone { "make the index again with `tamis index`, or put it back" } else { "start this program again to use the new one" }
    )]
    Replaced {
        /// The file.
        path: PathBuf,
        /// What happened to it.
        what: &'static str,
        /// Whether nothing stands in its place.
        gone: bool,
    },
    /// There is no index here, and it was not to be made.
    #[error("{path}: no index here; index first, or name the directory that holds one")]
    Missing {
        /// The directory.
        path: PathBuf,
    },
    /// The database was written by a newer version of the program.
    #[error(
        "{path}: written with schema version {found}, this program reads up to {supported}; upgrade the program, or {}",
        aside(path)
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
    #[error("{path}: damaged: {reason}; restore that file from a copy, or {}", aside(path))]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What was found.
        reason: String,
    },
    /// A directory that is read-only, or has no room, holds changes that can only be read by someone who can write.
    #[error(
        "{path}: holds unfinished changes, and the directory is read-only or its disk full; open it once where it can be written, or copy it"
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

/// How to go on without a file. It is kept, since none of these advices may cost what cannot be made again.
fn aside(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let then = match name.as_str() {
        "usage.db" => "go on with an empty log; keep the moved file, it holds what was judged",
        "tamis.db" => "index again; keep the moved file, since what was imported or made known is in it alone",
        _ => "go on without it",
    };
    format!("move it away (`mv {name} {name}.aside`) and {then}")
}

impl StoreError {
    /// The file at `path`, opened before, is gone or another one.
    pub(crate) fn replaced(path: &Path) -> StoreError {
        let gone = !path.exists();
        let what = if gone { "it was deleted" } else { "it was replaced by another file" };
        StoreError::Replaced { path: path.to_owned(), what, gone }
    }

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
        if lacks_room(&error) {
            return StoreError::Full { path };
        }
        match error.sqlite_error_code() {
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
        if let tantivy::TantivyError::IoError(source) = &error {
            let source = std::io::Error::new(source.kind(), source.to_string());
            return match StoreError::io(path, "lexical index", source) {
                StoreError::Io { source, .. } => {
                    StoreError::Lexical { path: path.to_owned(), reason: source.to_string() }
                }
                known => known,
            };
        }
        StoreError::Lexical { path: path.to_owned(), reason: error.to_string() }
    }
}

/// Whether an error of SQLite says that there is no room. The memory that its connections share is a file as well, and one
/// that cannot grow is reported as any other failure of input and output.
pub(crate) fn lacks_room(error: &rusqlite::Error) -> bool {
    use rusqlite::ffi::{SQLITE_FULL, SQLITE_IOERR_SHMMAP, SQLITE_IOERR_SHMSIZE};
    let code = error.sqlite_error().map(|error| error.extended_code);
    matches!(code, Some(SQLITE_FULL | SQLITE_IOERR_SHMSIZE | SQLITE_IOERR_SHMMAP))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_advice_throws_away_what_was_judged_or_imported() {
        for name in ["usage.db", "tamis.db", "embeddings.db"] {
            let path = Path::new("here").join(name);
            let reason = "page 7".to_owned();
            let advice = StoreError::Corrupt { path: path.clone(), reason }.to_string();
            let newer = StoreError::Newer { path, found: 9, supported: 6 }.to_string();
            for message in [advice, newer] {
                assert!(message.contains(&format!("mv {name} {name}.aside")), "{message}");
                assert!(!message.contains("delete"), "{message}");
            }
        }
    }

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
