//! Issues, pull requests and their comments.
//!
//! [`read_issues`] takes any of the formats they come in (`read`) and makes [`Issue`]s of it, the form they are kept in. Two
//! records of one issue become one (`merge`). [`Issue::rendered`] is the issue as people read it, and [`Issue::document`] the
//! passages of that, without what forms and mail programs added (`clean`).

mod bots;
mod clean;
mod comments;
mod document;
mod issue;
mod merge;
mod read;
mod rendering;

pub use issue::{CommentKind, Issue, IssueComment, IssueKind, IssueState, Verdict};
pub use read::{BadRecord, IssueArchive, IssueFormat, IssueFormatError, read_issues};
