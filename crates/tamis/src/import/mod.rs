//! What is no file of the tree: issues, wiki pages of a dump, logs of conversations and evidence, brought into the index.
//!
//! An import reads its input whole, compares it with what is stored, and commits all changes in one transaction: it is done
//! or nothing is. The same input again changes nothing. Documents say where they came from (their *origin*); runs of the
//! index leave them alone, and [`Index::remove_imported`](crate::Index::remove_imported) takes out what came from one origin.
//! After an import, [`Index::complete`](crate::Index::complete) publishes and embeds, as after any other change.
//!
//! ```
//! use tamis::{Index, IssueImport, Location, RunOptions, SearchRequest, config::Config};
//! use tamis::text::{Issue, IssueComment};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let directory = tempfile::tempdir()?;
//! let mut config = Config::built_in();
//! config.index.models = vec!["static".into()];
//! let index = Index::open(Location::at(directory.path(), None), config)?;
//!
//! let mut issue = Issue::new(12, "Crash when the disk is full");
//! issue.comments.push(IssueComment::new("Free some space below /var and start it again."));
//! let import = IssueImport { origin: "github:ada/engine".into(), issues: vec![issue], ..Default::default() };
//! assert_eq!(index.import_issues(&import, &())?.added, 1);
//! assert_eq!(index.import_issues(&import, &())?.unchanged, 1);
//!
//! index.complete(RunOptions::WHOLE, &())?;
//! let answer = index.search(&SearchRequest::new("disk full"), &Default::default())?;
//! assert_eq!(answer.results[0].path, "issue:12");
//! # Ok(())
//! # }
//! ```

mod commit;
mod conversations;
mod evidence;
mod github;
mod input;
mod issues;
mod origins;
mod pages;
mod place;
mod rendered;
mod summary;

pub use conversations::{ConversationImport, ImportedLog};
pub use evidence::{EvidenceImport, EvidenceLine};
pub use github::{
    Clock, GITHUB_API, GithubAccess, GithubError, GithubImport, GithubReport, IssueStates, Repository, Stopped,
    SystemClock, TOKEN_VARIABLES, Token,
};
pub use input::{ImportInput, LARGEST_IMPORT};
pub use issues::IssueImport;
pub use origins::Imported;
pub use pages::{ImportedWiki, PageImport};
pub(crate) use summary::listed;
pub use summary::{ImportSummary, RecordCounts, UnreadableRecord};

/// The collection of issues and pull requests.
pub(crate) const ISSUES: &str = "issues";

/// The collection of conversations.
const SESSIONS: &str = "sessions";

/// The collection of wiki pages.
const WIKI: &str = "wiki";

/// What paths of imported documents begin with: no file is called so.
const PATHS: [&str; 5] = ["issue:", "wiki:", "session:", "fragment:", "claim:"];

/// Whether a path is that of an imported document, not of a file.
pub fn is_imported(path: &str) -> bool {
    PATHS.iter().any(|prefix| path.starts_with(prefix))
}

/// The property in which a live import keeps how far it came. It goes with the documents of the origin.
pub(crate) fn state_property(namespace: &str, origin: &str) -> String {
    format!("import:{namespace}:{origin}")
}
