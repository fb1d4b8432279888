//! Turns a file into a document of the store.

use super::attributes::FileAttributes;
use super::collection::Collections;
use super::walk::{FoundFile, is_by_size, limits, skip_by_path, skips};
use crate::Error;
use crate::collections::{FILE_COLLECTIONS, SKIPPED};
use crate::config::{Config, FileCollection, IndexConfig};
use crate::file::foreign::read_in;
use crate::handle::Source;
use crate::index::document::Budget;
use jiff::tz::TimeZone;
use std::path::Path;
use std::sync::LazyLock;
use tamis_store::{Attribute, DocumentState, NewDocument, NewPassage, TextForm};
use tamis_text::{Category, Document, Language, NoteOptions, Options, Role, Skip};

/// The reason to leave out a file that ends the process which reads it.
pub(crate) const DEADLY: &str = "deadly";

/// Returns `true` if a document is a file of its namespace's tree.
pub(crate) fn is_file(document: &DocumentState) -> bool {
    document.origin.is_none() && FILE_COLLECTIONS.contains(&document.collection.as_str())
}

/// Returns the hash that distinguishes a changed file from a touched one. Attributes that decide how it is read belong to it.
pub(super) fn content_hash(file: &FoundFile, bytes: &[u8]) -> [u8; 32] {
    match file.attributes.mark() {
        0 => *blake3::hash(bytes).as_bytes(),
        mark => *blake3::Hasher::new().update(bytes).update(&mark.to_le_bytes()).finalize().as_bytes(),
    }
}

/// Reads the files of one source.
pub(super) struct Reader<'a> {
    namespace: &'a str,
    config: &'a IndexConfig,
    notes: LazyLock<NoteOptions>,
    collections: Collections,
    budget: Budget,
}

impl<'a> Reader<'a> {
    /// # Errors
    /// A glob of the configuration is invalid.
    pub fn new(source: &'a Source, config: &'a Config) -> Result<Self, Error> {
        let collections = Collections::new(source, config)?;
        // People date their notes in local time. Most runs read no file, and finding the time zone takes half a millisecond.
        let notes: LazyLock<NoteOptions> =
            LazyLock::new(|| NoteOptions { time_zone: TimeZone::system(), ..NoteOptions::default() });
        Ok(Reader {
            namespace: &source.namespace,
            config: &config.index,
            notes,
            collections,
            budget: Budget::default(),
        })
    }

    /// Splits a file's content into passages. A file left out for its content becomes a document without passages.
    pub fn read(&self, file: &FoundFile, bytes: &[u8]) -> NewDocument {
        let empty = |skip: &str| self.without_text(file, skip, content_hash(file, bytes));
        let options = Options::default();
        let FileAttributes { generated, vendored, language, encoding } = &file.attributes;
        let transcoded = encoding.as_ref().and_then(|encoding| tamis_text::transcoded(bytes, encoding));
        let bytes = transcoded.as_deref().unwrap_or(bytes);
        let rich = match self.budget.read_document(&file.path, bytes, &options) {
            Ok(rich) => rich,
            Err(skip) => return empty(skip.as_str()),
        };
        let is_page = rich.as_ref().is_some_and(|document| document.language == Some("html"));
        if (rich.is_none() || is_page)
            && let Some(skip) = tamis_text::skip_by_content(&file.path, bytes)
            && skips(self.config, skip)
            // The text of a page has lines of its own.
            && !(is_page && skip == Skip::Minified)
            && !(skip == Skip::Generated && *generated == Some(false))
        {
            return empty(skip.as_str());
        }
        let collection = self.collections.of_file(&file.path);
        let document = rich.unwrap_or_else(|| {
            let language = language.as_ref().and_then(|name| Language::resolve(name));
            self.document(collection, file, language, bytes)
        });
        let mut document = document.into_plain();
        match (generated, vendored) {
            (Some(true), _) => document.set_role(Role::Generated),
            (_, Some(true)) => document.set_role(Role::Vendored),
            _ => {}
        }
        let notes: Vec<String> = document.notes.iter().map(ToString::to_string).collect();
        let form = if document.category == Category::Prose { TextForm::Prose } else { TextForm::Code };
        NewDocument {
            collection: collection.map_or(document.collection(), FileCollection::as_str).to_owned(),
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

    /// A document that is remembered only as left out.
    fn without_text(&self, file: &FoundFile, skip: &str, content_hash: [u8; 32]) -> NewDocument {
        NewDocument {
            role: skip.to_owned(),
            size: file.size,
            modified_ns: file.modified_ns,
            stamp: file.stamp,
            content_hash,
            ..NewDocument::new(self.namespace, SKIPPED, file.path.as_str())
        }
    }

    /// The document of a file that is not read, since it is too large.
    pub fn too_large(&self, file: &FoundFile) -> Option<NewDocument> {
        let skip = skip_by_path(&file.path, file.size, self.config).filter(|skip| is_by_size(*skip))?;
        // Another large file must not look like this one, moved.
        let hash = content_hash(file, format!("{}\n{}", file.path, file.size).as_bytes());
        Some(self.without_text(file, skip.as_str(), hash))
    }

    /// The document of a file that is left out, since processes ended while they read it.
    pub fn deadly(&self, file: &FoundFile, bytes: &[u8]) -> NewDocument {
        self.without_text(file, DEADLY, content_hash(file, bytes))
    }

    /// The document of a text. `language` is the one that it is said to have.
    fn document(
        &self,
        collection: Option<FileCollection>,
        file: &FoundFile,
        language: Option<&'static Language>,
        bytes: &[u8],
    ) -> Document {
        let options = Options::default();
        match collection {
            Some(FileCollection::Notes) => tamis_text::read_note(&file.path, bytes, &self.notes),
            #[cfg(feature = "wiki")]
            Some(FileCollection::Wiki) => tamis_text::read_page(&file.path, bytes, &options),
            _ => match language.and_then(|language| language.extensions.first()) {
                // Read as a file beside it with an ending of the language.
                Some(extension) => tamis_text::read(&format!("{}.{extension}", file.path), bytes, &options),
                None => tamis_text::read(&file.path, bytes, &options),
            },
        }
    }
}

/// Returns the attributes of a document in the store's form.
pub(crate) fn attributes(document: &Document) -> Vec<Attribute> {
    let attribute = |(name, value): &(String, String)| Attribute { name: name.clone(), value: value.clone() };
    document.attributes.iter().map(attribute).collect()
}

/// Returns the passages of a document in the store's form.
pub(crate) fn passages(document: Document, form: TextForm) -> Vec<NewPassage> {
    // A notebook is code, with prose around it.
    let mixed = document.passages.iter().any(|passage| passage.language.is_some());
    let passage = |passage: tamis_text::Passage| NewPassage {
        form: if mixed && passage.language.is_none() { TextForm::Prose } else { form },
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
        language: passage.language,
        author: passage.author,
        dated_ns: passage.dated_ns,
        part: passage.part,
    };
    document.passages.into_iter().map(passage).collect()
}

/// Reads a whole file of the tree. It may have changed since it was listed, so a link in its path is not followed, a pipe does
/// not block, and no more is read than a file may hold.
pub(super) fn bytes(root: &Path, file: &FoundFile, config: &IndexConfig) -> std::io::Result<Vec<u8>> {
    read_in(root, Path::new(&file.path), tamis_text::most_bytes(&file.path, &limits(config)))
}
