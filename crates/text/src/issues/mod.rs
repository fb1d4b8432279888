//! Issues, pull requests and their comments.
//!
//! [`read_issues`] reads any of their formats (`read`) into [`Issue`]s, the form they are stored in. Two records of one
//! issue become one (`issue`). [`Issue::rendered`] is the issue as people read it, and [`Issue::document`] divides that
//! into passages, without the additions of templates and mail programs (`clean`, `templates`).

mod clean;
mod comments;
mod document;
mod fields;
mod formats;
mod issue;
mod read;
mod templates;

pub use issue::{CommentKind, Issue, IssueComment, IssueKind, IssueState, Verdict};
pub use read::{BadRecord, IssueArchive, IssueFormat, IssueFormatError, read_issues};
