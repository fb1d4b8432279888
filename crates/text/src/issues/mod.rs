//! Issues, pull requests and what was said under them.
//!
//! An [`Issue`] is the form they are kept in, whatever they came as. Two records of one issue become one (`merge`).

mod issue;
mod merge;

pub use issue::{CommentKind, Issue, IssueComment, IssueKind, IssueState, Verdict};
