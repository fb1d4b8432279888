//! Where the trees of the lists are.

use crate::list::{List, Source};
use anyhow::{Context, Result, ensure};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// What a list is asked of, on this machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// The files under a directory.
    Tree {
        /// The directory.
        root: PathBuf,
        /// Whether its files are notes.
        notes: bool,
    },
    /// A file of issues.
    Issues(PathBuf),
    /// A directory with the documents of a judged collection.
    Collection(PathBuf),
    /// It is not here, for this reason.
    Missing(String),
}

/// Returns the workspace's root directory.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap_or(Path::new(".")).to_owned()
}

/// Returns the directory of published collections that `TAMIS_TEST_DATA` names: judged collections in `data`, lists of questions in
/// `questions`.
#[must_use]
pub fn test_data() -> Option<PathBuf> {
    env::var_os("TAMIS_TEST_DATA").map(PathBuf::from)
}

impl Place {
    /// Finds what a list is asked of.
    ///
    /// # Errors
    /// An expected file does not exist in the tree: the list is not about this version.
    pub fn of(list: &List) -> Result<Place> {
        let place = match &list.source {
            Source::Crate { name, version, under } => match sources(name, version) {
                Some(directory) => Place::Tree { root: directory.join(under), notes: false },
                None => {
                    let what = format!("{name}-{version} is not among cargo's sources; `cargo fetch` downloads it");
                    return Ok(Place::Missing(what));
                }
            },
            Source::Directory { path, notes } => Place::Tree { root: root().join(path), notes: *notes },
            Source::Issues { path } => {
                let Some(data) = test_data() else {
                    return Ok(Place::Missing(format!("TAMIS_TEST_DATA, which has {}, is not set", path.display())));
                };
                Place::Issues(data.join(path))
            }
            Source::Collection { path } => Place::Collection(path.clone()),
        };
        if let Place::Tree { root, .. } = &place {
            for file in list.questions.iter().flat_map(|question| &question.expect) {
                ensure!(
                    root.join(file).is_file(),
                    "{}: a question expects {file}, which is not in {}; correct the list",
                    list.name,
                    root.display()
                );
            }
        }
        Ok(place)
    }
}

/// Returns the directory in which cargo keeps the sources of a crate, if it has downloaded them.
fn sources(name: &str, version: &str) -> Option<PathBuf> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo")))?;
    let registries = fs::read_dir(home.join("registry/src")).ok()?;
    let directories = registries.flatten().map(|registry| registry.path().join(format!("{name}-{version}")));
    directories.into_iter().find(|directory| directory.join("Cargo.toml").is_file())
}

/// Checks that the lists name the versions of `Cargo.lock`.
///
/// # Errors
/// A list names another version.
pub fn locked(lists: &[List]) -> Result<()> {
    let path = root().join("Cargo.lock");
    let lock = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    for list in lists {
        let Source::Crate { name, version, .. } = &list.source else { continue };
        ensure!(
            lock.contains(&format!("name = \"{name}\"\nversion = \"{version}\"\n")),
            "{}.toml names {name} {version}, which Cargo.lock does not have; \
             compare the expected files with the locked version, then name it",
            list.name
        );
    }
    Ok(())
}
