//! Reading a project's configuration file, which came with the project.

use crate::file::foreign::read_linked;
use crate::location::INDEX_DIRECTORY;
use std::io;
use std::path::Path;

/// The longest configuration file that is read, in bytes.
const LONGEST: u64 = 1 << 20;

/// Reads it whole. It may be a link that stays in the project, and must be a regular file of a sensible size.
///
/// # Errors
/// It is not there, or is not such a file.
pub(super) fn read(file: &Path) -> io::Result<Vec<u8>> {
    let root = root(file);
    read_linked(root, file.strip_prefix(root).unwrap_or(file), LONGEST)
}

/// The same as text.
///
/// # Errors
/// As [`read`], and where it is not UTF-8.
pub(super) fn read_text(file: &Path) -> io::Result<String> {
    String::from_utf8(read(file)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
}

/// The root of the project that a configuration file belongs to.
fn root(file: &Path) -> &Path {
    let directory = file.parent().unwrap_or(Path::new(""));
    match directory.parent() {
        Some(root) if directory.ends_with(INDEX_DIRECTORY) => here(root),
        _ => here(directory),
    }
}

fn here(directory: &Path) -> &Path {
    if directory.as_os_str().is_empty() { Path::new(".") } else { directory }
}
