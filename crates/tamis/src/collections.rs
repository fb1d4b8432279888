//! The names of the built-in collections.

/// Source code.
pub(crate) const CODE: &str = "code";

/// Issues and pull requests.
pub(crate) const ISSUES: &str = "issues";

/// Conversations.
pub(crate) const SESSIONS: &str = "sessions";

/// Commits of a tree.
pub(crate) const COMMITS: &str = "commits";

/// Wiki pages.
#[cfg(feature = "wiki")]
pub(crate) const WIKI: &str = "wiki";

/// Files that were read and left out. They have no passages; remembering them spares the next run reading them again.
pub(crate) const SKIPPED: &str = "skipped";

/// The collections of documents that are files of the tree. A document with an origin is not a file, whatever its collection.
pub(crate) const FILE_COLLECTIONS: [&str; 5] = ["code", "docs", "wiki", "notes", SKIPPED];

/// The collections of texts whose links name other texts.
pub(crate) const PROSE_COLLECTIONS: [&str; 3] = ["docs", "wiki", "notes"];
