//! Reading documents, their passages and the namespaces they belong to.

use crate::error::Result;
use crate::filter::Filter;
use crate::namespace::Namespace;
use crate::record::{Attribute, DocumentId, DocumentState, PassageId, PassageRef, Place, StoredPassage, WholeDocument};
use crate::report::Origin;

/// Reads documents, passages and namespaces.
pub trait Documents: Send + Sync {
    /// Returns all namespaces, by name: those with documents and those that were registered.
    fn namespaces(&self) -> Result<Vec<Namespace>>;

    /// Returns the namespaces that cannot be read now, because the server that holds them is away; empty for a store in one place.
    fn unreachable(&self) -> Result<Vec<String>>;

    /// Returns all documents of a namespace, by path.
    fn documents(&self, namespace: &str) -> Result<Vec<DocumentState>>;

    /// Returns the document at a path.
    fn document(&self, namespace: &str, path: &str) -> Result<Option<DocumentState>>;

    /// Returns the passages of the document at a path, in document order; empty if the document does not exist.
    fn document_passages(&self, namespace: &str, path: &str) -> Result<Vec<StoredPassage>>;

    /// Returns whole documents in the order given, as [`Change::Put`](crate::Change::Put) takes them; `None` for a document
    /// that is gone or belongs to another namespace.
    fn whole_documents(&self, namespace: &str, documents: &[DocumentId]) -> Result<Vec<Option<WholeDocument>>>;

    /// Returns the records ([`NewDocument::record`](crate::NewDocument::record)) of documents in the order given; `None`
    /// for a document that is gone or has none. `namespaces` says where they are, as in [`passages`](Documents::passages).
    fn records(&self, namespaces: &[String], documents: &[DocumentId]) -> Result<Vec<Option<String>>>;

    /// Returns the attributes of documents in the order given, each list by name and value; empty for a document that is
    /// gone. `namespaces` says where they are, as in [`passages`](Documents::passages).
    fn attributes(&self, namespaces: &[String], documents: &[DocumentId]) -> Result<Vec<Vec<Attribute>>>;

    /// Returns the origins of imported documents and evidence, by namespace, collection and name.
    fn origins(&self) -> Result<Vec<Origin>>;

    /// Returns the date of the newest document of each namespace, in nanoseconds since 1970, by namespace. Documents with a date
    /// of their own decide; where a namespace has none, the times of modification do. A namespace without either is left out.
    fn newest_dates(&self) -> Result<Vec<(String, i64)>>;

    /// Returns passages in the order given, without those that are gone. A passage that was replaced or deleted after the
    /// last [`publish`](super::Maintenance::publish) is still returned where the lexical leg still finds it.
    ///
    /// `namespaces` says where they are, so that a store of several servers asks no other; empty: anywhere.
    fn passages(&self, namespaces: &[String], ids: &[PassageId]) -> Result<Vec<StoredPassage>>;

    /// Returns the places of passages, without those that are gone, in any order.
    fn places(&self, namespaces: &[String], ids: &[PassageId]) -> Result<Vec<(PassageId, Place)>>;

    /// Returns passages whose public identifier starts with `prefix`, by identifier, at most `limit`. An exact match is
    /// returned alone.
    fn find(&self, prefix: &str, limit: usize) -> Result<Vec<StoredPassage>>;

    /// Returns all passages that pass a filter, ascending.
    fn select(&self, filter: &Filter) -> Result<Vec<PassageRef>>;
}
