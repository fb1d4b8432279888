//! Finds a tree and its index.

use crate::Error;
use crate::user_directories::Bases;
use std::path::{Component, Path, PathBuf};

/// The name of the directory that holds an index.
pub const INDEX_DIRECTORY: &str = ".tamis";

/// A tree and the directory of its index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The root of the indexed tree, absolute.
    pub root: PathBuf,
    /// The directory that holds the index.
    pub directory: PathBuf,
    /// The name under which the tree's documents are stored.
    pub namespace: String,
    /// The directory where the search for the tree began: the root or one below it, absolute.
    pub start: PathBuf,
}

impl Location {
    /// Finds the tree that contains `start`: the nearest ancestor with `.tamis/` or `.git`, which may be `start` itself, or else
    /// `start`. `index` puts the index elsewhere.
    ///
    /// # Errors
    /// `start` does not exist or is not a directory.
    pub fn discover(start: &Path, index: Option<&Path>) -> Result<Self, Error> {
        let start = dunce::canonicalize(start).map_err(|error| Error::path(start, format!("{error}")))?;
        if !start.is_dir() {
            return Err(Error::path(&start, "not a directory; name the directory to search"));
        }
        let home = Bases::here().home.and_then(|home| dunce::canonicalize(home).ok());
        let marked = |directory: &&Path| directory.join(INDEX_DIRECTORY).is_dir() || directory.join(".git").exists();
        // A home directory under version control is not the project of everything in it.
        let root = start
            .ancestors()
            .take_while(|directory| *directory == start || home.as_deref() != Some(*directory))
            .find(marked)
            .unwrap_or(&start);
        if index.is_none() {
            stays_in(root)?;
        }
        // From here on paths are compared as text, so one directory must not have two spellings.
        let index = index.map(resolved);
        let location = Self::at(root, index.as_deref());
        Ok(Location { start, ..location })
    }

    /// Returns exactly this root, which need not exist.
    pub fn at(root: &Path, index: Option<&Path>) -> Self {
        let namespace = root.file_name().map_or_else(|| "root".into(), |name| name.to_string_lossy().into_owned());
        Location {
            root: root.to_owned(),
            directory: index.map_or_else(|| root.join(INDEX_DIRECTORY), Path::to_owned),
            namespace,
            start: root.to_owned(),
        }
    }

    /// Returns the directory that the index moves with: the one that contains `.tamis`, or else the index's own.
    pub(crate) fn base(&self) -> PathBuf {
        match self.directory.parent() {
            Some(parent) if self.directory.ends_with(INDEX_DIRECTORY) => parent.to_owned(),
            _ => self.directory.clone(),
        }
    }

    /// Returns `true` if the tree is the user's home directory, or holds it, as the root of a file system does. Nobody means to search
    /// all of that.
    pub fn holds_home(&self) -> bool {
        let home = Bases::here().home.and_then(|home| dunce::canonicalize(home).ok());
        self.root.parent().is_none() || home.is_some_and(|home| home.starts_with(&self.root))
    }

    /// Returns `true` if an index exists here.
    pub fn has_index(&self) -> bool {
        self.directory.join("tamis.db").is_file()
    }

    /// Returns the project's configuration file.
    pub fn config_file(&self) -> PathBuf {
        self.root.join(INDEX_DIRECTORY).join("config.toml")
    }
}

/// Refuses a tree whose index would lie outside of it, through a link that came with the tree.
fn stays_in(root: &Path) -> Result<(), Error> {
    let directory = root.join(INDEX_DIRECTORY);
    if !std::fs::symlink_metadata(&directory).is_ok_and(|metadata| metadata.is_symlink()) {
        return Ok(());
    }
    match dunce::canonicalize(&directory) {
        Ok(target) if target.starts_with(root) => Ok(()),
        _ => Err(Error::index_directory(
            &directory,
            "a symbolic link out of the tree, which may have come with it; if it is yours, name the directory that it leads to",
        )),
    }
}

/// Returns the system's path: absolute, and without `.`, `..` and links as far as it exists.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut there = whole.as_path();
    loop {
        if let Ok(found) = dunce::canonicalize(there) {
            let rest = whole.strip_prefix(there).unwrap_or(Path::new(""));
            let mut resolved = found;
            for part in rest.components() {
                match part {
                    Component::ParentDir => drop(resolved.pop()),
                    Component::CurDir => {}
                    part => resolved.push(part),
                }
            }
            return resolved;
        }
        match there.parent() {
            Some(parent) => there = parent,
            None => return whole,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_nearest_marked_ancestor_is_the_root() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let base = dunce::canonicalize(directory.path()).expect("a path");
        let deep = base.join("project/src/deep");
        fs::create_dir_all(&deep).expect("made");
        assert_eq!(Location::discover(&deep, None).expect("found").root, deep, "no mark: the directory named");
        fs::create_dir(base.join("project/.git")).expect("made");
        let location = Location::discover(&deep, None).expect("found");
        assert_eq!(location.root, base.join("project"));
        assert_eq!(location.namespace, "project");
        assert_eq!(location.directory, base.join("project/.tamis"));
        assert_eq!(location.start, deep);
        fs::create_dir(base.join("project/src/.tamis")).expect("made");
        assert_eq!(Location::discover(&deep, None).expect("found").root, base.join("project/src"));
        let elsewhere = base.join("elsewhere");
        assert_eq!(Location::discover(&deep, Some(&elsewhere)).expect("found").directory, elsewhere);

        let directory = tempfile::tempdir().expect("a temporary directory");
        assert!(Location::discover(&directory.path().join("none"), None).is_err());
        let file = directory.path().join("file");
        fs::write(&file, "").expect("written");
        let error = Location::discover(&file, None).expect_err("a file is no root").to_string();
        assert!(error.contains("not a directory"), "{error}");
    }

    #[test]
    fn one_directory_has_one_path_however_it_is_written() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let base = dunce::canonicalize(directory.path()).expect("a path");
        fs::create_dir_all(base.join("tree/sub")).expect("made");
        fs::create_dir(base.join("there")).expect("made");
        let of = |index: &Path| Location::discover(&base.join("tree"), Some(index)).expect("found").directory;
        assert_eq!(of(&base.join("tree/sub/../.tamis")), base.join("tree/.tamis"));
        assert_eq!(of(&base.join("./new/../other/./deep")), base.join("other/deep"), "what is not there yet");
        assert_eq!(of(&base.join("tree/../there")), base.join("there"));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(base.join("there"), base.join("link")).expect("linked");
            assert_eq!(of(&base.join("link")), base.join("there"));
            assert_eq!(of(&base.join("link/new")), base.join("there/new"));
            assert_eq!(of(&base.join("link/../new")), base.join("new"), "up from where the link leads to");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_came_with_a_tree_makes_no_index_outside_of_it() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let base = dunce::canonicalize(directory.path()).expect("a path");
        fs::create_dir_all(base.join("tree/kept")).expect("made");
        fs::create_dir(base.join("outside")).expect("made");
        let link = base.join("tree/.tamis");
        for to in ["../outside", "../nowhere"] {
            std::os::unix::fs::symlink(to, &link).expect("linked");
            if to == "../outside" {
                let error = Location::discover(&base.join("tree"), None).expect_err("refused").to_string();
                assert!(error.contains("another directory"), "{error}");
                let named = Location::discover(&base.join("tree"), Some(&base.join("outside"))).expect("named");
                assert_eq!(named.directory, base.join("outside"));
            } else {
                fs::create_dir(base.join("tree/.git")).expect("made");
                assert!(Location::discover(&base.join("tree"), None).is_err());
            }
            fs::remove_file(&link).expect("removed");
        }
        std::os::unix::fs::symlink("kept", &link).expect("linked");
        assert!(Location::discover(&base.join("tree"), None).is_ok(), "a link in the tree leads nowhere else");
    }
}
