//! Issues in every format, and the documents made of them.

mod archive;
mod broken;
mod documents;
mod formats;
#[path = "../../../cli/tests/commands/json_schema.rs"]
mod json_schema;
mod properties;
mod schema;
mod strategies;

use std::fs;
use std::path::Path;

use tamis_text::{IssueArchive, read_issues};

/// The bytes of a fixture.
fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/issues/fixtures").join(name);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The archive of readable bytes.
fn read(bytes: &[u8]) -> IssueArchive {
    read_issues(bytes).unwrap_or_else(|error| panic!("{error}"))
}

/// The bad records, each as `position: reason`.
fn bad(archive: &IssueArchive) -> Vec<String> {
    archive.bad.iter().map(|bad| format!("{}: {}", bad.position, bad.reason)).collect()
}
