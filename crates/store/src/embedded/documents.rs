//! Reading documents.

use super::EmbeddedStore;
use crate::error::Result;
use crate::filter::Filter;
use crate::mutex::lock;
use crate::namespace::Namespace;
use crate::record::{Attribute, DocumentId, DocumentState, PassageId, PassageRef, Place, StoredPassage, WholeDocument};
use crate::report::Origin;
use crate::store::Documents;

impl Documents for EmbeddedStore {
    fn namespaces(&self) -> Result<Vec<Namespace>> {
        let seq = self.database.seq()?;
        if let Some((_, known)) = lock(&self.namespaces).as_ref().filter(|(known_at, _)| *known_at == seq) {
            return Ok(known.clone());
        }
        let known = self.database.namespaces()?;
        *lock(&self.namespaces) = Some((seq, known.clone()));
        Ok(known)
    }

    fn documents(&self, namespace: &str) -> Result<Vec<DocumentState>> {
        self.database.documents(namespace)
    }

    fn document(&self, namespace: &str, path: &str) -> Result<Option<DocumentState>> {
        self.database.document(namespace, path)
    }

    fn document_passages(&self, namespace: &str, path: &str) -> Result<Vec<StoredPassage>> {
        self.database.document_passages(namespace, path)
    }

    fn whole_documents(&self, namespace: &str, documents: &[DocumentId]) -> Result<Vec<Option<WholeDocument>>> {
        self.database.whole_documents(namespace, documents)
    }

    fn records(&self, _: &[String], documents: &[DocumentId]) -> Result<Vec<Option<String>>> {
        self.database.records(documents)
    }

    fn attributes(&self, _: &[String], documents: &[DocumentId]) -> Result<Vec<Vec<Attribute>>> {
        self.database.attributes(documents)
    }

    fn origins(&self) -> Result<Vec<Origin>> {
        self.database.origins()
    }

    fn newest_dates(&self) -> Result<Vec<(String, i64)>> {
        self.database.newest_dates()
    }

    fn passages(&self, _: &[String], ids: &[PassageId]) -> Result<Vec<StoredPassage>> {
        self.database.passages(ids)
    }

    fn places(&self, _: &[String], ids: &[PassageId]) -> Result<Vec<(PassageId, Place)>> {
        self.database.places(ids)
    }

    fn find(&self, prefix: &str, limit: usize) -> Result<Vec<StoredPassage>> {
        self.database.find(prefix, limit)
    }

    fn select(&self, filter: &Filter) -> Result<Vec<PassageRef>> {
        self.database.select(&*self.resolve(filter)?)
    }
}
