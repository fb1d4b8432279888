//! Readable messages for errors of Tantivy, whose own are mostly debug prints.

use std::io;

use tantivy::TantivyError;
use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError, OpenWriteError};

/// The underlying failure of the file system, if there is one.
pub(crate) fn of_file_system(error: &TantivyError) -> Option<&io::Error> {
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
    use std::path::PathBuf;

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
