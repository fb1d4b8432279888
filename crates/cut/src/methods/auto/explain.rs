//! The reason of an `auto` cut, in words that need no statistics.

use crate::reason::{NOTHING_CLOSE, grouped, percent};

/// The aim that decided the number of candidates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Aim {
    /// All that are likely enough.
    Level,
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

/// A candidate with less than this share of the last kept one's probability is much less likely, one with less than the other
/// share less likely.
const MUCH_LESS: f64 = 0.5;
const LESS: f64 = 0.9;

/// What ended the list after the first `keep`. The probabilities themselves are the caller's to show.
pub(super) fn explain(keep: usize, probabilities: &[f64], aim: Aim) -> String {
    let Some((last, next)) = keep.checked_sub(1).map(|last| (probabilities.get(last), probabilities.get(keep))) else {
        return match aim {
            Aim::Precision(least) => format!("nothing is likely enough for a precision of {}", percent(least)),
            _ => NOTHING_CLOSE.to_string(),
        };
    };
    match (aim, last.zip(next)) {
        (Aim::Recall(target), _) => {
            format!("all {} probably include {} of what is relevant", grouped(keep), percent(target))
        }
        (Aim::RecallMissed(target), _) => {
            format!("even all {} may include less than {} of what is relevant", grouped(keep), percent(target))
        }
        (_, None) => "nothing else was found".to_string(),
        (Aim::Budget(tokens), _) => format!("more would exceed the budget of {} tokens", grouped(tokens)),
        (Aim::Precision(least), _) => format!("more would fall below a precision of {}", percent(least)),
        (Aim::BestF | Aim::Level, Some((last, next))) => match next / last {
            share if share < MUCH_LESS => "the next is much less likely",
            share if share < LESS => "the next is less likely",
            _ => "the next is no more likely, and adding more would lower precision",
        }
        .to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(keep: usize, next: &[f64], aim: Aim) -> String {
        explain(keep, &[&vec![0.8; keep][..], next].concat(), aim)
    }

    #[test]
    fn the_reason_says_what_ended_the_list() {
        for (keep, next, aim, expected) in [
            (4, &[0.2][..], Aim::BestF, "the next is much less likely"),
            (4, &[0.6], Aim::BestF, "the next is less likely"),
            (1, &[0.8], Aim::BestF, "the next is no more likely, and adding more would lower precision"),
            (4, &[], Aim::BestF, "nothing else was found"),
            (4, &[0.4], Aim::Budget(4000), "more would exceed the budget of 4,000 tokens"),
            (4, &[0.4], Aim::Precision(0.6), "more would fall below a precision of 60%"),
            (4, &[0.4], Aim::Recall(0.9), "all 4 probably include 90% of what is relevant"),
            (4, &[], Aim::RecallMissed(0.9), "even all 4 may include less than 90% of what is relevant"),
            (0, &[0.4], Aim::BestF, "nothing close enough"),
            (0, &[0.4], Aim::Precision(0.8), "nothing is likely enough for a precision of 80%"),
        ] {
            assert_eq!(reason(keep, next, aim), expected);
        }
    }
}
