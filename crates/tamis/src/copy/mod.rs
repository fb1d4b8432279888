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
mod documents;
mod evidence;
mod pairs;
mod place;
mod report;
mod settings;
mod trees;
mod usage;

pub use place::{Place, copy_between};
pub use report::{Compared, CopyReport, ModelComparison, NamespaceComparison, Written};

use crate::Error;
use crate::index::publish_store;
use crate::progress::Observer;
use tamis_store::{Namespace, Store};
use trees::Side;

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
    let trees = || trees::Copied { from, to, is_named: options.tree.is_some() };
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
        written.settings += u64::from(settings::register(to, namespace, known)?);
        evidence::copy_nodes(from, to, name, options.delete, written)?;
        if !documents::copy(from, to, name, options.delete, observer, written)? {
            return Ok(false);
        }
        evidence::copy_edges(from, to, name, written)?;
    }
    report.thresholds = settings::copy_thresholds(from, to, &mut report.written)?;
    if !usage::copy(from.usage()?, to.usage()?, &options.namespaces, observer, report)? {
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
