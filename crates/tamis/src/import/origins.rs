//! Lists and removes imported documents by their origin.

use super::Imports;
use crate::Error;
use crate::index::{import_state_property, publish_store};
use crate::progress::Observer;
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeSet;
use tamis_store::Origin;

/// The documents from one origin in one collection of a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct Imported {
    /// Their origin: `github:OWNER/REPO`, or the name of a dump or of a log.
    pub origin: String,
    /// The namespace.
    pub namespace: String,
    /// The collection: `issues`, `wiki`, `sessions` or `evidence`.
    pub collection: String,
    /// The number of issues, pages, sessions, or fragments and claims.
    pub documents: u64,
    /// The number of their passages.
    pub passages: u64,
    /// The latest change to any of them, if known.
    #[schemars(with = "Option<String>")]
    pub updated: Option<Timestamp>,
}

impl From<Origin> for Imported {
    fn from(origin: Origin) -> Self {
        let Origin { name, namespace, collection, documents, passages, dated_ns } = origin;
        let time = |at: i64| Timestamp::from_nanosecond(i128::from(at)).ok();
        Imported { origin: name, namespace, collection, documents, passages, updated: dated_ns.and_then(time) }
    }
}

impl Imports<'_> {
    /// Returns the imported documents, grouped by namespace, collection and origin.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn list(&self) -> Result<Vec<Imported>, Error> {
        Ok(self.index.store.origins()?.into_iter().map(Imported::from).collect())
    }

    /// Returns what [`Imports::remove`] would remove: everything from an origin, in one namespace if it is named.
    ///
    /// # Errors
    /// Nothing came from that origin; the message names those that exist.
    pub fn list_from(&self, origin: &str, namespace: Option<&str>) -> Result<Vec<Imported>, Error> {
        let all = self.list()?;
        let meant = |one: &&Imported| one.origin == origin && namespace.is_none_or(|named| named == one.namespace);
        let found: Vec<Imported> = all.iter().filter(meant).cloned().collect();
        if !found.is_empty() {
            return Ok(found);
        }
        let known: BTreeSet<String> = all
            .iter()
            .map(|one| match namespace {
                Some(_) => format!("{} (namespace {})", one.origin, one.namespace),
                None => one.origin.clone(),
            })
            .collect();
        let allowed = match known.is_empty() {
            true => "the origin of something imported, and nothing is".to_owned(),
            false => format!("an origin of this index: {}", Vec::from_iter(known).join(", ")),
        };
        let value = namespace.map_or_else(|| format!("{origin:?}"), |name| format!("{origin:?} in namespace {name:?}"));
        Err(Error::argument("origin", value, allowed))
    }

    /// Removes everything from an origin, in one namespace if it is named, in one transaction. Evidence other than documents goes
    /// if nothing else refers to it. A namespace without a directory goes with its last document. Vectors stay for documents that
    /// come back. Returns the removed documents.
    ///
    /// # Errors
    /// Nothing came from that origin, or another process is writing.
    pub fn remove(
        &self,
        origin: &str,
        namespace: Option<&str>,
        observer: &dyn Observer,
    ) -> Result<Vec<Imported>, Error> {
        let _writing = self.index.wait_to_write(observer)?;
        let found = self.list_from(origin, namespace)?;
        let namespaces: BTreeSet<&String> = found.iter().map(|one| &one.namespace).collect();
        // The progress of a live import goes first: without it, the next import starts over.
        for namespace in &namespaces {
            self.index.store.set_property(&import_state_property(namespace, origin), "")?;
        }
        self.index.store.remove_origin(origin, &namespaces.iter().map(|name| (*name).clone()).collect::<Vec<_>>())?;
        let sources = self.index.sources();
        for namespace in self.index.store.namespaces()? {
            let has_directory = sources.iter().any(|source| source.namespace == namespace.name);
            let is_empty = namespace.documents == 0 && !self.has_evidence(&namespace.name)?;
            if namespaces.contains(&namespace.name) && is_empty && !has_directory {
                self.index.store.remove_namespace(&namespace.name)?;
            }
        }
        match publish_store(&*self.index.store, observer) {
            // The next run publishes what is removed.
            Err(Error::Cancelled) => {}
            published => published?,
        }
        Ok(found)
    }

    /// Returns `true` if the namespace holds tasks, works or pages, which are not documents.
    #[cfg(feature = "evidence")]
    fn has_evidence(&self, namespace: &str) -> Result<bool, Error> {
        Ok(!self.index.store.evidence_summary(namespace, None)?.is_empty())
    }

    /// Returns `true`. Without the evidence graph we cannot know that a namespace is empty, so it stays.
    #[cfg(not(feature = "evidence"))]
    fn has_evidence(&self, _namespace: &str) -> Result<bool, Error> {
        Ok(true)
    }
}
