//! What a list of changes amounts to.
//!
//! Changes apply in order, and a later one can concern the same document or path as an earlier one. So they are first played
//! through on what is stored, in memory; what comes out is then written with a few statements for all documents.

use std::collections::{BTreeSet, HashMap};

use crate::error::StoreError;
use crate::evidence::EVIDENCE_COLLECTION;
use crate::graph::EvidenceChange;
use crate::record::{Applied, Change, DocumentId, NewDocument};
use crate::sqlite::{validate, validate_path};

/// A document that changes may concern, as it is stored and then as the changes leave it.
#[derive(Debug, Clone)]
pub(super) struct Planned<'c> {
    /// Its number; `None` before it has one.
    pub number: Option<i32>,
    pub namespace: String,
    pub path: String,
    pub collection: String,
    pub size: i64,
    pub modified_ns: i64,
    pub stamp: i64,
    /// The number of its passages.
    pub passages: u64,
    /// Its new content; `None` if the stored one stays.
    pub content: Option<&'c NewDocument>,
    /// The place of the last change that gave its passages new numbers.
    pub renumbered: Option<usize>,
    /// True if its path, size or time of modification differ from the stored ones.
    pub touched: bool,
    /// True after its deletion.
    pub gone: bool,
}

impl Planned<'_> {
    fn set_state(&mut self, (size, modified_ns, stamp): (u64, i64, i64)) {
        (self.size, self.modified_ns, self.stamp, self.touched) = (size as i64, modified_ns, stamp, true);
    }
}

/// The changes played through.
#[derive(Debug, Default)]
pub(super) struct Plan<'c> {
    pub documents: Vec<Planned<'c>>,
    by_number: HashMap<i32, usize>,
    by_path: HashMap<(String, String), usize>,
    pub applied: Applied,
    /// The namespaces of documents that were put. They are registered even if nothing remains in them.
    pub registered: BTreeSet<String>,
    /// The namespaces whose change numbers rise: all with a change besides touched files.
    pub changed: BTreeSet<String>,
    pub evidence: Vec<EvidenceChange>,
}

impl<'c> Plan<'c> {
    /// Adds a stored document. Adding it again changes nothing.
    pub fn know(&mut self, document: Planned<'c>) {
        let Some(number) = document.number else { return };
        if let std::collections::hash_map::Entry::Vacant(unknown) = self.by_number.entry(number) {
            let place = self.documents.len();
            unknown.insert(place);
            self.by_path.insert((document.namespace.clone(), document.path.clone()), place);
            self.documents.push(document);
        }
    }

    /// Plays a change through; `order` is its place among the changes.
    pub fn change(&mut self, order: usize, change: &'c Change) -> Result<(), StoreError> {
        match change {
            Change::Put(document) => self.put(order, document),
            Change::Touch { document, size, modified_ns, stamp } => {
                let place = self.place(*document)?;
                self.touch(place, (*size, *modified_ns, *stamp));
                Ok(())
            }
            Change::Move { document, path, size, modified_ns, stamp } => {
                self.relocate(order, *document, path, (*size, *modified_ns, *stamp))
            }
            Change::Delete { document } => {
                let place = self.place(*document)?;
                self.delete(place);
                Ok(())
            }
        }
    }

    fn place(&self, document: DocumentId) -> Result<usize, StoreError> {
        i32::try_from(document.0)
            .ok()
            .and_then(|number| self.by_number.get(&number).copied())
            .filter(|place| !self.documents[*place].gone)
            .ok_or(StoreError::UnknownDocument { document: document.0 })
    }

    fn put(&mut self, order: usize, new: &'c NewDocument) -> Result<(), StoreError> {
        validate(new)?;
        self.registered.insert(new.namespace.clone());
        self.changed.insert(new.namespace.clone());
        let key = (new.namespace.clone(), new.path.clone());
        let known = self.by_path.get(&key).copied();
        let planned = Planned {
            number: known.and_then(|place| self.documents[place].number),
            namespace: new.namespace.clone(),
            path: new.path.clone(),
            collection: new.collection.clone(),
            size: new.size as i64,
            modified_ns: new.modified_ns,
            stamp: new.stamp,
            passages: new.passages.len() as u64,
            content: Some(new),
            renumbered: Some(order),
            touched: known.is_some_and(|place| self.documents[place].touched),
            gone: false,
        };
        match known {
            Some(place) => {
                self.applied.passages_deleted += self.documents[place].passages;
                self.applied.replaced += 1;
                self.documents[place] = planned;
            }
            None => {
                self.applied.added += 1;
                self.by_path.insert(key, self.documents.len());
                self.documents.push(planned);
            }
        }
        self.applied.passages_added += new.passages.len() as u64;
        if new.collection == EVIDENCE_COLLECTION {
            let (namespace, path) = (new.namespace.clone(), new.path.clone());
            self.evidence.push(EvidenceChange::Put { namespace, path });
        }
        Ok(())
    }

    /// `state` is the file's size, time of modification and stamp.
    fn touch(&mut self, place: usize, state: (u64, i64, i64)) {
        self.documents[place].set_state(state);
        self.applied.touched += 1;
    }

    /// Passages of a moved document are new ones with the same texts, because their public identifiers and the words of
    /// their path change.
    fn relocate(
        &mut self,
        order: usize,
        document: DocumentId,
        path: &str,
        state: (u64, i64, i64),
    ) -> Result<(), StoreError> {
        let place = self.place(document)?;
        if self.documents[place].path == path {
            self.touch(place, state);
            return Ok(());
        }
        validate_path(path)?;
        let namespace = self.documents[place].namespace.clone();
        if let Some(&replaced) = self.by_path.get(&(namespace.clone(), path.to_owned())) {
            self.delete(replaced);
        }
        let document = &mut self.documents[place];
        let old = std::mem::replace(&mut document.path, path.to_owned());
        document.set_state(state);
        document.renumbered = Some(order);
        self.applied.moved += 1;
        self.applied.passages_added += document.passages;
        self.applied.passages_deleted += document.passages;
        self.by_path.remove(&(namespace.clone(), old));
        self.by_path.insert((namespace.clone(), path.to_owned()), place);
        self.changed.insert(namespace);
        Ok(())
    }

    fn delete(&mut self, place: usize) {
        let document = &mut self.documents[place];
        document.gone = true;
        let (namespace, path) = (document.namespace.clone(), document.path.clone());
        self.applied.deleted += 1;
        self.applied.passages_deleted += document.passages;
        self.changed.insert(namespace.clone());
        if document.collection == EVIDENCE_COLLECTION {
            self.evidence.push(EvidenceChange::Deleted { namespace: namespace.clone(), path: path.clone() });
        }
        self.by_path.remove(&(namespace, path));
    }
}
