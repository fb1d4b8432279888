//! Files to documents, documents to passages.
//!
//! A search answers with passages, so what a passage is decides how good an answer can be. This crate divides source
//! code by its symbols (a function with its documentation, a type with its fields), Markdown and reStructuredText by
//! their headings, plain text by paragraphs, and everything else by lines, so that every line of a file is found in
//! exactly one place. It also says which files are better left out, what part a file plays (source, test, copy of
//! another project), which languages there are and how they relate ([`Language`]), and what a piece of code defines and
//! refers to ([`definitions`], [`references`]).
//!
//! Issues, pull requests and what was said under them come in many forms; [`read_issues`] tells which, and makes of each an
//! [`Issue`] and of that a document.
//!
//! What others wrote is made safe to show to people and to models by [`safe`].
//!
//! It reads no files and keeps no state: bytes come in, a [`Document`] goes out. Walking directories is for its caller,
//! storing and embedding the passages for its neighbours `tamis-store` and `tamis-embed`.
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

mod by_lines;
mod code;
mod conversation;
mod dates;
mod decode;
mod document;
mod issues;
mod kind;
mod languages;
mod lines;
mod names;
mod notes;
mod pack;
mod prose;
mod read;
mod role;
pub mod safe;
mod skip;
mod statement;
mod tokens;
mod wiki;

pub use code::{Definition, Reference, ReferenceKind, definitions, references};
pub use conversation::{
    Conversation, ConversationFormatError, ConversationLog, ConversationOptions, Turn, read_conversations,
};
pub use document::{Document, Note, Options, ParseFailure, Passage};
pub use issues::{
    BadRecord, CommentKind, Issue, IssueArchive, IssueComment, IssueFormat, IssueFormatError, IssueKind, IssueState,
    Verdict, read_issues,
};
pub use kind::Kind;
pub use languages::{Category, LANGUAGES, Language, Relation};
pub use names::UnknownName;
pub use notes::{Entry, FORGOTTEN, NoteOptions, entries, forgotten_mark, read_note};
pub use read::read;
pub use role::{Role, role};
pub use skip::{Limits, Skip, skip_by_content, skip_by_path};
pub use statement::read_statement;
pub use tokens::estimate_tokens;
pub use wiki::{WikiDump, WikiDumpError, WikiDumpOptions, WikiPage, WikiSite, read_page, read_wiki_dump};
