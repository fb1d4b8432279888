//! Turns files into documents, and documents into passages.
//!
//! A search answers with passages, so good answers need good passages. This crate divides source code by its symbols (a
//! function with its documentation, a type with its fields), Markdown and reStructuredText by their headings, plain text by
//! paragraphs, and everything else by lines, so that every line of a file is in exactly one passage. It also finds the files
//! to leave out, the role of a file (source, test, copy of another project), the languages and their relations
//! ([`Language`]), and the names that a piece of code defines and refers to ([`definitions`], [`references`]).
//!
//! [`read_issues`] recognises the many formats of issues, pull requests and comments, and turns each into an [`Issue`] and a
//! document. [`sanitize`] makes the text of strangers safe to show to people and to models.
//!
//! The crate reads no files and keeps no state: bytes come in, a [`Document`] comes out. Its caller walks directories;
//! its neighbours `tamis-store` and `tamis-embed` store and embed the passages.
//!
//! # Features
//!
//! Each grammar is a feature of the language's name, and `grammars` stands for all. Without its grammar, a language is divided
//! by lines and the document has a [`Note`]. `wiki` reads MediaWiki's markup and dumps, `documents` the text of PDF, Word and
//! other files that are not text ([`read_document`]). All are on by default.
//!
//! ```
//! use tamis_text::{Limits, Options, read, skip_by_content, skip_by_path};
//!
//! let (path, bytes) = ("docs/guide.md", b"# Guide\n\n## Install\n\nCopy it to your path.\n");
//! assert_eq!(skip_by_path(path, bytes.len() as u64, &Limits::default()), None);
//! assert_eq!(skip_by_content(path, bytes), None);
//!
//! let document = read(path, bytes, &Options::default());
//! assert_eq!(document.title.as_deref(), Some("Guide"));
//! assert_eq!(document.passages[0].heading.as_deref(), Some("Guide > Install"));
//! assert_eq!(document.passages[0].embedded_text(), "# Guide\n\n## Install\n\nCopy it to your path.");
//! ```

#![cfg_attr(not(all(feature = "documents", feature = "grammars", feature = "wiki")), allow(dead_code, unused_imports))]

mod code;
mod conversation;
mod dates;
mod decode;
mod divide;
mod document;
#[cfg(feature = "documents")]
mod documents;
mod embedded_data;
mod issues;
mod languages;
mod large_text;
mod limits;
mod lines;
mod notes;
mod prose;
mod read;
mod role;
mod role_by_content;
pub mod sanitize;
mod secret_files;
mod skip;
mod tokens;
#[cfg(feature = "wiki")]
mod wiki;

pub use code::{Definition, OutlineSymbol, Reference, ReferenceKind, definitions, outline, references};
pub use conversation::{
    Conversation, ConversationFormatError, ConversationLog, ConversationOptions, Turn, read_conversations,
};
pub use decode::{composed, decode, is_invisible, plain, transcoded};
pub use document::{
    Document, Kind, NAME_SEPARATORS, Note, Options, OwnProperties, ParseFailure, Passage, SYMBOL_SEPARATOR,
    UnknownName, embedded_text,
};
pub use issues::{
    BadRecord, CommentKind, Issue, IssueArchive, IssueComment, IssueFormat, IssueFormatError, IssueKind, IssueState,
    Verdict, read_issues,
};
pub use languages::{Category, LANGUAGES, Language, Relation};
pub use notes::{Entry, FORGOTTEN, NoteOptions, entries, forgotten_mark, read_note};
pub use read::{is_document, read, read_document, read_statement};
pub use role::{Role, role};
pub use skip::{Limits, Skip, most_bytes, skip_by_content, skip_by_path};
pub use tokens::estimate_tokens;
#[cfg(feature = "wiki")]
pub use wiki::{WikiDump, WikiDumpError, WikiDumpOptions, WikiPage, WikiSite, read_page, read_wiki_dump};
