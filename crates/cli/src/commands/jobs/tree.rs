//! The tree of a job: whoever can write to the database names it, so it must lie in a directory that the worker was given.

use crate::args::Global;
use crate::session::{Session, setting};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use tamis::{Index, Location};
use tamis_store::Job;

/// The directories that a worker may read, without links.
#[derive(Debug)]
pub struct Roots(Vec<PathBuf>);

impl Roots {
    /// Finds the directories.
    ///
    /// # Errors
    /// One is missing or no directory.
    pub fn new(roots: &[PathBuf]) -> Result<Roots> {
        let root = |root: &PathBuf| {
            let found = dunce::canonicalize(root).with_context(|| format!("--root {}", root.display()))?;
            if !found.is_dir() {
                bail!("--root {}: not a directory; name the directory that holds the trees", root.display());
            }
            Ok(found)
        };
        Ok(Roots(roots.iter().map(root).collect::<Result<_>>()?))
    }

    /// Finds a directory in the roots by its path, without links.
    ///
    /// # Errors
    /// It is missing, no directory, or elsewhere.
    pub fn find(&self, path: &Path) -> Result<PathBuf> {
        let elsewhere = || {
            let roots: Vec<String> = self.0.iter().map(|root| root.display().to_string()).collect();
            format!("{}: outside of {}, where this worker may read", path.display(), roots.join(" and "))
        };
        // A path elsewhere is not even looked at.
        if !path.is_absolute() || path.components().any(|part| part == std::path::Component::ParentDir) {
            bail!(elsewhere());
        }
        let found = match dunce::canonicalize(path) {
            Ok(found) => found,
            Err(_) if !self.0.iter().any(|root| path.starts_with(root)) => bail!(elsewhere()),
            Err(error) => bail!("{}: {error}", path.display()),
        };
        if !self.0.iter().any(|root| found.starts_with(root)) {
            bail!(elsewhere());
        }
        if !found.is_dir() {
            bail!("{}: not a directory", path.display());
        }
        Ok(found)
    }

    /// Opens the index of a job's tree as `tamis index` would there, in the database at `url`.
    ///
    /// # Errors
    /// The tree or one that belongs to it lies elsewhere, its configuration is invalid, or the database cannot be reached.
    pub fn open(&self, job: &Job, url: &str, global: &Global) -> Result<Index> {
        let root = self.find(Path::new(&job.path))?;
        // Exactly this tree: no ancestor with a mark, which could lie outside.
        let name = setting("store.namespace", "jobs add --namespace", Some(&job.namespace));
        let session = Session::at(Location::at(&root, None), global, name.into_iter().collect());
        let mut config = session.config()?;
        config.store.url = Some(url.to_owned());
        let index = session.open(config)?;
        // The database and the configuration of the tree can name further directories.
        for source in index.sources() {
            if source.root.exists() {
                self.find(&source.root)?;
            }
        }
        Ok(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_directories_in_the_roots_are_found() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let base = dunce::canonicalize(directory.path()).expect("a path");
        for made in ["trees/api/src", "trees-of-others/api", "secret"] {
            fs::create_dir_all(base.join(made)).expect("made");
        }
        fs::write(base.join("trees/file"), "").expect("written");
        let roots = Roots::new(&[base.join("trees")]).expect("a root");
        assert_eq!(roots.find(&base.join("trees/api")).expect("inside"), base.join("trees/api"));
        assert_eq!(roots.find(&base.join("trees")).expect("the root itself"), base.join("trees"));
        for elsewhere in ["trees-of-others/api", "secret", "", "trees/api/../../secret", "missing"] {
            let refused = roots.find(&base.join(elsewhere)).expect_err(elsewhere).to_string();
            assert!(refused.contains("may read"), "{refused}");
        }
        assert!(roots.find(Path::new("trees/api")).is_err(), "relative to a directory that nobody knows");
        assert!(roots.find(&base.join("trees/file")).expect_err("a file").to_string().contains("not a directory"));
        assert!(!roots.find(&base.join("trees/gone")).expect_err("missing").to_string().contains("may read"));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(base.join("secret"), base.join("trees/link")).expect("linked");
            assert!(roots.find(&base.join("trees/link")).expect_err("a link").to_string().contains("may read"));
        }
        assert!(Roots::new(&[base.join("trees/file")]).is_err());
        assert!(Roots::new(&[base.join("none")]).is_err());
    }
}
