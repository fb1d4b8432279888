//! What is no file of the tree: issues, wiki pages of a dump, logs of conversations and evidence, brought into the index.
//!
//! An import reads its input whole, compares it with what is stored, and commits all changes in one transaction: it is done
//! or nothing is. The same input again changes nothing. Documents say where they came from (their *origin*); runs of the
//! index leave them alone, and [`Index::remove_imported`](Imports::remove) takes out what came from one origin.
//! After an import, [`Index::complete`](crate::Index::complete) publishes and embeds, as after any other change.
//!
//! ```
//! use tamis::{Index, Location, RunOptions, SearchRequest};
//! use tamis::config::Config;
//! use tamis::import::IssueImport;
//! use tamis::text::{Issue, IssueComment};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let directory = tempfile::tempdir()?;
//! let mut config = Config::built_in();
//! config.index.models = vec!["static".into()];
//! let index = Index::at(Location::at(directory.path(), None), config)?;
//!
//! let mut issue = Issue::new(12, "Crash when the disk is full");
//! issue.comments.push(IssueComment::new("Free some space below /var and start it again."));
//! let import = IssueImport { origin: "github:ada/engine".into(), issues: vec![issue], ..Default::default() };
//! assert_eq!(index.imports().issues(&import, &())?.added, 1);
//! assert_eq!(index.imports().issues(&import, &())?.unchanged, 1);
//!
//! index.complete(RunOptions::WHOLE, &())?;
//! let answer = index.search(&SearchRequest::new("disk full"))?;
//! assert_eq!(answer.results[0].path, "issue:12");
//! # Ok(())
//! # }
//! ```

pub(crate) mod commit;
mod conversations;
pub(crate) mod destination;
#[cfg(feature = "github")]
mod github;
pub(crate) mod input;
mod issues;
mod origins;
#[cfg(feature = "wiki")]
mod pages;
mod rendered;
pub(crate) mod summary;

#[cfg(feature = "github")]
pub use crate::error::GithubError;
pub use crate::error::UnreadableRecord;
pub use conversations::{ConversationImport, ImportedLog};
#[cfg(feature = "github")]
pub use github::{
    Clock, GITHUB_API, GithubAccess, GithubImport, GithubReport, IssueStates, Repository, Stopped, SystemClock,
    TOKEN_VARIABLES, Token,
};
pub use input::{ImportInput, LARGEST_IMPORT};
pub use issues::IssueImport;
pub use origins::Imported;
#[cfg(feature = "wiki")]
pub use pages::{ImportedWiki, PageImport};
pub use summary::{ImportSummary, RecordCounts};

use crate::handle::Index;

/// What paths of imported documents begin with: no file is called so.
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
    /// Imports content that is not a file of the tree: issues, wiki pages, conversations.
    pub fn imports(&self) -> Imports<'_> {
        Imports { index: self }
    }
}
