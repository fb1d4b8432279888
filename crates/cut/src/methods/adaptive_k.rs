//! `adaptive_k`: the largest drop within the head of the list, and a few more.

use crate::cut::{Cut, too_few};
use crate::method::{Range, declare};
use crate::pool::{Pool, largest_drop};
use crate::rule::Rule;

declare! {
    /// Keeps what comes before the largest drop within the head of the list, and a buffer beyond it.
    ///
    /// The rule ignores the last ⌊`ignored_tail` · (n − 1)⌋ of the n − 1 drops between neighbours, since the very end of a
    /// list often falls steeply. The first of equal drops wins. `buffer` more candidates are kept, since the drop may come
    /// a little early. When all values are equal, the first drop, of size 0, is the largest. O(n).
    ///
    /// Source: Taguchi, Maekawa and Bhutani, "Efficient Context Selection for Long-Context QA: No Tuning, No Iteration,
    /// Just Adaptive-k", EMNLP 2025 (arXiv 2506.08479), with the positions and rounding of the authors' implementation
    /// and their published settings as defaults. The paper ranks a whole corpus; on a short pool a buffer of 0 is
    /// often better.
    pub struct AdaptiveK = "adaptive_k" on Score, "keeps what comes before the largest drop, and a buffer beyond it" {
        /// Candidates to keep beyond the drop.
        pub buffer: usize = 5, Range::Integer { min: 0, max: 1_000_000 };
        /// Share of the drops to ignore, at the end of the list.
        pub ignored_tail: f64 = 0.1, Range::Number { min: 0.0, max: 0.9 };
    }
}

impl Rule for AdaptiveK {
    fn cut(&self, pool: &Pool) -> Cut {
        let values = pool.descending();
        // A float to integer conversion saturates; at least one drop always counts.
        let drops = values.len().saturating_sub(1);
        let ignored = ((drops as f64 * self.ignored_tail) as usize).min(drops.saturating_sub(1));
        let Some((index, size)) = largest_drop(&values[..values.len() - ignored]) else {
            return Cut::new("adaptive_k", pool, pool.len(), too_few(pool.len()));
        };
        let before = index + 1;
        let mut reason = match before {
            1 => "the largest drop in scores comes after the first".to_string(),
            _ => format!("the largest drop in scores comes after the first {before}"),
        };
        if self.buffer > 0 {
            reason += &format!("; up to {} more are kept to be safe", self.buffer);
        }
        Cut::new("adaptive_k", pool, before.saturating_add(self.buffer), reason)
            .with("drop_index", index)
            .with("drop_size", size)
            .with("drops_ignored", ignored)
    }
}
