//! Which texts are computed together. Padding is work thrown away, so texts of like length go together.

use std::ops::Range;

/// An order of texts, cut into batches.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// Positions of texts, longest first, so that the last batches to finish are the short ones.
    pub(super) order: Vec<usize>,
    /// Ranges of `order`, each a batch.
    pub(super) batches: Vec<Range<usize>>,
}

/// How passages are put into batches. The vectors are the same with any; only the speed differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batching {
    /// Sorted by length and cut at so many tokens, padding included: the default, with 256.
    ByLength {
        /// Tokens in a batch, padding included; a longer text is a batch of its own.
        tokens: usize,
    },
    /// So many texts at a time, in the order given, padded to the longest of them: what a plain loop does, kept to
    /// measure what sorting brings.
    AsGiven {
        /// Texts in a batch; 0 counts as 1.
        texts: usize,
    },
}

impl Default for Batching {
    /// Batches small enough to stay in the caches, as measured in `docs/research/minilm-throughput.md`.
    fn default() -> Self {
        Self::ByLength { tokens: 256 }
    }
}

/// Puts texts of these lengths, in tokens, into batches.
pub(super) fn plan(lengths: &[usize], batching: Batching) -> Plan {
    match batching {
        Batching::ByLength { tokens } => by_length(lengths, tokens),
        Batching::AsGiven { texts } => {
            let size = texts.max(1);
            let batches = (0..lengths.len()).step_by(size).map(|start| start..(start + size).min(lengths.len()));
            Plan { order: (0..lengths.len()).collect(), batches: batches.collect() }
        }
    }
}

/// Sorts texts by length and cuts batches of at most `budget` tokens, padding included; a text longer than the budget is
/// a batch of its own. Stable: equal lengths keep their order.
fn by_length(lengths: &[usize], budget: usize) -> Plan {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&text| std::cmp::Reverse(lengths[text]));
    let mut batches = Vec::new();
    let mut start = 0;
    while start < order.len() {
        let padded = lengths[order[start]].max(1);
        let end = (start + (budget / padded).max(1)).min(order.len());
        batches.push(start..end);
        start = end;
    }
    Plan { order, batches }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn like_lengths_go_together() {
        let plan = by_length(&[3, 100, 4, 90, 3], 12);
        assert_eq!(plan.order, [1, 3, 2, 0, 4]);
        assert_eq!(plan.batches, [0..1, 1..2, 2..5]);
    }

    #[test]
    fn the_order_given_can_be_kept() {
        let plan = plan(&[3, 100, 4], Batching::AsGiven { texts: 2 });
        assert_eq!((plan.order, plan.batches), (vec![0, 1, 2], vec![0..2, 2..3]));
    }

    proptest! {
        #[test]
        fn every_text_is_in_one_batch_within_the_budget(lengths in prop::collection::vec(0usize..300, 0..80), budget in 0usize..600) {
            let plan = by_length(&lengths, budget);
            let mut seen = plan.order.clone();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..lengths.len()).collect::<Vec<_>>());
            let mut next = 0;
            for batch in plan.batches {
                prop_assert_eq!(batch.start, next);
                prop_assert!(batch.end > batch.start);
                next = batch.end;
                let longest = lengths[plan.order[batch.start]];
                prop_assert!(batch.len() == 1 || longest * batch.len() <= budget);
            }
            prop_assert_eq!(next, lengths.len());
        }
    }
}
