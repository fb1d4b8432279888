//! Documents of both sides, side by side, in batches that fit into memory.

use crate::Error;
use std::borrow::Cow;
use std::collections::HashMap;
use tamis_store::{DocumentId, EVIDENCE_COLLECTION, NewDocument, Store, WholeDocument};

/// Most documents of a batch, which is one transaction.
const DOCUMENTS: usize = 256;
/// A batch ends with the document that reaches this many passages.
const PASSAGES: u32 = 2_000;

/// A document of the source, and the one at its path at the destination.
pub(super) struct Pair {
    pub from: WholeDocument,
    pub to: Option<WholeDocument>,
}

/// The documents of a namespace, by path.
pub(super) struct Pairs<'s> {
    from: &'s dyn Store,
    to: &'s dyn Store,
    namespace: &'s str,
    /// The source's documents: number, number of passages, and the number at the destination.
    documents: Vec<(DocumentId, u32, Option<DocumentId>)>,
    /// The destination's documents at paths that the source does not have.
    pub kept: Vec<DocumentId>,
    done: usize,
}

impl<'s> Pairs<'s> {
    pub fn new(from: &'s dyn Store, to: &'s dyn Store, namespace: &'s str) -> Result<Self, Error> {
        let mut there: HashMap<String, DocumentId> =
            to.documents(namespace)?.into_iter().map(|state| (state.path, state.document)).collect();
        let documents = from.documents(namespace)?;
        let documents =
            documents.into_iter().map(|state| (state.document, state.passages, there.remove(&state.path))).collect();
        Ok(Pairs { from, to, namespace, documents, kept: there.into_values().collect(), done: 0 })
    }

    /// The number of the source's documents.
    pub fn len(&self) -> u64 {
        self.documents.len() as u64
    }

    /// The next batch; empty at the end. A document that was deleted meanwhile is left out.
    pub fn next(&mut self) -> Result<Vec<Pair>, Error> {
        loop {
            let rest = self.documents.get(self.done..).unwrap_or_default();
            let mut passages = 0;
            let full = rest.iter().take(DOCUMENTS).position(|document| {
                passages += document.1;
                passages >= PASSAGES
            });
            let batch = &rest[..full.map_or(rest.len().min(DOCUMENTS), |last| last + 1)];
            if batch.is_empty() {
                return Ok(Vec::new());
            }
            let from: Vec<DocumentId> = batch.iter().map(|document| document.0).collect();
            let to: Vec<DocumentId> = batch.iter().filter_map(|document| document.2).collect();
            let found = self.to.whole_documents(self.namespace, &to)?.into_iter().flatten();
            let mut there: HashMap<DocumentId, WholeDocument> = found.map(|whole| (whole.document, whole)).collect();
            let whole = self.from.whole_documents(self.namespace, &from)?;
            let pairs: Vec<Pair> = whole
                .into_iter()
                .zip(batch)
                .filter_map(|(from, (_, _, to))| Some(Pair { from: from?, to: to.and_then(|to| there.remove(&to)) }))
                .collect();
            self.done += batch.len();
            if !pairs.is_empty() {
                return Ok(pairs);
            }
        }
    }
}

impl Pair {
    /// True if it belongs to the evidence graph.
    pub fn is_evidence(&self) -> bool {
        self.from.content.collection == EVIDENCE_COLLECTION
    }

    /// True if the destination has the document with the same content.
    pub fn is_equal(&self) -> bool {
        self.to.as_ref().is_some_and(|to| same(&self.from.content, &to.content))
    }

    /// True if the document has to be written. The store itself gives documents of the evidence the tasks that their edges
    /// lead to, and the edges may still be missing.
    pub fn is_to_write(&self) -> bool {
        let Some(to) = &self.to else { return true };
        if same(&self.from.content, &to.content) {
            return false;
        }
        !self.is_evidence() || !same(&without_tasks(&self.from.content), &without_tasks(&to.content))
    }
}

fn without_tasks(document: &NewDocument) -> NewDocument {
    let mut document = document.clone();
    document.attributes.retain(|attribute| attribute.name != "task");
    document
}

/// True if a store that holds no NUL would hold both in the same way.
fn same(a: &NewDocument, b: &NewDocument) -> bool {
    a == b || plain(a) == plain(b)
}

/// The document as every store can hold it.
fn plain(document: &NewDocument) -> NewDocument {
    let mut document = document.clone();
    let replace = |text: &mut String| {
        if let Cow::Owned(replaced) = storable(text) {
            *text = replaced;
        }
    };
    let texts = [&mut document.title, &mut document.note, &mut document.record, &mut document.severity];
    texts.into_iter().flatten().for_each(replace);
    document.attributes.iter_mut().for_each(|attribute| replace(&mut attribute.value));
    for passage in &mut document.passages {
        let optional = [
            &mut passage.symbol, &mut passage.signature, &mut passage.heading, &mut passage.context,
            &mut passage.author,
        ];
        optional.into_iter().flatten().for_each(replace);
        replace(&mut passage.text);
        replace(&mut passage.embedded_text);
        // A language of its own that is the document's is none.
        passage.language = passage.language.take().filter(|own| Some(own) != document.language.as_ref());
    }
    document
}

fn storable(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text.into() }
}
