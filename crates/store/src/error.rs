//! Errors of a store, each with the path and the remedy.

use std::io;
use std::path::{Path, PathBuf};

use tantivy::TantivyError;
use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError, OpenWriteError};

use crate::record::Tree;
use crate::vectors::VectorError;

/// The result of a store's operation.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// An error of a store.
///
/// It contains no type of the underlying database, so that every implementation of [`Store`](crate::Store) reports alike.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The directory or its database cannot be written.
    #[error(
        "{path}: not writable: {reason}; committed changes are kept; {}",
        if path.starts_with("postgres:") {
            "name the primary server, or all servers of the cluster and target_session_attrs=read-write"
        } else {
            "make the directory writable or open it read-only"
        }
    )]
    ReadOnly {
        /// The file or directory.
        path: PathBuf,
        /// The system's message.
        reason: String,
    },
    /// The file system is full.
    #[error("{path}: no space left on the device; committed changes are kept; free some space and run again")]
    Full {
        /// The file or directory.
        path: PathBuf,
    },
    /// Another process, or another store of this process, is writing.
    #[error("{path}: {holder} is writing this index; wait for it to end or stop it")]
    Busy {
        /// The lock file.
        path: PathBuf,
        /// The process that holds it, in its own words.
        holder: String,
    },
    /// Another tree's files are the documents of the namespace.
    #[error(
        "{path}: {} holds the files of {known}, not of {}; {}, or run `tamis index --moved` if it moved",
        tree.namespace,
        tree,
        if path.starts_with("postgres:") {
            "give this tree another name with TAMIS_STORE_NAMESPACE=NAME"
        } else {
            "give this tree another index with --index DIR"
        }
    )]
    OtherTree {
        /// The database or the directory.
        path: PathBuf,
        /// The tree that was to be written.
        tree: Box<Tree>,
        /// The tree of the namespace.
        known: Box<Tree>,
    },
    /// The opened file was deleted, or replaced by another one.
    #[error(
        "{path}: {what} since it was opened; nothing more is read from it or written to it; {}",
        if *gone { "index again, or restore it" } else { "open the index again to use the new file" }
    )]
    Replaced {
        /// The file.
        path: PathBuf,
        /// The event.
        what: &'static str,
        /// True if the path is empty now.
        gone: bool,
    },
    /// There is no index, and a reader does not create one.
    #[error("{path}: no index here; index first, or name the directory that holds one")]
    Missing {
        /// The directory.
        path: PathBuf,
    },
    /// The database was written by another version of the program.
    #[error(
        "{path}: written with schema version {found}, this program needs {needed}; {}{}",
        if found > needed { "upgrade the program, or " } else { "" },
        aside(path)
    )]
    OtherVersion {
        /// The database.
        path: PathBuf,
        /// Its schema version.
        found: u32,
        /// The version that this program needs.
        needed: u32,
    },
    /// The file is not a database, or its content contradicts itself.
    #[error("{path}: damaged: {reason}; restore that file from a copy, or {}", aside(path))]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The finding.
        reason: String,
    },
    /// A directory that is read-only, or full, holds a log that only a writer can read.
    #[error(
        "{path}: holds unfinished changes, and the directory is read-only or its disk full; open it once where it can be written, or copy it"
    )]
    Unfinished {
        /// The write-ahead log.
        path: PathBuf,
    },
    /// Any other failure of the file system.
    #[error("{path}: {action}: {source}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The operation.
        action: &'static str,
        /// The system's message.
        source: std::io::Error,
    },
    /// The database cannot be used now: it does not answer, it starts or stops, or all its connections are taken. Nothing was changed.
    #[error("{path}: {reason}")]
    Unavailable {
        /// The database.
        path: PathBuf,
        /// What it lacks, and when to try again.
        reason: String,
    },
    /// The connection to the database that held the right to write broke, so somebody else may have written since. The change was
    /// not made.
    #[error("{path}: the connection that held the right to write broke, and this change was not made; run again")]
    WriterLost {
        /// The database.
        path: PathBuf,
    },
    /// Any other failure of the database.
    #[error("{path}: database: {reason}")]
    Database {
        /// The database.
        path: PathBuf,
        /// Its message.
        reason: String,
    },
    /// Any other failure of the lexical index.
    #[error("{path}: lexical index: {reason}; delete it to have it rebuilt from the database")]
    Lexical {
        /// The directory of the lexical index.
        path: PathBuf,
        /// Its message.
        reason: String,
    },
    /// The lexical index cannot be searched, and a reader cannot rebuild it.
    #[error("{path}: the lexical index cannot be searched: {reason}; index again, or open the index once for writing")]
    Unpublished {
        /// The directory of the lexical index.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// Any other failure of a vector file.
    #[error("{path}: vector file: {reason}; delete it to have it rebuilt from the database")]
    Vectors {
        /// The vector file.
        path: PathBuf,
        /// The finding.
        reason: String,
    },
    /// A glob that cannot be parsed.
    #[error("path glob {glob:?}: {reason}")]
    Glob {
        /// The glob as given.
        glob: String,
        /// The mistake.
        reason: String,
    },
    /// A vector whose length differs from its model's dimension.
    #[error("model {model}: expected vectors of {expected} dimensions, received {received}")]
    Dimension {
        /// The model.
        model: String,
        /// The model's dimension.
        expected: usize,
        /// The dimension received.
        received: usize,
    },
    /// A vector with a value that is not finite.
    #[error("model {model}: the vector of {what} holds a value that is not finite")]
    NotFinite {
        /// The model.
        model: String,
        /// The owner of the vector.
        what: String,
    },
    /// A document that the store does not have.
    #[error("document {document}: not in the index; read the documents again")]
    UnknownDocument {
        /// The identifier as given.
        document: u32,
    },
    /// A statement that cannot be run within its limits.
    #[error("{error}{}", hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default())]
    Sql {
        /// The mistake.
        error: String,
        /// The remedy.
        hint: Option<String>,
    },
    /// The caller stopped a publication.
    #[error("cancelled")]
    Cancelled,
    /// A value that the store cannot hold.
    #[error("{what}: {reason}")]
    Invalid {
        /// The owner of the value.
        what: String,
        /// The mistake.
        reason: String,
    },
}

/// Advice on going on without a file. The file is kept, because none of the advice may cost data that cannot be restored.
fn aside(path: &Path) -> String {
    if path.to_string_lossy().starts_with("postgres://") {
        return "name another database, and index again or fill it with `tamis store copy`".to_owned();
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let then = match name.as_str() {
        "usage.db" => "go on with an empty log; keep the moved file, it holds what was judged",
        "tamis.db" => "index again; keep the moved file, since what was imported or made known is in it alone",
        _ => "go on without it",
    };
    let path = path.display();
    format!("move it away (`mv {path} {path}.aside`) and {then}")
}

impl StoreError {
    /// A writer with one tree in a namespace of another, `known`.
    pub(crate) fn other_tree(path: &Path, tree: &Tree, known: &Tree) -> StoreError {
        StoreError::OtherTree { path: path.to_owned(), tree: Box::new(tree.clone()), known: Box::new(known.clone()) }
    }

    /// The opened file at `path` was deleted or replaced.
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

    /// An error of locking the file at `path`.
    pub(crate) fn locking(path: &Path, source: std::io::Error) -> StoreError {
        const WAY_OUT: &str = "the file system has no working file locks, as on a network drive: mount it with locks, or keep the index \
             on a local disk with --index DIR (TAMIS_INDEX)";
        let source = std::io::Error::new(source.kind(), format!("{source}; {WAY_OUT}"));
        StoreError::io(path, "locking", source)
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
                StoreError::Busy { path, holder: "another process".to_owned() }
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
        if let Some(source) = of_file_system(&error) {
            let source = std::io::Error::new(source.kind(), source.to_string());
            return match StoreError::io(path, "lexical index", source) {
                StoreError::Io { .. } => StoreError::Lexical { path: path.to_owned(), reason: reason(&error) },
                known => known,
            };
        }
        StoreError::Lexical { path: path.to_owned(), reason: reason(&error) }
    }
}

/// Returns `true` if an error of SQLite means a full disk. The shared memory of its connections is a file too, and
/// SQLite reports one that cannot grow as a general I/O error.
pub(crate) fn lacks_room(error: &rusqlite::Error) -> bool {
    use rusqlite::ffi::{SQLITE_FULL, SQLITE_IOERR_SHMMAP, SQLITE_IOERR_SHMSIZE};
    let code = error.sqlite_error().map(|error| error.extended_code);
    matches!(code, Some(SQLITE_FULL | SQLITE_IOERR_SHMSIZE | SQLITE_IOERR_SHMMAP))
}

/// The underlying failure of the file system, if there is one.
fn of_file_system(error: &TantivyError) -> Option<&io::Error> {
    match error {
        TantivyError::IoError(error)
        | TantivyError::LockFailure(LockError::IoError(error), _)
        | TantivyError::OpenDirectoryError(
            OpenDirectoryError::IoError { io_error: error, .. } | OpenDirectoryError::FailedToCreateTempDir(error),
        )
        | TantivyError::OpenReadError(OpenReadError::IoError { io_error: error, .. })
        | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error: error, .. }) => Some(error),
        _ => None,
    }
}

/// The error as a sentence.
pub(crate) fn reason(error: &TantivyError) -> String {
    if let Some(system) = of_file_system(error) {
        return match file_of(error) {
            Some(file) => format!("{file}: {system}"),
            None => system.to_string(),
        };
    }
    match error {
        TantivyError::OpenDirectoryError(error) => error.to_string(),
        TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(file)) => {
            format!("{}: the file is gone", file.display())
        }
        TantivyError::OpenReadError(OpenReadError::IncompatibleIndex(_)) | TantivyError::IncompatibleIndex(_) => {
            "it was written by another version".to_owned()
        }
        TantivyError::OpenWriteError(error) => error.to_string(),
        TantivyError::LockFailure(..) => "another process is writing it".to_owned(),
        // The debug print of the damage is a sentence in quotation marks.
        TantivyError::DataCorruption(damage) => format!("{damage:?}").trim_end_matches('.').to_owned(),
        other => other.to_string(),
    }
}

fn file_of(error: &TantivyError) -> Option<String> {
    match error {
        TantivyError::OpenDirectoryError(OpenDirectoryError::IoError { directory_path: file, .. })
        | TantivyError::OpenReadError(OpenReadError::IoError { filepath: file, .. })
        | TantivyError::OpenWriteError(OpenWriteError::IoError { filepath: file, .. }) => {
            Some(file.display().to_string())
        }
        _ => None,
    }
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
            let newer = StoreError::OtherVersion { path: path.clone(), found: 9, needed: 6 }.to_string();
            let older = StoreError::OtherVersion { path: path.clone(), found: 1, needed: 6 }.to_string();
            for message in [advice, newer, older] {
                let moved = format!("mv {} {}.aside", path.display(), path.display());
                assert!(message.contains(&moved), "{message}");
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

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_system_without_locks_and_a_full_disk_are_named_in_every_engine() {
        // ENOLCK, ENOSYS and EOPNOTSUPP.
        for number in [37, 38, 95] {
            let source = std::io::Error::from_raw_os_error(number);
            let said = StoreError::locking(Path::new("/mnt/index/write.lock"), source).to_string();
            for part in ["/mnt/index/write.lock", "os error", "no working file locks", "--index"] {
                assert!(said.contains(part), "{part}: {said}");
            }
        }
        let denied = StoreError::locking(Path::new("write.lock"), std::io::ErrorKind::PermissionDenied.into());
        assert!(matches!(denied, StoreError::ReadOnly { .. }), "{denied}");
        let path = Path::new("index");
        let sqlite = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL), None);
        assert!(matches!(StoreError::sqlite(path, sqlite), StoreError::Full { .. }));
        let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
        assert!(matches!(StoreError::tantivy(path, full.into()), StoreError::Full { .. }));
    }

    #[test]
    fn no_value_is_printed_as_the_program_has_it() {
        let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
        let file = || PathBuf::from("meta.json");
        for error in [
            TantivyError::from(denied()),
            OpenReadError::wrap_io_error(denied(), file()).into(),
            OpenReadError::FileDoesNotExist(file()).into(),
            OpenWriteError::wrap_io_error(denied(), file()).into(),
            OpenWriteError::FileAlreadyExists(file()).into(),
            OpenDirectoryError::wrap_io_error(denied(), file()).into(),
            OpenDirectoryError::DoesNotExist(file()).into(),
            LockError::wrap_io_error(denied()).into(),
            LockError::LockBusy.into(),
            tantivy::error::DataCorruption::new(file(), "a checksum is wrong".to_owned()).into(),
        ] {
            let text = reason(&error);
            for printed in ["IoError", "Os {", "Custom {", "Some(", "Kind(", "io_error", "LockBusy", "DoesNotExist("] {
                assert!(!text.contains(printed), "{printed}: {text}");
            }
            assert_eq!(of_file_system(&error).is_some(), text.contains("permission denied"), "{text}");
        }
        let missing = reason(&OpenReadError::wrap_io_error(denied(), file()).into());
        assert_eq!(missing, "meta.json: permission denied");
    }
}
