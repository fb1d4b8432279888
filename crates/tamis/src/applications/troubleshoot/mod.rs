//! Answers from what was already solved: closed issues, their threads in so many characters, and the wiki where no issue is
//! like the trouble. Nothing at all where that is not either.
//!
//! In the order of a trouble's way: [`request`](TroubleshootRequest) → `run` (both legs, the floor, the wiki) →
//! `budget` and `thread` (what of each conversation is given) → `answer` → `markdown`. What has no index in it is pure:
//! [`keywords`], [`shorten`], [`budgets`], [`assemble`].

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
pub use request::{Trouble, TroubleshootRequest};
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
