//! Reads a project's configuration file, which came with the project and is untrusted.

use std::io;
use std::path::Path;

use crate::file::untrusted::read_linked;
use crate::index_location::INDEX_DIRECTORY;

/// Longest configuration file, in bytes.
const LONGEST: u64 = 1 << 20;

/// Reads the whole file. It may be a link that stays in the project, and must be a regular file of at most [`LONGEST`] bytes.
///
/// # Errors
/// The file is missing, or is not such a file.
pub(crate) fn read(file: &Path) -> io::Result<Vec<u8>> {
    let root = root(file);
    read_linked(root, file.strip_prefix(root).unwrap_or(file), LONGEST)
}

/// Reads the file as text.
///
/// # Errors
/// Those of [`read`], and invalid UTF-8.
pub(crate) fn read_text(file: &Path) -> io::Result<String> {
    String::from_utf8(read(file)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
}

/// Returns the root of the project that a configuration file belongs to.
fn root(file: &Path) -> &Path {
    let directory = file.parent().unwrap_or(Path::new(""));
    match directory.parent() {
        Some(root) if directory.ends_with(INDEX_DIRECTORY) => or_current(root),
        _ => or_current(directory),
    }
}

fn or_current(directory: &Path) -> &Path {
    if directory.as_os_str().is_empty() { Path::new(".") } else { directory }
}
