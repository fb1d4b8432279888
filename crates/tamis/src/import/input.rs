//! The input of an import: named files, or a stream.

use crate::Error;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The largest input, in bytes.
pub const LARGEST_IMPORT: u64 = 2_000_000_000;

/// The content of one input, with a name for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportInput {
    /// The file's name as the user wrote it, or the name of the stream.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl ImportInput {
    /// Reads a whole file. Symbolic links are followed, since somebody named the file.
    ///
    /// # Errors
    /// The file is missing, is a directory, cannot be read, or is larger than [`LARGEST_IMPORT`].
    pub fn file(path: &Path) -> Result<ImportInput, Error> {
        let (file, size) = open(path)?;
        ImportInput::sized(path.display().to_string(), file, size)
    }

    /// Reads a stream to its end.
    ///
    /// # Errors
    /// The stream cannot be read, or is longer than [`LARGEST_IMPORT`] bytes.
    pub fn stream(name: impl Into<String>, stream: impl Read) -> Result<ImportInput, Error> {
        ImportInput::sized(name.into(), stream, 0)
    }

    fn sized(name: String, stream: impl Read, size: u64) -> Result<ImportInput, Error> {
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        let failed = |error: std::io::Error| Error::path(Path::new(&name), format!("cannot be read: {error}"));
        // A file can grow while it is read, and a stream has no known size.
        stream.take(LARGEST_IMPORT + 1).read_to_end(&mut bytes).map_err(failed)?;
        match bytes.len() as u64 > LARGEST_IMPORT {
            true => Err(too_large(Path::new(&name))),
            false => Ok(ImportInput { name, bytes }),
        }
    }
}

/// Opens a file that somebody named, and returns its size in bytes.
///
/// # Errors
/// As [`ImportInput::file`].
pub(crate) fn open(path: &Path) -> Result<(File, u64), Error> {
    let failed = |error: std::io::Error| Error::path(path, format!("cannot be read: {error}"));
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    match metadata {
        metadata if metadata.is_dir() => Err(Error::path(path, "a directory; name the files to import")),
        metadata if metadata.len() > LARGEST_IMPORT => Err(too_large(path)),
        metadata => Ok((file, metadata.len())),
    }
}

/// Returns the last part of a path, which people call the file's name.
pub(crate) fn file_name(name: &str) -> String {
    Path::new(name).file_name().map_or_else(|| name.to_owned(), |name| name.to_string_lossy().into_owned())
}

pub(crate) fn too_large(path: &Path) -> Error {
    let reason =
        format!("larger than {} GB, the most that is imported at once; divide it", LARGEST_IMPORT / 1_000_000_000);
    Error::path(path, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_too_large_is_refused_before_it_is_read() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("all.json");
        // A sparse file takes no space.
        File::create(&path).and_then(|file| file.set_len(LARGEST_IMPORT + 1)).expect("made");
        let error = ImportInput::file(&path).expect_err("too large").to_string();
        assert!(error.contains("all.json: larger than 2 GB"), "{error}");
    }

    #[test]
    fn a_directory_and_a_file_that_is_not_there_are_named() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let error = ImportInput::file(directory.path()).expect_err("a directory").to_string();
        assert!(error.contains("a directory; name the files"), "{error}");
        let error = ImportInput::file(&directory.path().join("no.json")).expect_err("not there").to_string();
        assert!(error.contains("no.json: cannot be read: "), "{error}");
    }
}
