//! The common part of all imports: compare each document with the stored one, and commit all changes in one transaction.

use super::summary::ImportSummary;
use crate::Error;
use crate::handle::Index;
use crate::index::{SPLITTER, attributes, passages};
use crate::progress::Observer;
use serde::Serialize;
use std::time::Instant;
use tamis_store::{Change, DocumentState, NewDocument, TextForm};
use tamis_text::{Category, Document, Options};

/// The destination of an import's documents, and the way they are split into passages.
#[derive(Clone)]
pub(crate) struct Target<'a> {
    pub namespace: &'a str,
    pub collection: &'a str,
    pub origin: &'a str,
    pub options: Options,
}

impl<'a> Target<'a> {
    pub fn new(namespace: &'a str, collection: &'a str, origin: &'a str) -> Self {
        Target { namespace, collection, origin, options: Options::default() }
    }

    /// Returns the summary of an import that has not done anything yet.
    pub fn summary(&self, dry_run: bool) -> ImportSummary {
        ImportSummary {
            origin: self.origin.to_owned(),
            namespace: self.namespace.to_owned(),
            collection: self.collection.to_owned(),
            dry_run,
            ..ImportSummary::default()
        }
    }

    /// Returns the outcome for one document. A document with the same content, split and origin as the stored one is unchanged,
    /// and is not built.
    pub fn outcome(
        &self,
        path: String,
        content: Content,
        known: Option<&DocumentState>,
        make: impl FnOnce(&Options) -> Document,
    ) -> Outcome {
        let content_hash = self.hash(&content);
        if known.is_some_and(|known| known.content_hash == content_hash && known.origin.as_deref() == Some(self.origin))
        {
            return Outcome::Unchanged;
        }
        let document = make(&self.options).into_plain();
        let form = if document.category == Category::Prose { TextForm::Prose } else { TextForm::Code };
        let document = Box::new(NewDocument {
            origin: Some(self.origin.to_owned()),
            language: document.language.map(str::to_owned),
            role: document.role.as_str().to_owned(),
            title: document.title.clone(),
            size: content.text.len() as u64,
            dated_ns: document.dated_ns,
            severity: document.severity.clone(),
            content_hash,
            attributes: attributes(&document),
            record: content.is_record.then_some(content.text),
            passages: passages(document, form),
            ..NewDocument::new(self.namespace, self.collection, path)
        });
        if known.is_some() { Outcome::Updated(document) } else { Outcome::Added(document) }
    }

    /// Hashes the content and the way it is split, so that an import after a change of either splits it anew.
    fn hash(&self, content: &Content) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        let settings = format!("version={SPLITTER} tokens={}", self.options.max_tokens);
        hasher.update(settings.as_bytes()).update(&[0]).update(content.text.as_bytes());
        *hasher.finalize().as_bytes()
    }
}

/// The content that a document is made from.
pub(crate) struct Content {
    text: String,
    is_record: bool,
}

impl Content {
    /// Creates content from a record, which is stored with the document as JSON.
    pub fn record(record: &impl Serialize) -> Result<Content, Error> {
        let failed =
            |error: serde_json::Error| Error::argument("record", error.to_string(), "something with a JSON form");
        Ok(Content { text: serde_json::to_string(record).map_err(failed)?, is_record: true })
    }

    /// Creates content from text that its passages hold as well.
    #[cfg(feature = "wiki")]
    pub fn text(text: String) -> Content {
        Content { text, is_record: false }
    }
}

/// The outcome of an import for one document.
pub(crate) enum Outcome {
    /// The document is new.
    Added(Box<NewDocument>),
    /// It replaces the stored one.
    Updated(Box<NewDocument>),
    /// It equals the stored one.
    Unchanged,
    /// The stored one is newer and stays.
    Older,
}

/// Counts outcomes and commits them, all or nothing. A dry run only counts. The caller holds the right to write.
pub(crate) fn commit(
    index: &Index,
    outcomes: Vec<Outcome>,
    mut summary: ImportSummary,
    observer: &dyn Observer,
) -> Result<ImportSummary, Error> {
    let mut changes = Vec::new();
    for outcome in outcomes {
        let (counter, document) = match outcome {
            Outcome::Added(document) => (&mut summary.added, Some(document)),
            Outcome::Updated(document) => (&mut summary.updated, Some(document)),
            Outcome::Unchanged => (&mut summary.unchanged, None),
            Outcome::Older => (&mut summary.older, None),
        };
        *counter += 1;
        if let Some(document) = document {
            summary.passages += document.passages.len() as u64;
            changes.push(Change::Put(*document));
        }
    }
    if observer.cancelled() {
        return Ok(summary.stopped());
    }
    if !summary.dry_run && !changes.is_empty() {
        let started = Instant::now();
        index.note_import(&summary.namespace);
        index.store.apply(&changes)?;
        summary.time("commit", started);
    }
    Ok(summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_way_of_dividing_replaces_what_is_stored() {
        let target = |max_tokens| Target {
            namespace: "house",
            collection: "issues",
            origin: "tracker",
            options: Options { max_tokens },
        };
        let content = Content::record(&"The pump stops.").expect("JSON");
        assert_eq!(target(400).hash(&content), target(400).hash(&content));
        assert_ne!(target(400).hash(&content), target(100).hash(&content));
    }
}
