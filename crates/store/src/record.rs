//! What goes into a store and what comes out of it: documents, passages, texts to embed.

use std::fmt;
use std::ops::RangeInclusive;

/// The role of what is neither a test nor another's.
const MAIN: &str = "main";

/// The store's own number of a document. It stays the same while the document is replaced or moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct DocumentId(pub u32);

/// The store's own number of a passage.
///
/// Passages never change: a document that does gets new passages with new numbers, and a number is
/// never used twice. It is what the search legs speak of. What people and other programs should keep
/// is [`StoredPassage::id`], which survives indexing again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct PassageId(pub u64);

/// The BLAKE3 hash of an embedded text: together with the model's name the key of a vector.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct TextHash(pub [u8; 32]);

impl TextHash {
    /// The hash of a text as it is embedded.
    pub fn of(text: &str) -> TextHash {
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

/// How a passage's text is read by the lexical leg.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextForm {
    /// Program text: whole identifiers as they are spelled.
    Code,
    /// Text for people: English words are stemmed.
    Prose,
}

/// A document as the indexer found it, with all its passages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDocument {
    /// The unit of isolation: a repository or project.
    pub namespace: String,
    /// The kind of text under the namespace: `code`, `docs`, `notes` and so on.
    pub collection: String,
    /// Where it is, relative to the namespace's root, with forward slashes. Unique in its namespace;
    /// what is no file takes a path that no file has, such as `issue:12`.
    pub path: String,
    /// Where it came from, when that is no file of the namespace's own tree: `github:rust-lang/cargo`, …
    pub origin: Option<String>,
    /// Canonical lowercase name of its language, where known.
    pub language: Option<String>,
    /// What part it plays: `main`, `test`, `vendored` and so on.
    pub role: String,
    /// Its title, where it has one.
    pub title: Option<String>,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last modification in nanoseconds since 1970, as the file system gave it.
    pub modified_ns: i64,
    /// The document's own date in nanoseconds since 1970, such as that of its last commit, where one is known. Apart from
    /// `modified_ns`, which only serves to see changes.
    pub dated_ns: Option<i64>,
    /// How severe its subject is, in lower case, where it says so: `critical`, `major`, …
    pub severity: Option<String>,
    /// Hash of its content, whatever the indexer takes: the store only gives it back.
    pub content_hash: [u8; 32],
    /// What people should know about how it was read, where there is something.
    pub note: Option<String>,
    /// What filters may ask of it, such as the state of an issue and its labels. One name can have several values.
    pub attributes: Vec<Attribute>,
    /// The document as it was given, as JSON, where it is more than its passages: the store only gives it back.
    pub record: Option<String>,
    /// Its passages in their order in the document.
    pub passages: Vec<NewPassage>,
}

/// What is known of a document under a name, for [`Filter::attributes`](crate::Filter::attributes).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Attribute {
    /// Which of its properties: `state`, `label`, `topic`, …
    pub name: String,
    /// Its value. Upper and lower case make no difference to filters.
    pub value: String,
}

/// A passage of a [`NewDocument`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPassage {
    /// First line, counted from 1.
    pub start_line: u32,
    /// Last line, counted from 1, inclusive.
    pub end_line: u32,
    /// What it is: `function`, `type`, `section`, `lines` and so on.
    pub kind: String,
    /// Qualified name of the symbol, in code; several, separated by `, `, where it holds several small ones.
    pub symbol: Option<String>,
    /// A fingerprint of the symbol's signature, opaque to the store: it tells symbols of one name apart, so that one keeps
    /// its public identifier while others of its name come and go.
    pub signature: Option<String>,
    /// Path of headings, in prose.
    pub heading: Option<String>,
    /// What its text leaves out and a reader needs: the enclosing type, the signature of a continued function.
    pub context: Option<String>,
    /// Its text as it stands in the document.
    pub text: String,
    /// What is embedded, usually context and text. Where it ends with `text`, the text is stored once.
    pub embedded_text: String,
    /// What part it plays, where it differs from the document's role also here: `test` inside a `main` file.
    pub role: String,
    /// Its language, where it is not the document's.
    pub language: Option<String>,
    /// Who wrote or said it, where it is one person's.
    pub author: Option<String>,
    /// Its own date in nanoseconds since 1970, where that is not the document's: of a comment, of a turn of a conversation.
    pub dated_ns: Option<i64>,
    /// Which part of the document it belongs to, from 0, where that is made of parts: 0 for the body of an issue, 1 for its
    /// first comment. Passages of a long part share its number.
    pub part: Option<u32>,
    /// How the lexical leg reads it.
    pub form: TextForm,
}

impl NewDocument {
    /// A document of which nothing but its place is known: without passages, in the role `main`.
    pub fn new(namespace: impl Into<String>, collection: impl Into<String>, path: impl Into<String>) -> NewDocument {
        NewDocument {
            namespace: namespace.into(),
            collection: collection.into(),
            path: path.into(),
            origin: None,
            language: None,
            role: MAIN.to_owned(),
            title: None,
            size: 0,
            modified_ns: 0,
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
    /// A passage that is embedded as it stands on its lines, without a name, in the role `main`.
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

/// One change of [`Store::apply`](crate::Store::apply).
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "nearly every change is a `Put`, whose passages weigh more")]
pub enum Change {
    /// Adds a document, or replaces the one at the same path of its namespace.
    Put(NewDocument),
    /// The file was touched and its content is what it was.
    Touch {
        /// The document.
        document: DocumentId,
        /// Size in bytes.
        size: u64,
        /// Time of the last modification in nanoseconds since 1970.
        modified_ns: i64,
    },
    /// The document moved within its namespace, its content, language, role and collection unchanged. Whatever
    /// was at the new path is replaced. Nothing needs embedding again.
    Move {
        /// The document.
        document: DocumentId,
        /// Where it is now.
        path: String,
        /// Size in bytes.
        size: u64,
        /// Time of the last modification in nanoseconds since 1970.
        modified_ns: i64,
    },
    /// The document is gone.
    Delete {
        /// The document.
        document: DocumentId,
    },
}

/// What [`Store::apply`](crate::Store::apply) did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Applied {
    /// Documents that are new.
    pub added: u64,
    /// Documents replaced.
    pub replaced: u64,
    /// Documents touched.
    pub touched: u64,
    /// Documents moved.
    pub moved: u64,
    /// Documents deleted, those counted whose path another document moved to.
    pub deleted: u64,
    /// Passages inserted, those of moved documents counted.
    pub passages_added: u64,
    /// Passages deleted, those of moved documents counted.
    pub passages_deleted: u64,
    /// The store's change number after it.
    pub seq: u64,
}

/// What the store knows about a document: enough to see whether it changed.
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
    /// Where it came from, when that is no file of the namespace's own tree.
    pub origin: Option<String>,
    /// Its language.
    pub language: Option<String>,
    /// What part it plays.
    pub role: String,
    /// Its title.
    pub title: Option<String>,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last modification in nanoseconds since 1970.
    pub modified_ns: i64,
    /// The document's own date in nanoseconds since 1970, where one is known.
    pub dated_ns: Option<i64>,
    /// Hash of its content as the indexer gave it.
    pub content_hash: [u8; 32],
    /// What people should know about how it was read.
    pub note: Option<String>,
    /// How many passages it has.
    pub passages: u32,
}

/// A passage with all that is needed to show it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct StoredPassage {
    /// The store's own number of it.
    pub passage: PassageId,
    /// The public identifier: 12 hexadecimal digits, more where those were taken. Indexing again gives the same one. Of a
    /// symbol it is made of namespace, language, path, kind, qualified name and the fingerprint of the signature; of
    /// another passage of namespace, path, kind and heading, or the text where there is no heading.
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
    /// Its own date in nanoseconds since 1970, else the document's own, where one is known.
    pub dated_ns: Option<i64>,
    /// How severe the document's subject is, in lower case, where it says so.
    pub severity: Option<String>,
    /// Who wrote or said it, where it is one person's.
    #[serde(default)]
    pub author: Option<String>,
    /// Which part of the document it belongs to, where that is made of parts.
    #[serde(default)]
    pub part: Option<u32>,
    /// Its place among the document's passages, from 0.
    pub ordinal: u32,
    /// First line, counted from 1.
    pub start_line: u32,
    /// Last line, counted from 1, inclusive.
    pub end_line: u32,
    /// What it is.
    pub kind: String,
    /// Qualified name of the symbol.
    pub symbol: Option<String>,
    /// Path of headings.
    pub heading: Option<String>,
    /// What its text leaves out.
    pub context: Option<String>,
    /// Its text.
    pub text: String,
    /// Its own language, else the document's.
    pub language: Option<String>,
    /// What part it plays.
    pub role: String,
    /// How the lexical leg reads it.
    pub form: TextForm,
    /// The key of its vectors.
    #[serde(skip)]
    pub text_hash: TextHash,
}

/// A passage and its document, nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PassageRef {
    /// The passage.
    pub passage: PassageId,
    /// Its document.
    pub document: DocumentId,
}

/// An embedding model as the store knows it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
pub struct ModelKey {
    /// Its name, with the version and whatever else changes its vectors.
    pub id: String,
    /// Length of its vectors.
    pub dimension: usize,
}

/// A text that has no vector yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextToEmbed {
    /// Its hash, to be given back with the vector.
    pub hash: TextHash,
    /// The text.
    pub text: String,
}
