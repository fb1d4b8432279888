//! What a passage needs besides one word to be among the best.
//!
//! The principle is that of MaxScore: passages that have only words of little weight need not be searched for (Turtle and Flood, "Query
//! evaluation: strategies and optimizations", Information Processing and Management 31, 1995). Here it is applied to the words that come
//! with another one, so that the server intersects their lists.

use std::ops::Range;

/// The words of which a passage must have some besides one word, to score above `threshold`: at least one of each range of `others`. No
/// range if that word may suffice, `None` if all of them do not.
///
/// `bound` is the most that the word adds to a score, and `others` are those of the other words, descending. At most `most` ranges come
/// back. A passage that meets them may still score less.
pub(super) fn required(bound: f32, others: &[f32], threshold: f32, most: usize) -> Option<Vec<Range<usize>>> {
    let mut needed = threshold - bound;
    let mut ranges = Vec::new();
    for (first, greatest) in others.iter().enumerate() {
        if needed < 0.0 || ranges.len() == most {
            return Some(ranges);
        }
        // With the greatest ones before it, a passage still needs one that the smallest together cannot replace.
        let mut smallest = 0.0;
        let mut end = others.len();
        while end > first && smallest + others[end - 1] <= needed {
            smallest += others[end - 1];
            end -= 1;
        }
        if end == first {
            return None;
        }
        ranges.push(first..end);
        needed -= greatest;
    }
    (needed < 0.0).then_some(ranges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn examples_by_hand() {
        let of_two = |threshold: f32| {
            let ranges = required(5.0, &[3.0, 2.0], threshold, 3)?;
            Some(ranges.into_iter().map(|range| (range.start, range.end)).collect::<Vec<_>>())
        };
        assert_eq!(of_two(4.0), Some(vec![]), "the word suffices");
        assert_eq!(of_two(6.0), Some(vec![(0, 2)]), "any other will do");
        assert_eq!(of_two(7.0), Some(vec![(0, 1)]), "the second is too little");
        assert_eq!(of_two(8.0), Some(vec![(0, 1), (1, 2)]), "it takes both");
        assert_eq!(of_two(10.0), None);
        assert_eq!(required(5.0, &[], 6.0, 3), None);
    }

    proptest! {
        #[test]
        fn whatever_passes_has_what_is_required(
            bound in 0u8..20,
            mut others in prop::collection::vec(1u8..20, 0..7),
            threshold in 0u8..60,
            most in 1usize..4,
        ) {
            others.sort_unstable_by(|a, b| b.cmp(a));
            let bounds: Vec<f32> = others.iter().copied().map(f32::from).collect();
            let required = required(f32::from(bound), &bounds, f32::from(threshold), most);
            for has in 0..1_u32 << others.len() {
                let has = |place: &usize| has >> place & 1 == 1;
                let score: f32 = f32::from(bound) + (0..bounds.len()).filter(has).map(|place| bounds[place]).sum::<f32>();
                if score > f32::from(threshold) {
                    let ranges = required.as_ref().expect("something passes");
                    prop_assert!(ranges.iter().all(|range| range.clone().any(|place| has(&place))), "{ranges:?}");
                }
            }
        }
    }
}
