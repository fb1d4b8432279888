//! Answers a problem from what was already solved: closed issues with their threads, shortened to a budget of characters,
//! and the wiki if no issue is similar. The answer can be empty.
//!
//! Reading order: [`request`](TroubleshootRequest) → `troubleshooter` (both legs, the floor, the wiki) → `budget` and
//! `thread` (the part of each conversation to return) → `answer` → `markdown`. The rest is pure: [`keywords`],
//! [`shorten`], [`budgets`], [`assemble`].

mod answer;
mod budget;
mod keywords;
mod markdown;
mod request;
mod shorten;
mod thread;
mod troubleshooter;
mod wiki;

pub use answer::{Considered, Fallback, SolvedIssue, Troubleshooting, TroubleshootingLimits, WikiFound, WikiPage};
pub use budget::budgets;
pub use keywords::keywords;
pub use request::TroubleshootRequest;
pub(crate) use request::described;
pub use shorten::{BodyLengths, shorten};
pub use thread::{CommentReason, Remark, Thread, ThreadComment, ThreadRules, assemble};

use crate::handle::Index;

/// Answers a problem from solved issues and the wiki. From [`Index::troubleshooting`].
#[derive(Clone, Copy)]
pub struct Troubleshooter<'a> {
    index: &'a Index,
}

impl Index {
    /// Answers a problem from solved issues and the wiki.
    pub fn troubleshooting(&self) -> Troubleshooter<'_> {
        Troubleshooter { index: self }
    }
}
