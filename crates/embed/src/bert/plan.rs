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

/// Sorts texts by length and cuts batches of at most `budget` tokens, padding included; a text longer than the budget is
/// a batch of its own. Stable: equal lengths keep their order.
pub(super) fn plan(lengths: &[usize], budget: usize) -> Plan {
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
        let plan = plan(&[3, 100, 4, 90, 3], 12);
        assert_eq!(plan.order, [1, 3, 2, 0, 4]);
        assert_eq!(plan.batches, [0..1, 1..2, 2..5]);
    }

    proptest! {
        #[test]
        fn every_text_is_in_one_batch_within_the_budget(lengths in prop::collection::vec(0usize..300, 0..80), budget in 0usize..600) {
            let plan = plan(&lengths, budget);
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
