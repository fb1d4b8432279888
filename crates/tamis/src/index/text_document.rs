//! Documents that a program passes as text.

use crate::Error;
use crate::collections::FILE_COLLECTIONS;
use crate::handle::Index;
use tamis_store::{Applied, Change, EVIDENCE_COLLECTION, NewDocument, NewPassage, TextForm};
use tamis_text::Options;

/// A document as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextDocument {
    /// Its identifier, which is its path in results.
    pub id: String,
    /// The collection it belongs to.
    pub collection: String,
    /// Its title; searched with every passage.
    pub title: Option<String>,
    /// Its text. Long text is split by paragraphs.
    pub text: String,
}

impl Index {
    /// Adds documents, or replaces those with the same identifiers. Searches find them after the next [`Index::complete`].
    ///
    /// # Errors
    /// The collection belongs to the files of the tree or to evidence, the index is not writable, or another process is writing.
    pub fn put_documents(&self, documents: &[TextDocument]) -> Result<Applied, Error> {
        let is_taken = |collection: &str| FILE_COLLECTIONS.contains(&collection) || collection == EVIDENCE_COLLECTION;
        if let Some(taken) = documents.iter().find(|document| is_taken(&document.collection)) {
            let files = FILE_COLLECTIONS.join(", ");
            let allowed = format!("another name than those of files, {files}, and than {EVIDENCE_COLLECTION}");
            return Err(Error::argument("collection", format!("{:?}", taken.collection), allowed));
        }
        let changes: Vec<Change> = documents.iter().map(|document| Change::Put(self.text_document(document))).collect();
        for change in &changes {
            if let Change::Put(document) = change {
                self.note_import(&document.namespace);
            }
        }
        Ok(self.store.apply(&changes)?)
    }

    fn text_document(&self, document: &TextDocument) -> NewDocument {
        let title = document.title.clone().filter(|title| !title.trim().is_empty());
        let options = Options::default();
        // The text is read like a text file. The name only marks it as plain text.
        let read = tamis_text::read("document.txt", document.text.as_bytes(), &options).into_plain();
        let passage = |passage: tamis_text::Passage| NewPassage {
            start_line: passage.start_line,
            end_line: passage.end_line,
            kind: passage.kind.as_str().to_owned(),
            symbol: None,
            signature: None,
            heading: title.clone(),
            context: None,
            embedded_text: {
                let parts = [title.as_deref(), None, None];
                tamis_text::embedded_text(passage.kind.as_str(), parts, &passage.text).into_owned()
            },
            text: passage.text,
            role: passage.role.as_str().to_owned(),
            language: None,
            author: passage.author,
            dated_ns: passage.dated_ns,
            part: passage.part,
            form: TextForm::Prose,
        };
        NewDocument {
            namespace: self.namespace.clone(),
            collection: document.collection.clone(),
            path: document.id.clone(),
            origin: None,
            language: None,
            role: read.role.as_str().to_owned(),
            size: document.text.len() as u64,
            modified_ns: 0,
            stamp: 0,
            dated_ns: None,
            severity: None,
            content_hash: *blake3::hash(document.text.as_bytes()).as_bytes(),
            note: None,
            attributes: Vec::new(),
            record: None,
            passages: read.passages.into_iter().map(passage).collect(),
            title: title.clone(),
        }
    }
}
