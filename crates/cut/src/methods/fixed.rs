//! `fixed`: the first k.

use crate::cut::{Cut, NO_CANDIDATES};
use crate::method::{Range, declare};
use crate::pool::Pool;
use crate::rule::Rule;

declare! {
    /// Keeps the first `k` candidates, whatever their values, as a search engine without a cut does. O(1).
    pub struct Fixed = "fixed" on Score, "keeps the first k candidates, whatever their values" {
        /// Candidates to keep.
        pub k: usize = 10, Range::Integer { min: 1, max: 1_000_000 };
    }
}

impl Rule for Fixed {
    fn cut(&self, pool: &Pool) -> Cut {
        let reason = match pool.len() {
            0 => NO_CANDIDATES.to_string(),
            found if found <= self.k => format!("that is all, and up to {} were asked for", self.k),
            _ if self.k == 1 => "the first was asked for".to_string(),
            _ => format!("the first {} were asked for", self.k),
        };
        Cut::new("fixed", pool, self.k, reason)
    }
}
