//! Issues, pull requests and what was said under them.
//!
//! [`read_issues`] takes any of the formats they come in (`read`) and makes [`Issue`]s of it, the form they are kept in. Two
//! records of one issue become one (`merge`).

mod bots;
mod issue;
mod merge;
mod read;

pub use issue::{CommentKind, Issue, IssueComment, IssueKind, IssueState, Verdict};
pub use read::{BadRecord, IssueArchive, IssueFormat, IssueFormatError, read_issues};
