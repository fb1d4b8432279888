//! Copying documents and their vectors, batch by batch. A batch that is written is found equal by the next copy.

use super::evidence;
use super::pairs::{Pair, Pairs};
use super::report::Written;
use crate::Error;
use crate::progress::{Observer, Stage};
use std::collections::HashMap;
use tamis_store::{Change, DocumentId, Store, TextHash};

/// Most documents that are deleted in one transaction.
const DELETED: usize = 256;

/// Copies the documents of a namespace with their vectors. Returns `false` if the observer stopped it.
pub(super) fn copy(
    from: &dyn Store,
    to: &dyn Store,
    namespace: &str,
    delete: bool,
    observer: &dyn Observer,
    written: &mut Written,
) -> Result<bool, Error> {
    let mut pairs = Pairs::new(from, to, namespace)?;
    observer.stage(Stage::Copy(namespace.to_owned()), pairs.len());
    if delete {
        written.deleted += remove(to, &pairs.kept)?;
    }
    let models = from.models()?;
    loop {
        if observer.cancelled() {
            return Ok(false);
        }
        let batch = pairs.next()?;
        if batch.is_empty() {
            return Ok(true);
        }
        write(from, to, namespace, &batch, written)?;
        for model in &models {
            let texts: HashMap<TextHash, TextHash> = batch.iter().flat_map(texts).collect();
            let (sources, targets): (Vec<TextHash>, Vec<TextHash>) = texts.into_iter().unzip();
            let vectors = from.text_vectors(namespace, &model.id, &sources)?;
            let known = to.text_vectors(namespace, &model.id, &targets)?;
            let missing: Vec<(TextHash, Vec<f32>)> = targets
                .into_iter()
                .zip(vectors)
                .zip(known)
                .filter_map(|((text, vector), known)| if known.is_none() { Some((text, vector?)) } else { None })
                .collect();
            if !missing.is_empty() {
                written.vectors += to.put_vectors(model, &missing)?;
            }
        }
        observer.advance(batch.len() as u64);
    }
}

fn remove(to: &dyn Store, documents: &[DocumentId]) -> Result<u64, Error> {
    for batch in documents.chunks(DELETED) {
        to.apply(&batch.iter().map(|&document| Change::Delete { document }).collect::<Vec<_>>())?;
    }
    Ok(documents.len() as u64)
}

/// Writes the documents of a batch that differ.
fn write(
    from: &dyn Store,
    to: &dyn Store,
    namespace: &str,
    batch: &[Pair],
    written: &mut Written,
) -> Result<(), Error> {
    let (of_evidence, others): (Vec<&Pair>, Vec<&Pair>) = batch.iter().partition(|pair| pair.is_evidence());
    let changes: Vec<Change> =
        others.iter().filter(|pair| pair.is_to_write()).map(|pair| Change::Put(pair.from.content.clone())).collect();
    if !changes.is_empty() {
        to.apply(&changes)?;
        written.documents += changes.len() as u64;
    }
    evidence::copy_documents(from, to, namespace, &of_evidence, written)
}

/// The keys of the vectors of each passage: at the source, and at the destination. They differ where a text came from a store
/// that holds no NUL.
fn texts(pair: &Pair) -> impl Iterator<Item = (TextHash, TextHash)> {
    let stored = pair.to.as_ref().filter(|_| !pair.is_to_write());
    pair.from.keys.iter().zip(&pair.from.content.passages).enumerate().map(move |(place, (key, passage))| {
        let there = stored.and_then(|to| to.keys.get(place)).map(|key| key.text_hash);
        (key.text_hash, there.unwrap_or_else(|| TextHash::of(&passage.embedded_text)))
    })
}
