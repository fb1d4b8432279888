//! The table of what was made, and what it was tested on.

use anyhow::{Context, Result};
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, Table};
use std::fs;
use std::path::PathBuf;

/// The outcome of a test that did not fail.
#[derive(Clone, Debug, PartialEq)]
pub enum Tested {
    /// What was done with the file.
    On(String),
    /// The reason why nothing was.
    NotHere(String),
}

impl Tested {
    fn text(&self) -> String {
        match self {
            Tested::On(what) => what.clone(),
            Tested::NotHere(reason) => format!("not tested here: {reason}"),
        }
    }
}

/// A finished file.
#[derive(Debug)]
pub struct Artefact {
    /// The file.
    pub path: PathBuf,
    /// What it was tested on.
    pub tested: Tested,
}

/// Returns the table as text.
///
/// # Errors
/// A file is not there.
pub fn table(artefacts: &[Artefact]) -> Result<String> {
    let mut table = Table::new();
    table.load_style(NOTHING).force_no_tty().set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["file", "size", "tested on"]);
    for artefact in artefacts {
        let name = artefact.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes =
            fs::metadata(&artefact.path).with_context(|| format!("{} is missing", artefact.path.display()))?.len();
        table.add_row([name, size(bytes), artefact.tested.text()]);
    }
    if let Some(column) = table.column_mut(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    Ok(table.lines().map(|line| format!("{}\n", line.trim_end())).collect())
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_has_a_size_and_says_what_it_was_tested_on() {
        let directory = tempfile::tempdir().expect("a directory");
        let artefact = |name: &str, bytes: usize, tested| {
            let path = directory.path().join(name);
            fs::write(&path, vec![0; bytes]).expect("written");
            Artefact { path, tested }
        };
        let artefacts = [
            artefact("tamis.deb", 1_250_000, Tested::On("a clean Debian".into())),
            artefact("tamis.rb", 900, Tested::NotHere("ruby is missing".into())),
        ];
        let text = table(&artefacts).expect("a table");
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        assert_eq!(
            lines,
            [
                "file         size  tested on",
                "tamis.deb  1.2 MB  a clean Debian",
                "tamis.rb   0.9 kB  not tested here: ruby is missing",
            ]
        );
    }
}
