//! The reason of an `auto` cut, in words that need no statistics.

use super::expectation::Expectation;
use crate::reason::{NOTHING_CLOSE, percent};

/// The aim that decided the number of candidates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Aim {
    /// The best expected F.
    BestF,
    /// The best expected F with at least this precision.
    Precision(f64),
    /// The best expected F within so many tokens.
    Budget(usize),
    /// The fewest candidates with this expected recall.
    Recall(f64),
    /// This expected recall, out of reach.
    RecallMissed(f64),
}

/// A probability of relevance below this is "probably not", above its complement "probably too".
const DOUBTFUL: f64 = 0.35;

/// The reason for keeping the first `keep`.
pub(super) fn explain(table: &[Expectation], keep: usize, probabilities: &[f64], aim: Aim) -> String {
    if keep == 0 {
        return match aim {
            Aim::Precision(least) => {
                format!("nothing is likely enough to be right for a precision of {}", percent(least))
            }
            _ => NOTHING_CLOSE.to_string(),
        };
    }
    let aimed = match aim {
        Aim::Recall(target) => Some(format!("they should include {} of all that is relevant", percent(target))),
        Aim::RecallMissed(target) => {
            Some(format!("as many as allowed, yet they may include less than {} of what is relevant", percent(target)))
        }
        _ => None,
    };
    let right = (table[keep].precision * keep as f64).round() as usize;
    let quality = match (keep, right) {
        (1, 1) => "it should be right".to_string(),
        (1, _) => "it may be right".to_string(),
        (2, 2) => "both should be right".to_string(),
        (_, right) if right == keep => format!("all {keep} should be right"),
        (_, 0) => "one of them may be right".to_string(),
        (_, right) => format!("about {right} of them should be right"),
    };
    let next = probabilities.get(keep).map(|&next| match aim {
        Aim::Budget(tokens) => format!("the next would exceed the budget of {tokens} tokens"),
        Aim::Precision(least) => format!("more would fall below a precision of {}", percent(least)),
        _ if next < DOUBTFUL => "the next is probably not".to_string(),
        _ if next > 1.0 - DOUBTFUL => "the next probably is too".to_string(),
        _ => "the next may or may not be".to_string(),
    });
    // A recall aim decides by the candidates included; the relevance of the next one played no part.
    let next = next.filter(|_| aimed.is_none());
    aimed.into_iter().chain([quality]).chain(next).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(precision: f64, keep: usize, next: &[f64], aim: Aim) -> String {
        let table = vec![Expectation { f: 0.5, precision, recall: 0.8 }; keep + 1];
        explain(&table, keep, &[&vec![0.9; keep][..], next].concat(), aim)
    }

    #[test]
    fn the_count_of_right_ones_and_the_next_one_are_in_plain_words() {
        for (precision, keep, next, expected) in [
            (0.7, 4, &[0.2][..], "about 3 of them should be right; the next is probably not"),
            (0.95, 4, &[0.5], "all 4 should be right; the next may or may not be"),
            (0.9, 2, &[0.1], "both should be right; the next is probably not"),
            (0.9, 1, &[0.8], "it should be right; the next probably is too"),
            (0.4, 1, &[0.3], "it may be right; the next is probably not"),
            (0.2, 2, &[], "one of them may be right"),
            (0.7, 4, &[], "about 3 of them should be right"),
        ] {
            assert_eq!(reason(precision, keep, next, Aim::BestF), expected);
        }
    }

    #[test]
    fn an_aim_that_decided_is_named() {
        for (aim, expected) in [
            (Aim::Budget(500), "about 3 of them should be right; the next would exceed the budget of 500 tokens"),
            (Aim::Precision(0.6), "about 3 of them should be right; more would fall below a precision of 60%"),
            (Aim::Recall(0.9), "they should include 90% of all that is relevant; about 3 of them should be right"),
            (
                Aim::RecallMissed(0.9),
                "as many as allowed, yet they may include less than 90% of what is relevant; about 3 of them should be right",
            ),
        ] {
            assert_eq!(reason(0.7, 4, &[0.4], aim), expected);
        }
        assert_eq!(reason(0.7, 0, &[0.4], Aim::BestF), "nothing close enough");
        assert_eq!(
            reason(0.7, 0, &[0.4], Aim::Precision(0.8)),
            "nothing is likely enough to be right for a precision of 80%"
        );
    }
}
