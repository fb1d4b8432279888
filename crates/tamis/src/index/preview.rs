//! What a run would read, found without an index.

use super::report::MOST_NAMED;
use super::walk::{is_by_size, skip_by_path, walk};
use crate::Error;
use crate::config::Config;
use crate::handle::Source;
use crate::lookup::reason;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Bytes a second of a first run with the quick model, on two cores.
const BYTES_A_SECOND: f64 = 6e6;
/// Seconds that each file costs besides.
const SECONDS_A_FILE: f64 = 0.0003;

/// More files, or more bytes, than this are not read without a confirmation: so large a tree is mostly a mistake.
pub(super) const MOST_FILES: u64 = 200_000;
pub(super) const MOST_BYTES: u64 = 5_000_000_000;

/// What a run would read of some directories.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Preview {
    /// The directories.
    pub directories: Vec<PathBuf>,
    /// Number of files to read.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Estimated seconds of a first run with the quick model.
    pub seconds: f64,
    /// Number of files left out by their name or size, by kind. More can be left out for their content.
    pub skipped: BTreeMap<String, u64>,
    /// The first of these files by their paths, each with the reason as a sentence.
    pub left_out: BTreeMap<String, String>,
    /// Files and directories that cannot be listed, with the reason.
    pub unreadable: Vec<String>,
    /// Remarks for people on faults that they can fix.
    pub remarks: Vec<String>,
}

impl Preview {
    /// Looks at directories as an index run does, without reading a file or writing anything. `index` is never part of them.
    ///
    /// # Errors
    /// A glob of the configuration is invalid.
    pub fn of(directories: &[PathBuf], index: &Path, config: &Config) -> Result<Preview, Error> {
        let mut preview = Preview { directories: directories.to_vec(), ..Preview::default() };
        for root in directories {
            let source = Source { root: root.clone(), ..Source::default() };
            let invalid = |error: ignore::Error| {
                Error::argument("index.ignore", format!("{:?}", config.index.ignore), format!("globs ({error})"))
            };
            let found = walk(&source, index, &config.index).map_err(invalid)?;
            let place = |path: &str| match directories.len() {
                1 => path.to_owned(),
                _ => root.join(path).display().to_string(),
            };
            let mut name = |path: &str, kind: &str| {
                if preview.left_out.len() < MOST_NAMED {
                    preview.left_out.insert(place(path), reason(path, kind));
                }
            };
            for (path, kind) in &found.left_out {
                name(path, kind);
            }
            for file in &found.files {
                match skip_by_path(&file.path, file.size, &config.index).filter(|skip| is_by_size(*skip)) {
                    Some(skip) => {
                        name(&file.path, skip.as_str());
                        *preview.skipped.entry(skip.as_str().to_owned()).or_default() += 1;
                    }
                    None => {
                        preview.files += 1;
                        preview.bytes += file.size;
                    }
                }
            }
            for (kind, count) in found.skipped {
                *preview.skipped.entry(kind.to_owned()).or_default() += count;
            }
            preview.unreadable.extend(found.unreadable.into_iter().map(|(_, reason)| reason));
            preview.remarks.extend(found.remarks);
        }
        preview.seconds = preview.bytes as f64 / BYTES_A_SECOND + preview.files as f64 * SECONDS_A_FILE;
        Ok(preview)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_preview_counts_what_a_run_would_read_and_writes_nothing() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let root = directory.path().to_owned();
        for (path, text) in [
            ("a.md", "# A\n"),
            ("sub/b.rs", "fn b() {}\n"),
            (".env", "A=fakevalue0000\n"),
            ("c.log", "x\n"),
            (".gitignore", "*.log\n"),
        ] {
            fs::create_dir_all(root.join(path).parent().expect("a parent")).expect("made");
            fs::write(root.join(path), text).expect("written");
        }
        fs::write(root.join("large.rs"), "// x\n".repeat(300_000)).expect("written");
        let preview =
            Preview::of(std::slice::from_ref(&root), &root.join(".tamis"), &Config::built_in()).expect("listed");
        assert_eq!((preview.files, preview.bytes), (3, 4 + 10 + 6), "{preview:?}");
        assert_eq!(preview.left_out.keys().collect::<Vec<_>>(), [".env", "large.rs"]);
        assert_eq!(preview.skipped.values().sum::<u64>(), 2);
        assert!(preview.seconds > 0.0 && preview.seconds < 1.0 && !root.join(".tamis").exists());
    }
}
