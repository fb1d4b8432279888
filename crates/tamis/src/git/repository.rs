//! A repository read from its own files, without starting git.

use crate::file::foreign::read_regular;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The longest small file of a repository, in bytes. A longer one is not valid.
const LONGEST_SMALL_FILE: u64 = 64 * 1024;

/// The longest list of packed references that is read, in bytes.
const LONGEST_LIST: u64 = 64 * 1024 * 1024;

/// A work tree and the directory of its repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Repository {
    top: PathBuf,
    directory: PathBuf,
    common: PathBuf,
}

impl Repository {
    /// Finds the repository of the work tree that contains `root`: that of the nearest ancestor with `.git`, which may be `root`
    /// itself. `.git` is a directory, or in further work trees and submodules a file that names one.
    pub fn find(root: &Path) -> Option<Repository> {
        Repository::with_top(root.ancestors().find(|directory| directory.join(".git").exists())?)
    }

    /// Returns the repository whose work tree begins at `top`.
    fn with_top(top: &Path) -> Option<Repository> {
        let mark = top.join(".git");
        let directory = match fs::metadata(&mark).ok()? {
            metadata if metadata.is_dir() => mark,
            _ => top.join(small_file(&mark)?.strip_prefix("gitdir:")?.trim()),
        };
        Some(Repository::new(top.to_owned(), directory))
    }

    /// Creates the repository at `directory` with the work tree `top`.
    fn new(top: PathBuf, directory: PathBuf) -> Repository {
        // A further work tree shares references, objects and hooks with the first one.
        let common = match small_file(&directory.join("commondir")) {
            Some(common) => directory.join(common.trim()),
            None => directory.clone(),
        };
        Repository { top, directory, common }
    }

    /// Returns the repository whose own directory this is; `None` if it is not one.
    pub fn at(directory: &Path) -> Option<Repository> {
        let is_one = directory.join("HEAD").is_file();
        is_one.then(|| Repository::new(directory.to_owned(), directory.to_owned()))
    }

    /// Returns `true` if a further work tree of this repository begins at a directory.
    pub fn has_work_tree(&self, directory: &Path) -> bool {
        // A repository of its own has a directory there.
        let has_mark = fs::symlink_metadata(directory.join(".git")).is_ok_and(|mark| mark.is_file());
        let is_same = |other: Repository| {
            let common = [&self.common, &other.common].map(dunce::canonicalize);
            matches!(common, [Ok(own), Ok(other)] if own == other)
        };
        has_mark && Repository::with_top(directory).is_some_and(is_same)
    }

    /// Returns the directory that all of its work trees share.
    pub fn common(&self) -> &Path {
        &self.common
    }

    /// Returns the top of the work tree.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// Returns `true` if older commits are missing. The oldest commit present then seems to have created every file.
    pub fn is_shallow(&self) -> bool {
        fs::metadata(self.common.join("shallow")).is_ok_and(|metadata| metadata.len() > 0)
    }

    /// Returns the first unsafe one of the files that git reads whole: not a regular file, or too large. git would block on a
    /// pipe, and read a device until memory runs out.
    pub fn unsound(&self) -> Option<PathBuf> {
        const READ_WHOLE: [&str; 8] = [
            "HEAD", "config", "config.worktree", "packed-refs", "shallow", "info/attributes", "info/grafts",
            "objects/info/alternates",
        ];
        let places = [&self.directory, &self.common].into_iter();
        let files = places.flat_map(|from| READ_WHOLE.map(|name| from.join(name)));
        let is_sound = |metadata: fs::Metadata| metadata.is_file() && metadata.len() <= LONGEST_LIST;
        files.into_iter().find(|file| fs::metadata(file).is_ok_and(|metadata| !is_sound(metadata)))
    }

    /// Returns a text that changes with every checkout of another commit, usually that commit's identifier. `None` if there is no
    /// commit yet, or if the repository's files are not valid.
    pub fn head(&self) -> Option<String> {
        let head = small_file(&self.directory.join("HEAD"))?;
        let Some(reference) = head.trim_end().strip_prefix("ref:").map(str::trim) else { return commit(&head) };
        // In a repository with reftables this name is a placeholder. The list of tables changes with each reference.
        if reference == "refs/heads/.invalid" {
            let lists = [&self.directory, &self.common].map(|from| small_file(&from.join("reftable/tables.list")));
            let lists: Vec<String> = lists.into_iter().flatten().collect();
            return (!lists.is_empty()).then(|| blake3::hash(lists.concat().as_bytes()).to_hex().to_string());
        }
        let path = Path::new(reference);
        let plain = path.components().all(|part| matches!(part, Component::Normal(_)));
        if !plain || !path.starts_with("refs") {
            return None;
        }
        match small_file(&self.common.join(path)) {
            Some(own) => commit(&own),
            None => self.packed(reference),
        }
    }

    fn packed(&self, reference: &str) -> Option<String> {
        let list = file(&self.common.join("packed-refs"), LONGEST_LIST)?;
        let line = list.lines().find(|line| line.split_once(' ').is_some_and(|(_, name)| name == reference))?;
        commit(line.split_once(' ')?.0)
    }
}

/// Returns the text if it is the identifier of a commit.
fn commit(text: &str) -> Option<String> {
    let text = text.trim();
    (matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| text.to_owned())
}

fn small_file(path: &Path) -> Option<String> {
    file(path, LONGEST_SMALL_FILE)
}

/// Reads a regular text file. Reading a pipe in its place would block forever.
fn file(path: &Path, longest: u64) -> Option<String> {
    String::from_utf8(read_regular(path, longest).ok()?).ok()
}

/// Returns the file of exclusions for a work tree whose repository is somewhere else.
pub(crate) fn exclude_elsewhere(top: &Path) -> Option<PathBuf> {
    Some(Repository::with_top(top)?.common.join("info/exclude"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "1111111111111111111111111111111111111111";
    const SECOND: &str = "2222222222222222222222222222222222222222";

    fn repository(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().expect("a temporary directory");
        for (path, text) in files {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, text).expect("written");
        }
        let root = directory.path().to_owned();
        (directory, root)
    }

    fn head(files: &[(&str, &str)]) -> Option<String> {
        let (_directory, root) = repository(files);
        Repository::find(&root)?.head()
    }

    #[test]
    fn the_head_is_the_commit_that_is_checked_out() {
        let on_main = (".git/HEAD", "ref: refs/heads/main\n");
        let packed = format!("# pack-refs with: peeled\n{FIRST} refs/heads/main\n{SECOND} refs/heads/maintenance\n");
        assert_eq!(head(&[(".git/HEAD", &format!("{FIRST}\n"))]).as_deref(), Some(FIRST), "detached");
        assert_eq!(head(&[on_main, (".git/packed-refs", &packed)]).as_deref(), Some(FIRST));
        let loose = (".git/refs/heads/main", SECOND);
        assert_eq!(head(&[on_main, loose, (".git/packed-refs", &packed)]).as_deref(), Some(SECOND), "loose is newer");
        assert_eq!(head(&[on_main]), None, "no commit yet");
        let tables =
            |list: &str| head(&[(".git/HEAD", "ref: refs/heads/.invalid"), (".git/reftable/tables.list", list)]);
        assert!(tables("0x1.ref\n").is_some());
        assert_ne!(tables("0x1.ref\n"), tables("0x2.ref\n"));

        let elsewhere = ("secret", FIRST);
        for target in ["../secret", "/etc/passwd", "refs/../../secret", "secret"] {
            assert_eq!(head(&[(".git/HEAD", &format!("ref: {target}")), elsewhere]), None, "{target}");
        }
        assert_eq!(head(&[(".git/HEAD", "not a commit")]), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_repository_that_git_could_not_read_to_an_end_is_named() {
        let (_directory, root) = repository(&[(".git/HEAD", FIRST), (".git/objects/info/none", "")]);
        let found = Repository::find(&root).expect("a repository");
        assert_eq!(found.unsound(), None);
        let alternates = root.join(".git/objects/info/alternates");
        std::os::unix::fs::symlink("/dev/zero", &alternates).expect("linked");
        assert_eq!(found.unsound(), Some(alternates));
        std::os::unix::fs::symlink("/dev/zero", root.join(".git/packed-refs")).expect("linked");
        assert_eq!(found.unsound(), Some(root.join(".git/packed-refs")));
        assert_eq!(found.head().as_deref(), Some(FIRST));
    }

    #[test]
    fn further_work_trees_have_their_own_head_and_shared_references() {
        let (_directory, root) = repository(&[
            ("main/.git/refs/heads/topic", FIRST),
            ("main/.git/worktrees/side/HEAD", "ref: refs/heads/topic"),
            ("main/.git/worktrees/side/commondir", "../..\n"),
            ("side/.git", "gitdir: ../main/.git/worktrees/side\n"),
            ("side/src/lib.rs", ""),
        ]);
        let repository = Repository::find(&root.join("side/src")).expect("a repository");
        assert_eq!(repository.head().as_deref(), Some(FIRST));
        assert_eq!(repository.top(), root.join("side"));
        assert!(!repository.is_shallow());
        fs::write(root.join("main/.git/shallow"), FIRST).expect("written");
        assert!(repository.is_shallow());
    }
}
