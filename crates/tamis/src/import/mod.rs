//! Imports content that is not a file of the tree: issues, wiki pages and conversations.
//!
//! An import reads its whole input, compares it with the stored documents, and commits all changes in one transaction. Importing
//! the same input again changes nothing. Every imported document has an *origin*. Runs of the index leave documents with an
//! origin alone, and [`Imports::remove`] removes those of one origin. [`Index::complete`](crate::Index::complete) publishes and
//! embeds after an import, as after any other change.
//!
//! ```
//! use tamis::import::IssueImport;
//! use tamis_text::{Issue, IssueComment};
//! use tamis::{Index, RunOptions};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! let index = Index::builder(directory.path()).set("index.models", "static").open()?;
//!
//! let mut issue = Issue::new(12, "Crash when the disk is full");
//! issue.comments.push(IssueComment::new("Free some space below /var and start it again."));
//! let import = IssueImport { origin: "github:ada/engine".into(), issues: vec![issue], ..Default::default() };
//! assert_eq!(index.imports().issues(&import, &())?.added, 1);
//! assert_eq!(index.imports().issues(&import, &())?.unchanged, 1);
//!
//! index.complete(RunOptions::WHOLE, &())?;
//! let answer = index.search("disk full")?;
//! assert_eq!(answer.results[0].path, "issue:12");
//! # Ok(())
//! # }
//! ```

pub(crate) mod commit;
mod conversations;
pub(crate) mod destination;
mod github;
pub(crate) mod input;
mod issues;
mod origins;
#[cfg(feature = "wiki")]
mod pages;
mod rendered;
pub(crate) mod summary;

pub use crate::error::GithubError;
pub use crate::error::UnreadableRecord;
pub use conversations::{ConversationImport, ImportedLog};
pub use github::{GITHUB_HOST, GithubImport, GithubReport, IssueStates, Repository, Stopped};
pub use input::{ImportInput, LARGEST_IMPORT};
pub use issues::IssueImport;
pub use origins::Imported;
#[cfg(feature = "wiki")]
pub use pages::{ImportedWiki, PageImport};
pub use summary::{ImportSummary, RecordCounts};

use crate::handle::Index;

/// The prefixes of the paths of imported documents. No file has such a name.
const PATHS: [&str; 5] = ["issue:", "wiki:", "session:", "fragment:", "claim:"];

/// Returns `true` if a path is that of an imported document, not of a file.
pub fn is_imported(path: &str) -> bool {
    PATHS.iter().any(|prefix| path.starts_with(prefix))
}

/// Imports content that is not a file of the tree, and lists and removes it. From [`Index::imports`].
#[derive(Clone, Copy)]
pub struct Imports<'a> {
    index: &'a Index,
}

impl Index {
    /// Returns the imports of this index: issues, wiki pages and conversations, which are not files of the tree.
    pub fn imports(&self) -> Imports<'_> {
        Imports { index: self }
    }
}
