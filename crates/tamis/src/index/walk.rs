//! Finding the files of a tree: what `.gitignore` and `.tamisignore` leave, without following symbolic links.

use super::source::Source;
use crate::config::IndexConfig;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::overrides::OverrideBuilder;
use ignore::{DirEntry, WalkBuilder, WalkState};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::UNIX_EPOCH;
use tamis_text::Limits;

/// A regular file that may be indexed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    /// Path under the root, with forward slashes.
    pub path: String,
    /// Bytes.
    pub size: u64,
    /// Last change in nanoseconds since the epoch.
    pub modified_ns: i64,
}

/// What a walk found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Files by path.
    pub files: Vec<FoundFile>,
    /// Files left out by kind, without being read.
    pub skipped: BTreeMap<&'static str, u64>,
    /// Directories and files that could not be listed, with the reason. What lies under them is unknown, not gone.
    pub unreadable: Vec<(PathBuf, String)>,
}

/// Directories of version control and of Tamis itself.
const NEVER: [&str; 5] = [".git", ".hg", ".svn", ".jj", ".tamis"];

/// How the names of files begin that are being written: they get another name when they are whole.
pub(crate) const TEMPORARY: &str = ".tamis-new-";

/// Lists the files of a source. `index_directory` is left out wherever it lies.
///
/// # Errors
/// A glob that is not one.
pub fn walk(source: &Source, index_directory: &Path, config: &IndexConfig) -> Result<Found, ignore::Error> {
    list(source, index_directory, config, None)
}

/// Lists one file of a source by the same rules: nothing where they leave it out. `path` is under the root.
///
/// # Errors
/// As [`walk`].
pub fn walk_file(
    source: &Source,
    index_directory: &Path,
    config: &IndexConfig,
    path: &str,
) -> Result<Found, ignore::Error> {
    let whole = source.root.join(path);
    let mut found = list(source, index_directory, config, Some(whole))?;
    found.files.retain(|file| file.path == path);
    Ok(found)
}

/// Lists a source, or of it only the way to one file.
fn list(
    source: &Source,
    index_directory: &Path,
    config: &IndexConfig,
    only: Option<PathBuf>,
) -> Result<Found, ignore::Error> {
    let root = source.root.as_path();
    let mut globs = OverrideBuilder::new(root);
    for glob in config.ignore.iter().chain(&source.ignore) {
        globs.add(&format!("!{glob}"))?;
    }
    let mut include = GitignoreBuilder::new(root);
    for glob in &source.include {
        include.add_line(None, glob)?;
    }
    let include = include.build()?;
    let index_directory = index_directory.to_owned();
    let threads = if only.is_some() { 1 } else { std::thread::available_parallelism().map_or(2, |n| n.get().min(8)) };
    let walker = WalkBuilder::new(root)
        .hidden(!config.hidden)
        .require_git(false)
        .follow_links(false)
        .add_custom_ignore_filename(".tamisignore")
        .overrides(globs.build()?)
        .threads(threads)
        .filter_entry(move |entry| {
            let name = entry.file_name().to_string_lossy();
            let left_out =
                NEVER.contains(&name.as_ref()) || name.starts_with(TEMPORARY) || entry.path() == index_directory;
            let asked_for = only.as_ref().is_none_or(|only| only.starts_with(entry.path()));
            entry.depth() == 0 || (asked_for && !left_out)
        })
        .build_parallel();

    let found = Mutex::new(Found::default());
    walker.run(|| {
        let mut local = Local { found: Found::default(), shared: &found };
        let include = &include;
        Box::new(move |entry| {
            match entry {
                Ok(entry) => visit(root, config, include, &entry, &mut local.found),
                Err(error) => local.found.unreadable.push((path_of(&error), error.to_string())),
            }
            WalkState::Continue
        })
    });
    let mut found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    found.files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    found.unreadable.sort();
    Ok(found)
}

fn visit(root: &Path, config: &IndexConfig, include: &Gitignore, entry: &DirEntry, found: &mut Found) {
    let Some(kind) = entry.file_type() else { return };
    if !include.is_empty() && !include.matched_path_or_any_parents(entry.path(), false).is_ignore() {
        return;
    }
    if kind.is_symlink() {
        *found.skipped.entry("symlink").or_default() += 1;
        return;
    }
    if !kind.is_file() {
        return;
    }
    let path = relative(root, entry.path());
    match entry.metadata() {
        Ok(metadata) => {
            let limits = Limits { max_bytes: config.max_file_bytes, ..Limits::default() };
            if let Some(skip) = tamis_text::skip_by_path(&path, metadata.len(), &limits)
                && super::skips(config, skip)
            {
                *found.skipped.entry(skip.as_str()).or_default() += 1;
                return;
            }
            let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            let modified_ns = modified.map_or(0, |time| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX));
            found.files.push(FoundFile { path, size: metadata.len(), modified_ns });
        }
        Err(error) => found.unreadable.push((entry.path().to_owned(), error.to_string())),
    }
}

/// A path under the root with forward slashes; bytes that are not UTF-8 are replaced.
fn relative(root: &Path, path: &Path) -> String {
    let under = path.strip_prefix(root).unwrap_or(path);
    under.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

fn path_of(error: &ignore::Error) -> PathBuf {
    match error {
        ignore::Error::WithPath { path, .. } => path.clone(),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => path_of(err),
        ignore::Error::Partial(errors) => errors.first().map(path_of).unwrap_or_default(),
        _ => PathBuf::new(),
    }
}

/// One thread's findings, merged when the thread ends.
struct Local<'a> {
    found: Found,
    shared: &'a Mutex<Found>,
}

impl Drop for Local<'_> {
    fn drop(&mut self) {
        let mut shared = self.shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        shared.files.append(&mut self.found.files);
        shared.unreadable.append(&mut self.found.unreadable);
        for (kind, count) in &self.found.skipped {
            *shared.skipped.entry(kind).or_default() += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use std::fs;

    fn at(root: &Path) -> Source {
        Source { root: root.to_owned(), ..Source::default() }
    }

    fn paths(found: &Found) -> Vec<&str> {
        found.files.iter().map(|file| file.path.as_str()).collect()
    }

    #[test]
    fn ignore_files_hidden_files_and_version_control() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, text).expect("written");
        };
        write("src/main.rs", "fn main() {}");
        write(".gitignore", "target\n");
        write(".tamisignore", "*.log\n");
        write("target/out.rs", "");
        write("notes.log", "x");
        write(".github/workflow.yml", "on: push");
        write(".git/config", "[core]");
        write(".tamis/tamis.db", "x");
        write(".env", "SECRET=1");
        write(".tamis-new-abc", "half a file");
        write("drafts/idea.md", "# Idea");
        let mut config = Config::built_in().index;
        let index = root.path().join(".tamis");
        let found = walk(&at(root.path()), &index, &config).expect("walked");
        let all = [".github/workflow.yml", ".gitignore", ".tamisignore", "drafts/idea.md", "src/main.rs"];
        assert_eq!(paths(&found), all);
        assert_eq!(found.skipped.get("secret"), Some(&1));

        for path in all.into_iter().chain(["target/out.rs", "notes.log", ".tamis-new-abc", "drafts", "none"]) {
            let alone = walk_file(&at(root.path()), &index, &config, path).expect("walked");
            let expected: &[&str] = if all.contains(&path) { &[path] } else { &[] };
            assert_eq!(paths(&alone), expected, "one file by the same rules");
        }

        config.ignore = vec!["drafts/".into()];
        config.hidden = false;
        assert_eq!(paths(&walk(&at(root.path()), &index, &config).expect("walked")), ["src/main.rs"]);
        config.hidden = true;
        let some = Source { include: vec!["*.rs".into(), "/drafts".into()], ..at(root.path()) };
        assert_eq!(paths(&walk(&some, &index, &config).expect("walked")), ["src/main.rs"]);
        let others = Source { ignore: vec!["src/".into(), "/.*".into()], ..at(root.path()) };
        assert!(walk(&others, &index, &config).expect("walked").files.is_empty());
        config.ignore.clear();
        assert_eq!(paths(&walk(&some, &index, &config).expect("walked")), ["drafts/idea.md", "src/main.rs"]);
        let ignored = Source { include: vec!["target/".into()], ..at(root.path()) };
        assert!(walk(&ignored, &index, &config).expect("walked").files.is_empty(), "what git ignores stays out");
        config.ignore = vec!["a{b".into()];
        assert!(walk(&at(root.path()), &index, &config).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn symbolic_links_are_counted_and_not_followed() {
        let outside = tempfile::tempdir().expect("a temporary directory");
        fs::write(outside.path().join("secret.txt"), "outside").expect("written");
        let root = tempfile::tempdir().expect("a temporary directory");
        std::os::unix::fs::symlink(outside.path(), root.path().join("link")).expect("linked");
        let found = walk(&at(root.path()), &root.path().join(".tamis"), &Config::built_in().index).expect("walked");
        assert!(found.files.is_empty());
        assert_eq!(found.skipped.get("symlink"), Some(&1));
    }
}
