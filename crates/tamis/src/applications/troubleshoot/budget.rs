//! Divides the characters of an answer among its matches.

/// Divides `total` among the matches by similarity: ⌊sim / Σ sim · total⌋ each. A single match gets all of it; if every
/// similarity is zero, the shares are equal. A negative or NaN similarity counts as zero. The shares never add up to
/// more than `total`.
///
/// ```
/// assert_eq!(tamis::troubleshoot::budgets(&[0.9, 0.6], 1000), [600, 400]);
/// assert_eq!(tamis::troubleshoot::budgets(&[0.7], 1000), [1000]);
/// assert_eq!(tamis::troubleshoot::budgets(&[0.0, 0.0, 0.0], 1000), [333, 333, 333]);
/// ```
#[must_use]
pub fn budgets(similarities: &[f64], total: usize) -> Vec<usize> {
    let counts = |similarity: &f64| if similarity.is_finite() { similarity.clamp(0.0, 1.0) } else { 0.0 };
    let weights: Vec<f64> = similarities.iter().map(counts).collect();
    let sum: f64 = weights.iter().sum();
    if let [_] = weights.as_slice() {
        return vec![total];
    }
    if sum <= 0.0 {
        return vec![total / weights.len().max(1); weights.len()];
    }
    // One product before the division, so that 0.9 of 1.5 is exactly three fifths.
    weights.iter().map(|weight| (weight * total as f64 / sum).floor() as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shares_go_by_similarity_and_are_rounded_down() {
        assert_eq!(budgets(&[0.8, 0.7, 0.5], 12_000), [4800, 4200, 3000]);
        assert_eq!(budgets(&[0.7, 0.7, 0.7], 1000), [333, 333, 333]);
        assert_eq!(budgets(&[0.5, 0.0], 1000), [1000, 0]);
        assert_eq!(budgets(&[-0.2, f64::NAN], 1001), [500, 500]);
        assert!(budgets(&[], 1000).is_empty());
    }

    proptest! {
        #[test]
        fn never_more_than_the_whole_and_little_is_lost(
            similarities in proptest::collection::vec(-0.2f64..1.0, 1..12),
            total in 1000usize..50_000,
        ) {
            let shares = budgets(&similarities, total);
            prop_assert_eq!(shares.len(), similarities.len());
            let sum: usize = shares.iter().sum();
            prop_assert!(sum <= total && sum + similarities.len() >= total, "{sum} of {total}");
            for at in 1..shares.len() {
                let grows = similarities[at - 1] < similarities[at];
                prop_assert!(!grows || shares[at - 1] <= shares[at], "a more similar one gets no less");
            }
        }

        #[test]
        fn any_numbers_do_no_harm(similarities in proptest::collection::vec(proptest::num::f64::ANY, 0..6), total in 0usize..9000) {
            prop_assert!(budgets(&similarities, total).iter().sum::<usize>() <= total);
        }
    }
}
