//! The data of a store: documents, passages, texts to embed, namespaces and their trees.

use std::fmt;
use std::ops::RangeInclusive;

/// The role of ordinary text, neither test nor vendored.
const MAIN: &str = "main";

/// The store's number of a document, which stays the same while the document is replaced or moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct DocumentId(pub u32);

/// The store's number of a passage, which the search retrievers return.
///
/// Passages never change: a changed document gets new passages with new numbers, and no number is used twice. People and
/// other programs should keep [`StoredPassage::id`] instead, which survives indexing again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct PassageId(pub u64);

/// The BLAKE3 hash of an embedded text. With the model's name it is the key of a vector.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct TextHash(pub [u8; 32]);

impl TextHash {
    /// Hashes a text in the form in which it is embedded.
    pub fn from_text(text: &str) -> TextHash {
        TextHash(*blake3::hash(text.as_bytes()).as_bytes())
    }
}

impl fmt::Display for TextHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for TextHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "TextHash({self})")
    }
}

/// The way the lexical retriever reads a passage's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextForm {
    /// Program text: identifiers are kept as they are spelled.
    Code,
    /// Text for people: English words are stemmed.
    Prose,
}

impl TextForm {
    /// The form of a column `prose`.
    pub(crate) fn from_prose(is_prose: bool) -> TextForm {
        if is_prose { TextForm::Prose } else { TextForm::Code }
    }
}

/// A document as the indexer found it, with all its passages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDocument {
    /// The unit of isolation: a repository or project.
    pub namespace: String,
    /// The kind of text under the namespace: `code`, `docs`, `notes` and so on.
    pub collection: String,
    /// Its path relative to the namespace's root, with forward slashes; unique in its namespace. A document that is not a file
    /// takes a path that no file has, such as `issue:12`.
    pub path: String,
    /// Its origin, when it was imported: `github:rust-lang/cargo`, …
    pub origin: Option<String>,
    /// The canonical lower-case name of its language, if known.
    pub language: Option<String>,
    /// Its role: `main`, `test`, `vendored` and so on.
    pub role: String,
    /// Its title.
    pub title: Option<String>,
    /// The state of its file.
    pub file: FileStat,
    /// Its date in nanoseconds since 1970, such as that of its last commit, if known. Unlike this, [`FileStat::modified_ns`] only
    /// serves to detect changes.
    pub dated_ns: Option<i64>,
    /// The severity of its subject, in lower case, if stated: `critical`, `major`, …
    pub severity: Option<String>,
    /// A hash of its content, chosen by the indexer. The store only returns it.
    pub content_hash: [u8; 32],
    /// A remark for people about how it was read.
    pub note: Option<String>,
    /// Attributes for filters, such as the state of an issue and its labels. A name can have several values.
    pub attributes: Vec<Attribute>,
    /// The original document as JSON, if it has more than its passages. The store only returns it.
    pub record: Option<String>,
    /// Its passages, in document order.
    pub passages: Vec<NewPassage>,
}

/// An attribute of a document, for [`Filter::attributes`](crate::Filter::attributes).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Attribute {
    /// Its name: `state`, `label`, `topic`, …
    pub name: String,
    /// Its value. Filters ignore case.
    pub value: String,
}

/// A passage of a [`NewDocument`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPassage {
    /// First line, counted from 1.
    pub start_line: u32,
    /// Last line, counted from 1, inclusive.
    pub end_line: u32,
    /// Its kind: `function`, `type`, `section`, `lines` and so on.
    pub kind: String,
    /// The qualified name of its symbol, in code; several names are separated by `, `.
    pub symbol: Option<String>,
    /// A fingerprint of the symbol's signature, opaque to the store. It distinguishes symbols of one name, so that each keeps
    /// its public identifier while others come and go.
    pub signature: Option<String>,
    /// Its path of headings, in prose.
    pub heading: Option<String>,
    /// Context that a reader needs: the enclosing type, the signature of a continued function.
    pub context: Option<String>,
    /// Its text, as in the document.
    pub text: String,
    /// The text to embed, usually context and text. If it ends with `text`, that is stored once.
    pub embedded_text: String,
    /// Its role, which may differ from the document's: `test` inside a `main` file.
    pub role: String,
    /// Its language, if it differs from the document's.
    pub language: Option<String>,
    /// Its author, if it has a single one.
    pub author: Option<String>,
    /// Its own date in nanoseconds since 1970, such as that of a comment or of a turn of a conversation.
    pub dated_ns: Option<i64>,
    /// The part of the document it belongs to, for documents with parts: 0 for the body of an issue, 1 for its first comment.
    /// All passages of a part share its number.
    pub part: Option<u32>,
    /// The way the lexical retriever reads it.
    pub form: TextForm,
}

impl NewDocument {
    /// Makes an empty document with the role `main`.
    pub fn new(namespace: impl Into<String>, collection: impl Into<String>, path: impl Into<String>) -> NewDocument {
        NewDocument {
            namespace: namespace.into(),
            collection: collection.into(),
            path: path.into(),
            origin: None,
            language: None,
            role: MAIN.to_owned(),
            title: None,
            file: FileStat::default(),
            dated_ns: None,
            severity: None,
            content_hash: [0; 32],
            note: None,
            attributes: Vec::new(),
            record: None,
            passages: Vec::new(),
        }
    }
}

impl NewPassage {
    /// Makes an unnamed passage with the role `main`, embedded as it is.
    pub fn new(
        kind: impl Into<String>,
        lines: RangeInclusive<u32>,
        text: impl Into<String>,
        form: TextForm,
    ) -> NewPassage {
        let text = text.into();
        NewPassage {
            start_line: *lines.start(),
            end_line: *lines.end(),
            kind: kind.into(),
            symbol: None,
            signature: None,
            heading: None,
            context: None,
            embedded_text: text.clone(),
            text,
            role: MAIN.to_owned(),
            language: None,
            author: None,
            dated_ns: None,
            part: None,
            form,
        }
    }
}

/// A change for [`Changes::apply`](crate::Changes::apply).
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "nearly every change is a `Put`, whose passages weigh more")]
pub enum Change {
    /// Adds a document, or replaces the one at the same path of its namespace.
    Put(NewDocument),
    /// The file was touched; its content stayed the same.
    Touch {
        /// The document.
        document: DocumentId,
        /// The state of its file.
        file: FileStat,
    },
    /// The document moved within its namespace; content, language, role and collection stayed the same. A document at the new
    /// path is replaced. Nothing needs embedding again.
    Move {
        /// The document.
        document: DocumentId,
        /// Its new path.
        path: String,
        /// The state of its file.
        file: FileStat,
    },
    /// The document was deleted.
    Delete {
        /// The document.
        document: DocumentId,
    },
}

/// The effect of [`Changes::apply`](crate::Changes::apply).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Applied {
    /// Documents added.
    pub added: u64,
    /// Documents replaced.
    pub replaced: u64,
    /// Documents touched.
    pub touched: u64,
    /// Documents moved.
    pub moved: u64,
    /// Documents deleted, including those whose path another document took.
    pub deleted: u64,
    /// Passages inserted, including those of moved documents.
    pub passages_added: u64,
    /// Passages deleted, including those of moved documents.
    pub passages_deleted: u64,
    /// The store's change number afterwards.
    pub seq: u64,
}

/// The state of a stored document, for detecting changes.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct DocumentState {
    /// The document.
    pub document: DocumentId,
    /// Its namespace.
    pub namespace: String,
    /// Its collection.
    pub collection: String,
    /// Its path in the namespace.
    pub path: String,
    /// Its origin, when it was imported.
    pub origin: Option<String>,
    /// Its language, role and title.
    #[serde(flatten)]
    pub description: Description,
    /// The state of its file.
    #[serde(flatten)]
    pub file: FileStat,
    /// Its date in nanoseconds since 1970, if known.
    pub dated_ns: Option<i64>,
    /// The hash of its content that the indexer gave.
    pub content_hash: [u8; 32],
    /// A remark for people about how it was read.
    pub note: Option<String>,
    /// The number of its passages.
    pub passages: u32,
}

/// The language, role and title of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Description {
    /// Its language.
    pub language: Option<String>,
    /// Its role.
    pub role: String,
    /// Its title.
    pub title: Option<String>,
}

/// What tells a changed file from an unchanged one without reading it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct FileStat {
    /// Size in bytes.
    pub size: u64,
    /// Time of the last modification in nanoseconds since 1970, as the file system gave it.
    pub modified_ns: i64,
    /// A number that changes with the file besides size and time, such as one from its inode; 0: unknown.
    pub stamp: i64,
}

/// A stored document in the form in which [`Change::Put`] takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholeDocument {
    /// The document.
    pub document: DocumentId,
    /// Its properties and its passages, with the texts to embed and the fingerprints of the signatures.
    pub content: NewDocument,
    /// The keys of its passages, in document order.
    pub keys: Vec<PassageKey>,
}

/// What others know a passage by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PassageKey {
    /// The public identifier ([`StoredPassage::id`]).
    pub id: String,
    /// The key of its vectors.
    pub text_hash: TextHash,
}

/// A passage with everything needed to show it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct StoredPassage {
    /// Its number in the store.
    pub passage: PassageId,
    /// The public identifier: 12 hexadecimal digits, or more if those were taken. Indexing again gives the same one.
    /// For a symbol it is a hash of namespace, language, path, kind, qualified name and the signature's fingerprint;
    /// for any other passage a hash of namespace, path, kind and heading, or of the text if it has no heading.
    pub id: String,
    /// Its document.
    pub document: DocumentId,
    /// The document's namespace.
    pub namespace: String,
    /// The document's collection.
    pub collection: String,
    /// The document's path.
    pub path: String,
    /// The document's title.
    pub title: Option<String>,
    /// The document's time of modification in nanoseconds since 1970.
    pub modified_ns: i64,
    /// Its own date in nanoseconds since 1970, or else the document's, if known.
    pub dated_ns: Option<i64>,
    /// The severity of the document's subject, in lower case, if stated.
    pub severity: Option<String>,
    /// Its author, if it has a single one.
    pub author: Option<String>,
    /// The part of the document it belongs to, for documents with parts.
    pub part: Option<u32>,
    /// Its position among the document's passages, from 0.
    pub ordinal: u32,
    /// First line, counted from 1.
    pub start_line: u32,
    /// Last line, counted from 1, inclusive.
    pub end_line: u32,
    /// Its kind.
    pub kind: String,
    /// The qualified name of its symbol.
    pub symbol: Option<String>,
    /// Its path of headings.
    pub heading: Option<String>,
    /// Context that a reader needs.
    pub context: Option<String>,
    /// Its text.
    pub text: String,
    /// Its own language, or else the document's.
    pub language: Option<String>,
    /// Its role.
    pub role: String,
    /// The way the lexical retriever reads it.
    pub form: TextForm,
    /// The key of its vectors.
    #[serde(skip)]
    pub text_hash: TextHash,
}

/// The numbers of a passage and its document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PassageRef {
    /// The passage.
    pub passage: PassageId,
    /// Its document.
    pub document: DocumentId,
}

/// The place of a passage, in the order of places: by namespace, path and position.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The namespace of its document.
    pub namespace: String,
    /// The path of its document.
    pub path: String,
    /// Its position among the document's passages, from 0.
    pub ordinal: u32,
}

/// The key of an embedding model.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema)]
pub struct ModelKey {
    /// Its name, with its version and anything else that changes its vectors.
    pub id: String,
    /// The length of its vectors.
    pub dimension: usize,
}

/// A text without a vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextToEmbed {
    /// Its hash, the key for storing the vector.
    pub hash: TextHash,
    /// The text.
    pub text: String,
    /// The path of the first document that has it.
    pub path: String,
}

/// A namespace to register.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewNamespace {
    /// Its name, as in documents and filters.
    pub name: String,
    /// Its owner. Namespaces of one owner may share their content.
    pub owner: Option<String>,
    /// True if its owner's other namespaces may search it.
    pub shared: bool,
}

/// A namespace of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Namespace {
    /// Its name.
    pub name: String,
    /// The directory of its files.
    pub root: Option<String>,
    /// The machine that has the directory.
    #[serde(skip)]
    pub machine: Option<String>,
    /// Its owner.
    pub owner: Option<String>,
    /// True if its owner's other namespaces may search it.
    pub shared: bool,
    /// The number of its documents.
    pub documents: u64,
    /// The number of its passages.
    pub passages: u64,
}

/// The tree whose files are the documents of a namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    /// The namespace.
    pub namespace: String,
    /// The directory.
    pub root: String,
    /// The machine that has the directory; `None`: it is the same on every machine.
    pub machine: Option<String>,
}

impl Tree {
    /// Returns `true` if both are one tree.
    pub(crate) fn is(&self, other: &Tree) -> bool {
        let is_elsewhere = |(here, there)| here != there;
        self.root == other.root && !self.machine.as_ref().zip(other.machine.as_ref()).is_some_and(is_elsewhere)
    }
}

impl std::fmt::Display for Tree {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.machine {
            Some(machine) => write!(formatter, "{} on {machine}", self.root),
            None => formatter.write_str(&self.root),
        }
    }
}

/// The threshold of a language under one model.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Calibration {
    /// The canonical name of the language.
    pub language: String,
    /// The cosine similarity at which two passages count as similar.
    pub threshold: f64,
    /// The number of passages measured.
    pub sample_size: u64,
    /// The provider of the model.
    pub provider: String,
    /// The model.
    pub model: String,
    /// Time in milliseconds since 1970.
    pub calibrated_at_ms: i64,
}
