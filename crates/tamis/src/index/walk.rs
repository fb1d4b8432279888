//! Finds the files of a tree that `.gitignore` and `.tamisignore` do not exclude. Symbolic links are not followed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{DirEntry, Metadata};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::UNIX_EPOCH;
use std::{fs, io};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::overrides::OverrideBuilder;
use tamis_store::FileStat;
use tamis_text::{Limits, Skip};

use super::document::FileAttributes;
use super::ignore::{Level, NEVER, Rules};
use super::report::MOST_NAMED;
use crate::config::IndexConfig;
use crate::file::TEMPORARY;
use crate::git::Repository;
use crate::handle::Source;

/// A regular file that may be indexed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoundFile {
    /// Path under the root, with forward slashes.
    pub path: String,
    /// What tells a changed file from an unchanged one without reading it.
    pub state: FileStat,
    /// What `.gitattributes` says of it.
    pub(crate) attributes: FileAttributes,
}

/// The result of a walk.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The files, by path.
    pub files: Vec<FoundFile>,
    /// Number of files left out without being read, by kind.
    pub skipped: BTreeMap<&'static str, u64>,
    /// The first of these files, each with its kind.
    pub left_out: Vec<(String, &'static str)>,
    /// Directories and files that could not be listed, with the reason. Their contents are unknown, not gone.
    pub unreadable: Vec<(PathBuf, String)>,
    /// Remarks for people on faults that they can fix.
    pub remarks: Vec<String>,
}

impl Found {
    /// Counts a file that is left out, and names the first of them.
    fn leave_out(&mut self, path: String, kind: &'static str) {
        *self.skipped.entry(kind).or_default() += 1;
        if self.left_out.len() < MOST_NAMED {
            self.left_out.push((path, kind));
        }
    }

    /// Adds the findings of one directory.
    fn append(&mut self, mut other: Found) {
        self.files.append(&mut other.files);
        self.unreadable.append(&mut other.unreadable);
        self.left_out.append(&mut other.left_out);
        if self.left_out.len() > 10 * MOST_NAMED {
            self.left_out.sort();
            self.left_out.truncate(MOST_NAMED);
        }
        for (kind, count) in &other.skipped {
            *self.skipped.entry(kind).or_default() += count;
        }
    }
}

/// Returns `true` if the configuration leaves out this kind of file.
pub(crate) fn skips(config: &IndexConfig, skip: Skip) -> bool {
    match skip.as_str() {
        "binary" | "empty" | "too_large" => true,
        name => config.skip.iter().any(|listed| listed == name),
    }
}

/// The reason to leave out a file unread, by its name and size.
pub(crate) fn skip_by_path(path: &str, size: u64, config: &IndexConfig) -> Option<Skip> {
    tamis_text::skip_by_path(path, size, &limits(config)).filter(|skip| skips(config, *skip))
}

/// Returns `true` if a file is left out for its size. It is listed, so that the index remembers it, and its answers name it.
pub(crate) fn is_by_size(skip: Skip) -> bool {
    matches!(skip.as_str(), "too_large" | "data")
}

/// The largest files that are read.
pub(crate) fn limits(config: &IndexConfig) -> Limits {
    Limits { max_bytes: config.max_file_bytes, max_document_bytes: config.max_document_bytes, ..Limits::default() }
}

/// Lists the files of a source. `index_directory` is always left out.
///
/// # Errors
/// A glob is invalid.
pub fn walk(source: &Source, index_directory: &Path, config: &IndexConfig) -> Result<Found, ignore::Error> {
    list(source, index_directory, config, None)
}

/// Lists one file of a source by the same rules; empty if they leave it out. `path` is relative to the root.
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

/// Lists a whole source, or only the way to one file.
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
    let rules = Rules::new(root, !config.hidden, globs.build()?);
    let top = Place { path: root.to_owned(), under: String::new(), level: rules.above().clone() };
    let walk = Walk {
        index_directory,
        config,
        include: include.build()?,
        rules,
        repository: Repository::find(root),
        found: Mutex::default(),
        nameless: Mutex::default(),
        only,
    };
    if walk.only.is_some() {
        // The caller wants no other thread to work.
        let mut next = vec![top];
        while let Some(place) = next.pop() {
            next.extend(walk.visit(&place));
        }
    } else {
        rayon::scope(|scope| walk.visit_all(scope, top));
    }
    let mut found = walk.found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    found.unreadable.sort();
    found.remarks = walk.rules.remarks();
    let mut nameless = Vec::new();
    for path in walk.nameless.into_inner().unwrap_or_else(PoisonError::into_inner) {
        let name = format!("{:?}", path.strip_prefix(root).unwrap_or(&path));
        found.leave_out(name.trim_matches('"').to_owned(), NAMELESS);
        nameless.push(name);
    }
    found.left_out.sort();
    if !nameless.is_empty() {
        nameless.sort();
        found.remarks.push(names_not_text(&nameless));
    }
    Ok(found)
}

/// A directory of the walk.
struct Place {
    path: PathBuf,
    /// Its path under the root, with forward slashes; empty for the root.
    under: String,
    /// The rules above it.
    level: Arc<Level>,
}

/// A walk in progress.
struct Walk<'a> {
    index_directory: &'a Path,
    config: &'a IndexConfig,
    include: Gitignore,
    rules: Rules,
    repository: Option<Repository>,
    only: Option<PathBuf>,
    found: Mutex<Found>,
    nameless: Mutex<Vec<PathBuf>>,
}

impl Walk<'_> {
    /// Visits a directory and all below it, each as a task of its own.
    fn visit_all<'s>(&'s self, scope: &rayon::Scope<'s>, place: Place) {
        for inner in self.visit(&place) {
            scope.spawn(move |scope| self.visit_all(scope, inner));
        }
    }

    /// Lists the files of one directory, and returns the directories in it.
    fn visit(&self, place: &Place) -> Vec<Place> {
        let (mut found, mut inner) = (Found::default(), Vec::new());
        let said = |error: io::Error| (place.path.clone(), format!("{}: {error}", place.path.display()));
        let entries: Vec<DirEntry> = match fs::read_dir(&place.path) {
            Ok(entries) => {
                let entry =
                    |entry: io::Result<DirEntry>| entry.map_err(|error| found.unreadable.push(said(error))).ok();
                entries.filter_map(entry).collect()
            }
            Err(error) => {
                found.unreadable.push(said(error));
                Vec::new()
            }
        };
        let marks: Vec<OsString> =
            entries.iter().map(DirEntry::file_name).filter(|name| name.as_encoded_bytes().starts_with(b".")).collect();
        let holds = |name: &str| marks.iter().any(|mark| mark.eq_ignore_ascii_case(name));
        let is_work_tree = |repository: &Repository| holds(".git") && repository.has_work_tree(&place.path);
        if !place.under.is_empty() && self.repository.as_ref().is_some_and(is_work_tree) {
            // Another checkout of the same files would be found beside each of them.
            found.leave_out(place.under.clone(), "work_tree");
        } else {
            let level = self.rules.enter(&place.path, Path::new(&place.under), &place.level, holds);
            for entry in entries {
                self.add_entry(place, &level, &entry, &mut found, &mut inner);
            }
        }
        self.found.lock().unwrap_or_else(PoisonError::into_inner).append(found);
        inner
    }

    /// Adds an entry of a directory that is not left out: a file to `found`, a directory to `inner`.
    fn add_entry(
        &self,
        place: &Place,
        level: &Arc<Level>,
        entry: &DirEntry,
        found: &mut Found,
        inner: &mut Vec<Place>,
    ) {
        let (name, path) = (entry.file_name(), entry.path());
        let is_ours =
            NEVER.iter().any(|never| name == *never) || name.as_encoded_bytes().starts_with(TEMPORARY.as_bytes());
        if is_ours || path == self.index_directory || self.only.as_ref().is_some_and(|only| !only.starts_with(&path)) {
            return;
        }
        let kind = match entry.file_type() {
            Ok(kind) => kind,
            Err(error) => return found.unreadable.push((path.clone(), format!("{}: {error}", path.display()))),
        };
        if self.rules.leave_out(level, entry, &path, kind.is_dir()) {
            return;
        }
        // The index knows a file by its path, which is text. A file with another name could not be found again.
        let Some(name) = name.to_str() else {
            return self.nameless.lock().unwrap_or_else(PoisonError::into_inner).push(path);
        };
        let under = if place.under.is_empty() { name.to_owned() } else { format!("{}/{name}", place.under) };
        if kind.is_dir() {
            return inner.push(Place { path, under, level: level.clone() });
        }
        if !self.include.is_empty() && !self.include.matched_path_or_any_parents(&path, false).is_ignore() {
            return;
        }
        if kind.is_symlink() {
            found.leave_out(under, "symlink");
        } else if kind.is_file() {
            match entry.metadata() {
                Ok(metadata) => self.add_file(under, level, &metadata, found),
                Err(error) => found.unreadable.push((path.clone(), format!("{}: {error}", path.display()))),
            }
        }
    }

    /// Adds a regular file, unless its name or size leaves it out.
    fn add_file(&self, path: String, level: &Arc<Level>, metadata: &Metadata, found: &mut Found) {
        if let Some(skip) = skip_by_path(&path, metadata.len(), self.config)
            && !is_by_size(skip)
        {
            return found.leave_out(path, skip.as_str());
        }
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified_ns = modified.map_or(0, |time| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX));
        let attributes = self.rules.attributes(level, &path);
        let stamp = stamp(metadata).wrapping_add(attributes.mark());
        found.files.push(FoundFile { path, state: FileStat { size: metadata.len(), modified_ns, stamp }, attributes });
    }
}

/// The kind of files whose names are not valid text.
const NAMELESS: &str = "name_not_utf8";

/// Returns one line on the files whose names are not valid text.
fn names_not_text(names: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    let others = names.len().saturating_sub(SHOWN);
    let others = if others > 0 { format!(" and {others} more") } else { String::new() };
    format!("left out, since the name is not UTF-8: {shown}{others}; rename them to have them indexed")
}

/// Archives and build tools give files fixed times, so that size and time alone do not tell a file from the one before it. No
/// program sets the time at which the system last changed the file's entry, and a file that replaces another has an inode of its own.
#[cfg(unix)]
fn stamp(metadata: &Metadata) -> i64 {
    use std::os::unix::fs::MetadataExt;
    let changed = metadata.ctime().wrapping_mul(1_000_000_000).wrapping_add(metadata.ctime_nsec());
    // An odd factor keeps different inodes different.
    changed.wrapping_add((metadata.ino() as i64).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64))
}

#[cfg(not(unix))]
fn stamp(_: &Metadata) -> i64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn at(root: &Path) -> Source {
        Source { root: root.to_owned(), ..Source::default() }
    }

    fn put(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }

    fn paths(found: &Found) -> Vec<&str> {
        found.files.iter().map(|file| file.path.as_str()).collect()
    }

    #[test]
    fn ignore_files_hidden_files_and_version_control() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let write = |path: &str, text: &str| put(root.path(), path, text);
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

    #[test]
    fn the_nearest_ignore_file_and_the_strongest_kind_decide() {
        let outer = tempfile::tempdir().expect("a temporary directory");
        let root = outer.path().join("tree");
        let write = |path: &str, text: &str| put(outer.path(), path, text);
        write(".gitignore", "*.above\n/tree/anchored.txt\n");
        write("tree/.gitignore", "\u{feff}*.log\n*.tmp\n/only-here.txt\n# note\n[\nbuild/\n");
        write("tree/.ignore", "!kept.tmp\n!.shown\n*.ign\n");
        write("tree/.tamisignore", "!wanted.ign\n");
        write("tree/.git/info/exclude", "*.excluded\n*.log\n");
        write("tree/sub/.gitignore", "!inner.log\n*.sub\n");
        for file in [
            "a.above", "anchored.txt", "a.log", "kept.tmp", "gone.tmp", "only-here.txt", "wanted.ign", "other.ign",
            "a.excluded", "a.sub", ".shown", ".hidden", "plain.txt", "build/out.txt", "sub/inner.log", "sub/other.log",
            "sub/only-here.txt", "sub/a.sub", "sub/build/out.txt", "sub/deep/inner.log",
        ] {
            write(&format!("tree/{file}"), "x");
        }
        let config = IndexConfig { hidden: false, ..Config::built_in().index };
        let found = walk(&at(&root), &root.join(".tamis"), &config).expect("walked");
        let expected = [
            ".shown", "a.sub", "kept.tmp", "plain.txt", "sub/deep/inner.log", "sub/inner.log", "sub/only-here.txt",
            "wanted.ign",
        ];
        assert_eq!(paths(&found), expected);
        assert!(found.remarks.is_empty(), "{:?}", found.remarks);
    }

    #[test]
    fn a_further_work_tree_has_the_exclusions_of_its_repository() {
        let base = tempfile::tempdir().expect("a temporary directory");
        let write = |path: &str, text: &str| put(base.path(), path, text);
        write("main/.git/info/exclude", "*.secret\n");
        write("main/.git/worktrees/side/commondir", "../..\n");
        write("side/.git", "gitdir: ../main/.git/worktrees/side\n");
        write("side/a.secret", "x");
        write("side/a.txt", "x");
        let root = base.path().join("side");
        let found = walk(&at(&root), &root.join(".tamis"), &Config::built_in().index).expect("walked");
        assert_eq!(paths(&found), ["a.txt"]);
    }

    #[test]
    fn a_further_work_tree_inside_the_tree_is_left_out_and_other_repositories_are_read() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let write = |path: &str, text: &str| put(root.path(), path, text);
        write("a.txt", "x");
        write(".git/worktrees/side/commondir", "../..\n");
        write("side/.git", "gitdir: ../.git/worktrees/side\n");
        write("side/a.txt", "x");
        write(".git/modules/sub/HEAD", "ref: refs/heads/main\n");
        write("sub/.git", "gitdir: ../.git/modules/sub\n");
        write("sub/b.txt", "x");
        write("vendored/.git/HEAD", "ref: refs/heads/main\n");
        write("vendored/c.txt", "x");
        let config = Config::built_in();
        let found = walk(&at(root.path()), &root.path().join(".tamis"), &config.index).expect("walked");
        assert_eq!(paths(&found), ["a.txt", "sub/b.txt", "vendored/c.txt"]);
        assert_eq!(found.skipped.get("work_tree"), Some(&1));
        assert_eq!(found.left_out.len(), 1, "{:?}", found.left_out);
        // Where the walk begins, it is no further one.
        let side = root.path().join("side");
        let found = walk(&at(&side), &side.join(".tamis"), &config.index).expect("walked");
        assert_eq!(paths(&found), ["a.txt"]);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_ignore_file_has_no_rules_and_is_named() {
        use std::os::unix::fs::symlink;
        let outside = tempfile::tempdir().expect("a temporary directory");
        fs::write(outside.path().join("rules"), "*.txt\n").expect("written");
        let root = tempfile::tempdir().expect("a temporary directory");
        let at_root = |path: &str| root.path().join(path);
        for directory in ["a", "b", "c", "d", ".git/info"] {
            fs::create_dir_all(at_root(directory)).expect("made");
        }
        symlink("/dev/zero", at_root(".gitignore")).expect("linked");
        for pipe in [".ignore", ".tamisignore", ".git/info/exclude"] {
            assert!(std::process::Command::new("mkfifo").arg(at_root(pipe)).status().expect("runs").success());
        }
        symlink(outside.path().join("rules"), at_root("a/.gitignore")).expect("linked");
        fs::write(at_root("b/.rules"), "*.txt\n").expect("written");
        symlink(".rules", at_root("b/.gitignore")).expect("linked");
        fs::File::create(at_root("c/.gitignore")).and_then(|file| file.set_len(1 << 40)).expect("made");
        fs::create_dir(at_root("d/.gitignore")).expect("made");
        for file in ["top.txt", "a/a.txt", "b/b.txt", "c/c.txt", "d/d.txt"] {
            fs::write(at_root(file), "x").expect("written");
        }
        let config = IndexConfig { hidden: false, ..Config::built_in().index };
        let found = walk(&at(root.path()), &at_root(".tamis"), &config).expect("walked");
        assert_eq!(paths(&found), ["a/a.txt", "c/c.txt", "d/d.txt", "top.txt"], "a link inside the tree is followed");
        let said = found.remarks.join("\n");
        for case in [
            ".gitignore => out of the tree", ".ignore => a pipe", ".tamisignore => a pipe",
            ".git/info/exclude => a pipe", "a/.gitignore => out of the tree", "c/.gitignore => larger than",
            "d/.gitignore => a directory",
        ] {
            let (file, reason) = case.split_once(" => ").expect("two parts");
            let start = format!("{}: ", at_root(file).display());
            let line = said.lines().find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("{file}: {said}"));
            assert!(line.contains(reason), "{line}");
        }
        assert_eq!(found.remarks.len(), 7, "{said}");
    }
}
