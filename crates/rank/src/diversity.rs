//! Diversity: new information before repetition.

use crate::fusion::order;

/// The order of maximal marginal relevance (Carbonell and Goldstein, "The Use of MMR, Diversity-Based Reranking", SIGIR 1998):
/// the most relevant first, then repeatedly the candidate with the highest `lambda` · relevance − (1 − `lambda`) · its greatest
/// similarity to those chosen before.
///
/// - `relevance` has one value per candidate, on any scale; it is scaled to [0, 1]. A value that is not finite counts as the
///   lowest.
/// - `lambda` is clamped to [0, 1]; at 1 the order follows relevance, and `similarity` is never called.
/// - `similarity` of two positions is clamped to [0, 1]; NaN counts as 0.
///
/// The first `limit` places are chosen this way, and the others follow by relevance. A smaller limit gives the beginning of a
/// larger one's order. Ties keep the order given. After each choice, `similarity` compares each remaining candidate with the one
/// just chosen: O(candidates · limit) calls.
///
/// ```
/// use tamis_rank::diversified;
///
/// // The second repeats the first.
/// let similarity = |a: usize, b: usize| if a + b == 1 { 1.0 } else { 0.0 };
/// assert_eq!(diversified(&[0.9, 0.88, 0.7], 0.5, 3, similarity), [0, 2, 1]);
/// assert_eq!(diversified(&[0.9, 0.88, 0.7], 1.0, 3, similarity), [0, 1, 2]);
/// ```
pub fn diversified(
    relevance: &[f64],
    lambda: f64,
    limit: usize,
    mut similarity: impl FnMut(usize, usize) -> f64,
) -> Vec<usize> {
    let mut left = order(relevance);
    let lambda = if lambda.is_nan() { 1.0 } else { lambda.clamp(0.0, 1.0) };
    if lambda == 1.0 {
        return left;
    }
    let shares = shares(relevance);
    let mut nearest = vec![0.0_f64; relevance.len()];
    let mut chosen = Vec::with_capacity(relevance.len());
    while chosen.len() < limit && !left.is_empty() {
        if let Some(&last) = chosen.last() {
            for &position in &left {
                let alike = similarity(position, last);
                // `max` ignores NaN.
                nearest[position] = nearest[position].max(alike).min(1.0);
            }
        }
        let worth = |position: usize| lambda * shares[position] - (1.0 - lambda) * nearest[position];
        let best = (1..left.len()).fold(0, |best, at| if worth(left[at]) > worth(left[best]) { at } else { best });
        chosen.push(left.remove(best));
    }
    chosen.extend(left);
    chosen
}

/// The values scaled to [0, 1].
fn shares(values: &[f64]) -> Vec<f64> {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let lowest = finite().fold(f64::INFINITY, f64::min);
    let highest = finite().fold(f64::NEG_INFINITY, f64::max);
    let share = |&value: &f64| {
        let share = (value - lowest) / (highest - lowest);
        match value.is_finite() {
            true if share.is_finite() => share,
            true => f64::from(u8::from(value >= highest)),
            false => 0.0,
        }
    };
    values.iter().map(share).collect()
}

/// Jaccard similarity of two sets, 0 to 1; 0 for two empty ones. Both are ascending and without repetition. O(a + b).
///
/// ```
/// assert_eq!(tamis_rank::jaccard(&["a", "b", "c"], &["b", "c", "d"]), 0.5);
/// ```
pub fn jaccard<T: Ord>(a: &[T], b: &[T]) -> f64 {
    let (mut at_a, mut at_b, mut common) = (0, 0, 0usize);
    while let (Some(x), Some(y)) = (a.get(at_a), b.get(at_b)) {
        let ordering = x.cmp(y);
        at_a += usize::from(ordering.is_le());
        at_b += usize::from(ordering.is_ge());
        common += usize::from(ordering.is_eq());
    }
    let all = a.len() + b.len() - common;
    if all == 0 { 0.0 } else { common as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;

    #[test]
    fn by_hand() {
        // Shares 1, 0.8, 0.6, 0. After 0: 1 is worth 0.7 · 0.8 − 0.3 · 0.9 = 0.29, 2 is worth 0.42 − 0.03 = 0.39.
        let alike = |a: usize, b: usize| match (a.min(b), a.max(b)) {
            (0, 1) => 0.9,
            (0, 2) => 0.1,
            (1, 2) => 0.2,
            _ => 0.0,
        };
        assert_eq!(diversified(&[1.0, 0.9, 0.8, 0.5], 0.7, 4, alike), [0, 2, 1, 3]);
    }

    #[test]
    fn the_most_relevant_is_always_the_first() {
        for lambda in [0.0, 0.3, 0.7, 1.0] {
            assert_eq!(diversified(&[0.2, 0.9, 0.4], lambda, 3, |_, _| 1.0)[0], 1, "{lambda}");
        }
    }

    #[test]
    fn a_similarity_is_asked_once_for_each_that_is_left_at_each_choice() {
        let calls = Cell::new(0_usize);
        let counted = |candidates: usize, limit: usize| {
            calls.set(0);
            let relevance: Vec<f64> = (0..candidates).map(|at| 1.0 / (1.0 + at as f64)).collect();
            diversified(&relevance, 0.7, limit, |_, _| {
                calls.set(calls.get() + 1);
                0.5
            });
            calls.get()
        };
        // (n − 1) + (n − 2) + … for the second to the last choice.
        assert_eq!([counted(50, 5), counted(50, 50)], [49 + 48 + 47 + 46, 50 * 49 / 2]);
        assert_eq!(counted(200, 10) / counted(100, 10), 2, "linear in the candidates");
        assert_eq!((counted(50, 1), counted(50, 0), counted(1, 5), counted(0, 5)), (0, 0, 0, 0));
    }

    #[test]
    fn what_is_no_number_does_no_harm() {
        let relevance = [f64::NAN, 0.5, f64::INFINITY, 0.7];
        assert_eq!(diversified(&relevance, 0.7, 4, |_, _| f64::NAN), [3, 1, 0, 2]);
        assert_eq!(diversified(&[0.3, 0.3, 0.3], f64::NAN, 3, |_, _| 1.0), [0, 1, 2]);
        assert_eq!(diversified(&[f64::MAX, f64::MIN], 0.7, 2, |_, _| 0.0), [0, 1]);
    }

    #[test]
    fn sets_in_common() {
        assert_eq!([jaccard::<u32>(&[], &[]), jaccard(&[1, 2], &[3])], [0.0, 0.0]);
        assert_eq!(jaccard(&[1, 2, 5], &[1, 2, 5]), 1.0);
    }

    fn pools() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
        let size = 0..25usize;
        size.prop_flat_map(|n| (prop::collection::vec(-1.0..1.0f64, n), prop::collection::vec(-0.5..1.5f64, n * n)))
    }

    proptest! {
        #[test]
        fn fewer_are_the_beginning_of_more((relevance, alike) in pools(), lambda in 0.0..=1.0f64, limit in 0..25usize) {
            let n = relevance.len();
            let similarity = |a: usize, b: usize| alike[a.min(b) * n + a.max(b)];
            let whole = diversified(&relevance, lambda, n, similarity);
            let part = diversified(&relevance, lambda, limit, similarity);
            let limit = limit.min(n);
            prop_assert_eq!(&part[..limit], &whole[..limit]);
            let mut all = part;
            all.sort_unstable();
            prop_assert_eq!(all, (0..n).collect::<Vec<_>>());
        }

        #[test]
        fn relevance_alone_is_the_plain_order((relevance, _) in pools()) {
            let plain = diversified(&relevance, 1.0, usize::MAX, |_, _| panic!("not asked"));
            prop_assert_eq!(plain, order(&relevance));
        }

        #[test]
        fn the_running_maximum_is_the_greatest_similarity_to_the_chosen((relevance, alike) in pools(), lambda in 0.0..1.0f64) {
            let n = relevance.len();
            let similarity = |a: usize, b: usize| alike[a.min(b) * n + a.max(b)];
            let shares = shares(&relevance);
            let found = diversified(&relevance, lambda, n, similarity);
            for place in 1..n {
                let worth = |position: usize| {
                    let nearest = found[..place].iter().map(|&before| similarity(position, before).clamp(0.0, 1.0));
                    lambda * shares[position] - (1.0 - lambda) * nearest.fold(0.0, f64::max)
                };
                let best = found[place..].iter().map(|&position| worth(position)).fold(f64::NEG_INFINITY, f64::max);
                prop_assert!(worth(found[place]) >= best - 1e-12);
            }
        }
    }
}
