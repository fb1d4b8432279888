//! The places that people name: a directory or the address of a database.

use super::report::{Compared, CopyReport};
use super::trees::Side;
use super::{CopyOptions, copy_sides, settings};
use crate::Error;
use crate::handle::open_writable;
use crate::location::{INDEX_DIRECTORY, Location, resolved};
use crate::progress::Observer;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tamis_store::{Access, EmbeddedStore, Store};

#[cfg(feature = "postgres")]
use tamis_store::PostgresStore;

/// The tree of a store that is opened for its namespaces alone. Its settings are not used.
#[cfg(feature = "postgres")]
const NO_TREE: &str = "";

/// A place that holds an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A directory that holds an index, or a tree whose index is in `.tamis`.
    Directory(PathBuf),
    /// The address of a PostgreSQL database.
    Database(String),
}

impl Place {
    /// Reads what people write: an address that begins with `postgres://`, or else a directory.
    pub fn parse(text: impl AsRef<Path>) -> Place {
        let path = text.as_ref();
        match path.to_str() {
            Some(text) if ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme)) => {
                Place::Database(text.to_owned())
            }
            _ => Place::Directory(path.to_owned()),
        }
    }
}

/// The directory of the index at a path: itself if it holds an index or has that name, else `.tamis` in it.
fn index_directory(path: &Path) -> PathBuf {
    let path = resolved(path);
    let is_index = path.join("tamis.db").is_file() || path.file_name().is_some_and(|name| name == INDEX_DIRECTORY);
    if is_index { path } else { path.join(INDEX_DIRECTORY) }
}

/// The name that a tree gets if nothing says otherwise.
fn directory_name(directory: &Path) -> String {
    let is_inside = directory.file_name().is_some_and(|name| name == INDEX_DIRECTORY);
    let root = if is_inside { directory.parent() } else { Some(directory) };
    Location::at(root.unwrap_or(directory), None).namespace
}

/// Copies an index from one place to another with [`copy`](super::copy()), and the settings of its tree. A directory that does not
/// exist is made.
///
/// # Errors
/// A place holds no index, cannot be reached or written, or is both source and destination; and those of
/// [`copy`](super::copy()).
pub fn copy_between(
    from: &Place,
    to: &Place,
    options: &CopyOptions,
    observer: &dyn Observer,
) -> Result<CopyReport, Error> {
    match (from, to) {
        (Place::Directory(from), Place::Directory(to)) => {
            let (here, there) = (index_directory(from), index_directory(to));
            if here == there {
                return Err(same(&here.display().to_string()));
            }
            let (source, destination) = (open_source(&here)?, open_destination(&there)?);
            let tree = settings::tree(&source)?;
            let (here, there) = (in_directory(&source, &here), in_directory(&*destination, &there));
            finish(&here, &there, tree.as_deref(), options, observer)
        }
        #[cfg(feature = "postgres")]
        (Place::Directory(from), Place::Database(to)) => {
            let directory = index_directory(from);
            let here = open_source(&directory)?;
            let own = settings::tree(&here)?;
            let tree = options.tree.clone().or(own).unwrap_or_else(|| directory_name(&directory));
            let there = PostgresStore::open(to, &tree)?;
            finish(&in_directory(&here, &directory), &Side::new(&there), Some(&tree), options, observer)
        }
        #[cfg(feature = "postgres")]
        (Place::Database(from), Place::Directory(to)) => {
            let trees = PostgresStore::open(from, NO_TREE)?.trees()?;
            let directory = index_directory(to);
            let there = open_destination(&directory)?;
            let own = settings::tree(&*there)?.unwrap_or_else(|| directory_name(&directory));
            let tree = match &trees[..] {
                _ if options.tree.is_some() => options.tree.clone(),
                _ if trees.contains(&own) => Some(own),
                _ if options.namespaces.len() == 1 => Some(options.namespaces[0].clone()),
                [only] => Some(only.clone()),
                _ => None,
            };
            let here = PostgresStore::open(from, tree.as_deref().unwrap_or(NO_TREE))?;
            finish(&Side::new(&here), &in_directory(&*there, &directory), tree.as_deref(), options, observer)
        }
        #[cfg(feature = "postgres")]
        (Place::Database(from), Place::Database(to)) => {
            let (here, there) = (PostgresStore::open(from, NO_TREE)?, PostgresStore::open(to, NO_TREE)?);
            if here.is_same_database(&there)? {
                return Err(same(here.address()));
            }
            let mut report = copy_sides(&Side::new(&here), &Side::new(&there), options, observer)?;
            for tree in here.trees()?.iter().filter(|tree| concerns(tree, options)) {
                if report.interrupted {
                    break;
                }
                let (here, there) = (PostgresStore::open(from, tree)?, PostgresStore::open(to, tree)?);
                let compared = settings::copy(&here, &there, &mut report.written)?;
                add(&mut report.settings, compared);
            }
            Ok(report)
        }
        #[cfg(not(feature = "postgres"))]
        (Place::Database(_), _) | (_, Place::Database(_)) => Err(Error::argument(
            "FROM and TO",
            "postgres://…",
            "directories: this program was built without PostgreSQL",
        )),
    }
}

/// Copies and adds the settings of a tree.
fn finish(
    here: &Side<'_>,
    there: &Side<'_>,
    tree: Option<&str>,
    options: &CopyOptions,
    observer: &dyn Observer,
) -> Result<CopyReport, Error> {
    let mut report = copy_sides(here, there, options, observer)?;
    if report.interrupted {
        return Ok(report);
    }
    let is_directory = there.base.is_some();
    let (here, there) = (here.store, there.store);
    match tree {
        Some(tree) if concerns(tree, options) => {
            if is_directory {
                settings::name_tree(there, tree)?;
            }
            report.settings = settings::copy(here, there, &mut report.written)?;
        }
        Some(tree) => {
            report.settings_left = Some(format!("the settings of {tree} were not copied, since it was not chosen"));
        }
        None => {
            let reason =
                "no settings were copied: several trees have some in the database; name one by store.namespace";
            report.settings_left = Some(reason.to_owned());
        }
    }
    Ok(report)
}

fn concerns(tree: &str, options: &CopyOptions) -> bool {
    options.namespaces.is_empty() || options.namespaces.iter().any(|name| name == tree)
}

fn add(sum: &mut Compared, one: Compared) {
    *sum = Compared { from: sum.from + one.from, to: sum.to + one.to, different: sum.different + one.different };
}

/// A store in the directory of an index.
fn in_directory<'a>(store: &'a dyn Store, directory: &Path) -> Side<'a> {
    Side { store, base: Some(Location::at(directory, Some(directory)).base()) }
}

fn open_source(directory: &Path) -> Result<EmbeddedStore, Error> {
    Ok(EmbeddedStore::open(directory, Access::ReadOnly)?)
}

fn open_destination(directory: &Path) -> Result<Arc<dyn Store>, Error> {
    crate::handle::holds_plain_files(directory)?;
    open_writable(directory)
}

fn same(place: &str) -> Error {
    Error::argument("TO", place, "another place than FROM")
}
