//! `SHA256SUMS`, in the format of `sha256sum`.

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The name of the file.
pub const FILE: &str = "SHA256SUMS";

/// Returns the SHA-256 of a file in hexadecimal.
///
/// # Errors
/// It cannot be read.
pub fn sha256(path: &Path) -> Result<String> {
    let bytes = fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(&bytes) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

/// Writes the checksums of files into their directory, sorted by name, and returns the path of the list.
///
/// # Errors
/// A file cannot be read, or the list cannot be written.
pub fn write(directory: &Path, files: &[PathBuf]) -> Result<PathBuf> {
    let mut lines = Vec::new();
    for file in files {
        let name = file.file_name().context("a file has no name")?.to_string_lossy().into_owned();
        lines.push((name, sha256(file)?));
    }
    lines.sort();
    let text: String = lines.iter().map(|(name, sum)| format!("{sum}  {name}\n")).collect();
    let path = directory.join(FILE);
    fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_in_the_format_of_sha256sum() {
        let directory = tempfile::tempdir().expect("a directory");
        let files = ["b.tar.gz", "a.deb"].map(|name| directory.path().join(name));
        for file in &files {
            fs::write(file, "abc").expect("written");
        }
        let list = write(directory.path(), &files).expect("written");
        // The first test vector of FIPS 180-2.
        let sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(fs::read_to_string(list).expect("read"), format!("{sum}  a.deb\n{sum}  b.tar.gz\n"));
    }
}
