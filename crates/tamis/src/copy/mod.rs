//! Copying an index from one store to another: a directory to a database, back, or between two of a kind.
//!
//! [`copy`] writes what differs and nothing else, batch by batch, so a copy that was stopped goes on when it is started again.
//! Then it compares both sides. It knows stores by their traits alone; [`copy_between`] opens the [`Place`]s that people name.
//!
//! `trees` makes sure that no namespace gets the files of another tree, `pairs` reads the documents of both sides, `documents`,
//! `evidence`, `settings` and `usage` copy each kind of data, `compare` and `report` say what is equal.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let (tree, backup) = (directory.path().join("mill"), directory.path().join("backup"));
//! # std::fs::create_dir(&tree)?;
//! # std::fs::write(tree.join("oven.md"), "# Oven\n\nHeat the oven to 220 degrees before baking.\n")?;
//! # tamis::Index::open(&tree)?.refresh()?;
//! use tamis::copy::{CopyOptions, Place, copy_between};
//!
//! let report = copy_between(&Place::parse(&tree), &Place::parse(&backup), &CopyOptions::default(), &())?;
//! assert!(report.is_equal());
//! assert_eq!(report.namespaces[0].documents.to, 1);
//! # Ok(())
//! # }
//! ```

mod compare;
mod parts;

use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(feature = "postgres")]
use tamis_store::PostgresStore;
use tamis_store::{Access, EmbeddedStore, Namespace, Store};

use crate::Error;
use crate::handle::open_writable;
use crate::index::publish_store;
use crate::index_location::{INDEX_DIRECTORY, Location, resolved};
use crate::progress::Observer;
use parts::Side;

/// What is copied.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CopyOptions {
    /// The namespaces; empty for all that the source has.
    pub namespaces: Vec<String>,
    /// Deletes documents and evidence that the source does not have from the copied namespaces. Other namespaces stay.
    pub delete: bool,
    /// The name of the tree whose settings are copied, where a database is involved; `None`: the tree of the index in the
    /// directory, or the only one in the database.
    pub tree: Option<String>,
}

/// Copies namespaces with their documents, vectors and evidence, thresholds and the usage log, and compares both sides. The
/// settings of a tree are copied by [`copy_between`], which knows which tree it is.
///
/// # Errors
/// The source has no namespace of a given name, a namespace of the destination holds the files of another tree, another process
/// is writing to the destination, or a store fails. What was copied until then stays, and the next copy goes on there.
pub fn copy(
    from: &dyn Store,
    to: &dyn Store,
    options: &CopyOptions,
    observer: &dyn Observer,
) -> Result<CopyReport, Error> {
    copy_sides(&Side::new(from), &Side::new(to), options, observer)
}

/// [`copy`] between stores of which it is known where they lie.
fn copy_sides(
    from: &Side<'_>,
    to: &Side<'_>,
    options: &CopyOptions,
    observer: &dyn Observer,
) -> Result<CopyReport, Error> {
    let trees = || parts::Copied { from, to, is_named: options.tree.is_some() };
    let (from, to) = (from.store, to.store);
    let namespaces = chosen(from, &options.namespaces)?;
    let mut report = CopyReport::default();
    let done = {
        let _writing = to.writer()?;
        report.written.settings += trees().claim(&namespaces)?;
        write(from, to, &namespaces, options, observer, &mut report)?
    };
    if !done {
        report.interrupted = true;
        return Ok(report);
    }
    for namespace in &namespaces {
        match compare::compare(from, to, namespace, observer)? {
            Some(comparison) => report.namespaces.push(comparison),
            None => {
                report.interrupted = true;
                return Ok(report);
            }
        }
    }
    let others = to.namespaces()?;
    let is_other = |other: &&Namespace| namespaces.iter().all(|namespace| namespace.name != other.name);
    report.other_namespaces = others.iter().filter(is_other).count() as u64;
    Ok(report)
}

/// Writes what differs. Returns `false` if the observer stopped it.
fn write(
    from: &dyn Store,
    to: &dyn Store,
    namespaces: &[Namespace],
    options: &CopyOptions,
    observer: &dyn Observer,
    report: &mut CopyReport,
) -> Result<bool, Error> {
    let known = to.namespaces()?;
    for namespace in namespaces {
        let (name, written) = (namespace.name.as_str(), &mut report.written);
        let known = known.iter().find(|known| known.name == name);
        written.settings += u64::from(parts::register(to, namespace, known)?);
        parts::copy_nodes(from, to, name, options.delete, written)?;
        if !parts::copy_documents(from, to, name, options.delete, observer, written)? {
            return Ok(false);
        }
        parts::copy_edges(from, to, name, written)?;
    }
    report.thresholds = parts::copy_thresholds(from, to, &mut report.written)?;
    if !parts::copy_usage(from.usage()?, to.usage()?, &options.namespaces, observer, report)? {
        return Ok(false);
    }
    // Also when nothing was written: an earlier copy may have been killed before it published.
    match publish_store(to, observer) {
        Err(Error::Cancelled) => return Ok(false),
        published => published?,
    }
    to.build_indexes()?;
    Ok(true)
}

/// The namespaces of these names, or all.
fn chosen(from: &dyn Store, names: &[String]) -> Result<Vec<Namespace>, Error> {
    let known = from.namespaces()?;
    if let Some(unknown) = names.iter().find(|name| known.iter().all(|known| known.name != **name)) {
        let names: Vec<&str> = known.iter().map(|known| known.name.as_str()).collect();
        let allowed = match names.is_empty() {
            true => "a namespace of the source, which has none".to_owned(),
            false => format!("a namespace of the source: {}", names.join(", ")),
        };
        return Err(Error::argument("--namespace", unknown, allowed));
    }
    Ok(known.into_iter().filter(|known| names.is_empty() || names.contains(&known.name)).collect())
}

// The places that people name: a directory or the address of a database.

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

/// Copies an index from one place to another with [`copy`](copy()), and the settings of its tree. A directory that does not
/// exist is made.
///
/// # Errors
/// A place holds no index, cannot be reached or written, or is both source and destination; and those of
/// [`copy`](copy()).
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
            let tree = parts::tree(&*source)?;
            let (here, there) = (in_directory(&*source, &here), in_directory(&*destination, &there));
            finish(&here, &there, tree.as_deref(), options, observer)
        }
        #[cfg(feature = "postgres")]
        (Place::Directory(from), Place::Database(to)) => {
            let directory = index_directory(from);
            let here = open_source(&directory)?;
            let own = parts::tree(&*here)?;
            let tree = options.tree.clone().or(own).unwrap_or_else(|| directory_name(&directory));
            let there = PostgresStore::open(to, &tree)?.into_dyn();
            finish(&in_directory(&*here, &directory), &Side::new(&*there), Some(&tree), options, observer)
        }
        #[cfg(feature = "postgres")]
        (Place::Database(from), Place::Directory(to)) => {
            let trees = PostgresStore::open(from, NO_TREE)?.trees()?;
            let directory = index_directory(to);
            let there = open_destination(&directory)?;
            let own = parts::tree(&*there)?.unwrap_or_else(|| directory_name(&directory));
            let tree = match &trees[..] {
                _ if options.tree.is_some() => options.tree.clone(),
                _ if trees.contains(&own) => Some(own),
                _ if options.namespaces.len() == 1 => Some(options.namespaces[0].clone()),
                [only] => Some(only.clone()),
                _ => None,
            };
            let here = PostgresStore::open(from, tree.as_deref().unwrap_or(NO_TREE))?.into_dyn();
            finish(&Side::new(&*here), &in_directory(&*there, &directory), tree.as_deref(), options, observer)
        }
        #[cfg(feature = "postgres")]
        (Place::Database(from), Place::Database(to)) => {
            let (here, there) = (PostgresStore::open(from, NO_TREE)?, PostgresStore::open(to, NO_TREE)?);
            if here.is_same_database(&there)? {
                return Err(same(here.address()));
            }
            let trees = here.trees()?;
            let (here, there) = (here.into_dyn(), there.into_dyn());
            let mut report = copy_sides(&Side::new(&*here), &Side::new(&*there), options, observer)?;
            for tree in trees.iter().filter(|tree| concerns(tree, options)) {
                if report.interrupted {
                    break;
                }
                let open = |address: &str| Ok::<_, Error>(PostgresStore::open(address, tree)?.into_dyn());
                let compared = parts::copy_settings(&*open(from)?, &*open(to)?, &mut report.written)?;
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
                parts::name_tree(there, tree)?;
            }
            report.settings = parts::copy_settings(here, there, &mut report.written)?;
        }
        Some(tree) => {
            report.settings_left = Some(format!("the settings of {tree} were not copied, since it was not chosen"));
        }
        None => {
            let reason = "no settings of a tree were copied: several trees have some in the database; name one by store.namespace";
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

fn open_source(directory: &Path) -> Result<Arc<dyn Store>, Error> {
    Ok(EmbeddedStore::open(directory, Access::ReadOnly)?.into_dyn())
}

fn open_destination(directory: &Path) -> Result<Arc<dyn Store>, Error> {
    crate::handle::holds_plain_files(directory)?;
    open_writable(directory)
}

fn same(place: &str) -> Error {
    Error::argument("TO", place, "another place than FROM")
}

// What a copy wrote, and how both sides compare afterwards.

/// The number of differing items that a comparison names.
const NAMED: usize = 10;

/// What [`copy`](super::copy) did and found.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct CopyReport {
    /// What was written. What was equal already was not written again.
    pub written: Written,
    /// True if the observer stopped the copy. Nothing was compared then, and the same copy goes on where this one stopped.
    pub interrupted: bool,
    /// The comparison of each namespace, by name.
    pub namespaces: Vec<NamespaceComparison>,
    /// Settings of the index.
    pub settings: Compared,
    /// Calibrated thresholds.
    pub thresholds: Compared,
    /// Recorded searches with their judgements and openings.
    pub searches: Compared,
    /// Quality figures of queries.
    pub queries: Compared,
    /// Namespaces that only the destination has, and that stay as they are.
    pub other_namespaces: u64,
    /// The reason why the settings were not copied, if they were not.
    pub settings_left: Option<String>,
}

/// What a copy wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Written {
    /// Documents added or replaced.
    pub documents: u64,
    /// Documents deleted because the source does not have them.
    pub deleted: u64,
    /// Vectors added.
    pub vectors: u64,
    /// Records of evidence added or replaced.
    pub evidence: u64,
    /// Settings and registrations of namespaces.
    pub settings: u64,
    /// Calibrated thresholds.
    pub thresholds: u64,
    /// Recorded searches added, or completed with judgements and openings.
    pub searches: u64,
    /// Quality figures of queries.
    pub queries: u64,
}

/// Items of one kind on both sides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Compared {
    /// Number at the source.
    pub from: u64,
    /// Number at the destination, which may have others as well.
    pub to: u64,
    /// Number of the source's items that the destination lacks, or has with another content.
    pub different: u64,
}

/// A model's vectors on both sides.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ModelComparison {
    /// The model.
    pub model: String,
    /// Its vectors. Values that differ by no more than half precision rounds are equal.
    pub vectors: Compared,
}

/// A namespace on both sides.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct NamespaceComparison {
    /// Its name.
    pub name: String,
    /// True if its registration (root, owner, shared) is the same.
    pub same_registration: bool,
    /// Documents with all their properties.
    pub documents: Compared,
    /// Passages with their texts, properties and public identifiers.
    pub passages: Compared,
    /// Different texts to embed.
    pub texts: Compared,
    /// Vectors by model.
    pub vectors: Vec<ModelComparison>,
    /// Records of evidence.
    pub evidence: Compared,
    /// Documents that only the destination has.
    pub kept: u64,
    /// The first items that differ, by name.
    pub differing: Vec<String>,
}

impl Compared {
    /// Returns `true` if the destination has everything that the source has.
    pub fn is_equal(&self) -> bool {
        self.different == 0
    }
}

impl NamespaceComparison {
    /// Returns `true` if the destination has everything that the source has.
    pub fn is_equal(&self) -> bool {
        self.same_registration
            && [self.documents, self.passages, self.texts, self.evidence].iter().all(Compared::is_equal)
            && self.vectors.iter().all(|model| model.vectors.is_equal())
    }

    /// Names an item that differs.
    pub(crate) fn name_difference(&mut self, item: impl FnOnce() -> String) {
        if self.differing.len() < NAMED {
            self.differing.push(item());
        }
    }
}

impl CopyReport {
    /// Returns `true` if the destination has everything that the source has.
    pub fn is_equal(&self) -> bool {
        !self.interrupted
            && self.namespaces.iter().all(NamespaceComparison::is_equal)
            && [self.settings, self.thresholds, self.searches, self.queries].iter().all(Compared::is_equal)
    }
}
