//! Where a tree and its index are.

use crate::Error;
use crate::user_directories::Bases;
use std::path::{Path, PathBuf};

/// The name of the directory that holds an index.
pub const INDEX_DIRECTORY: &str = ".tamis";

/// A tree and the directory of its index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The root of what is indexed, absolute.
    pub root: PathBuf,
    /// The directory that holds the index.
    pub directory: PathBuf,
    /// The name under which the tree's documents are stored.
    pub namespace: String,
    /// Where it was looked for: the root or a directory under it, absolute.
    pub start: PathBuf,
}

impl Location {
    /// The tree that `start` lies in: its nearest ancestor (itself included) with `.tamis/` or `.git`, else `start`
    /// itself. `index` puts the index elsewhere.
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
        // A home directory under version control is not meant as the project of everything in it.
        let root = start
            .ancestors()
            .take_while(|directory| *directory == start || home.as_deref() != Some(*directory))
            .find(marked)
            .unwrap_or(&start);
        let location = Self::at(root, index);
        Ok(Location { start, ..location })
    }

    /// Exactly this root, which need not exist.
    pub fn at(root: &Path, index: Option<&Path>) -> Self {
        let namespace = root.file_name().map_or_else(|| "root".into(), |name| name.to_string_lossy().into_owned());
        Location {
            root: root.to_owned(),
            directory: index.map_or_else(|| root.join(INDEX_DIRECTORY), Path::to_owned),
            namespace,
            start: root.to_owned(),
        }
    }

    /// Whether an index has been made here.
    pub fn has_index(&self) -> bool {
        self.directory.join("tamis.db").is_file()
    }

    /// The project's configuration file.
    pub fn config_file(&self) -> PathBuf {
        self.root.join(INDEX_DIRECTORY).join("config.toml")
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
    }

    #[test]
    fn a_missing_directory_and_a_file_are_errors() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        assert!(Location::discover(&directory.path().join("none"), None).is_err());
        let file = directory.path().join("file");
        fs::write(&file, "").expect("written");
        let error = Location::discover(&file, None).expect_err("a file is no root").to_string();
        assert!(error.contains("not a directory"), "{error}");
    }
}
