//! From a file to a document of the store.

use super::walk::FoundFile;
use crate::config::IndexConfig;
use std::path::Path;
use tamis_store::{Attribute, NewDocument, NewPassage, TextForm};
use tamis_text::{Category, Document, Options, Skip};

/// The collection of files that were looked at and left out. They have no passages; they are remembered so that the
/// next run need not read them again.
pub(crate) const SKIPPED: &str = "skipped";

/// The collections of documents that are files of the tree.
pub(crate) const FILE_COLLECTIONS: [&str; 3] = ["code", "docs", SKIPPED];

/// Whether the configuration leaves out this kind of file.
pub(super) fn skips(config: &IndexConfig, skip: Skip) -> bool {
    match skip.as_str() {
        "binary" | "empty" | "too_large" => true,
        name => config.skip.iter().any(|listed| listed == name),
    }
}

/// The hash by which a changed file is told from a touched one.
pub(super) fn content_hash(bytes: &[u8]) -> [u8; 32] {
    *blake3::hash(bytes).as_bytes()
}

/// Splits a file's content into passages. A file that is left out for its content becomes a document without any.
pub(super) fn read(namespace: &str, file: &FoundFile, bytes: &[u8], config: &IndexConfig) -> NewDocument {
    let empty = |skip: &str| NewDocument {
        namespace: namespace.to_owned(),
        collection: SKIPPED.to_owned(),
        path: file.path.clone(),
        origin: None,
        language: None,
        role: skip.to_owned(),
        title: None,
        size: file.size,
        modified_ns: file.modified_ns,
        dated_ns: None,
        severity: None,
        content_hash: content_hash(bytes),
        note: None,
        attributes: Vec::new(),
        record: None,
        passages: Vec::new(),
    };
    if let Some(skip) = tamis_text::skip_by_content(&file.path, bytes)
        && skips(config, skip)
    {
        return empty(skip.as_str());
    }
    let document = tamis_text::read(&file.path, bytes, &Options { max_tokens: config.passage_tokens });
    let notes: Vec<String> = document.notes.iter().map(ToString::to_string).collect();
    let form = if document.category == Category::Prose { TextForm::Prose } else { TextForm::Code };
    NewDocument {
        collection: document.collection().to_owned(),
        language: document.language.as_ref().map(ToString::to_string),
        role: document.role.as_str().to_owned(),
        title: document.title.clone(),
        severity: document.severity.clone(),
        dated_ns: document.dated_ns,
        attributes: attributes(&document),
        note: (!notes.is_empty()).then(|| notes.join("; ")),
        passages: passages(document, form),
        ..empty("")
    }
}

/// What a document says of itself, as the store takes it.
pub(crate) fn attributes(document: &Document) -> Vec<Attribute> {
    let attribute = |(name, value): &(String, String)| Attribute { name: name.clone(), value: value.clone() };
    document.attributes.iter().map(attribute).collect()
}

/// The passages of a document, as the store takes them.
pub(crate) fn passages(document: Document, form: TextForm) -> Vec<NewPassage> {
    let passage = |passage: tamis_text::Passage| NewPassage {
        start_line: passage.start_line,
        end_line: passage.end_line,
        kind: passage.kind.as_str().to_owned(),
        embedded_text: passage.embedded_text().into_owned(),
        symbol: passage.symbol,
        signature: passage.signature,
        heading: passage.heading,
        context: passage.context,
        text: passage.text,
        role: passage.role.as_str().to_owned(),
        language: None,
        author: passage.author,
        dated_ns: passage.dated_ns,
        part: passage.part,
        form,
    };
    document.passages.into_iter().map(passage).collect()
}

/// Reads a file of the tree whole.
pub(super) fn bytes(root: &Path, file: &FoundFile) -> std::io::Result<Vec<u8>> {
    std::fs::read(root.join(&file.path))
}
