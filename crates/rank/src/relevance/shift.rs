//! How judgements of a collection move the probability that a list holds an answer there.

use super::probability;

/// One entry above the line of a judged search: the log odds that the built-in models gave it, and its label; `None` if nobody judged it.
/// Log odds that are not finite are unknown: the entry then only shows whether the search was judged in full.
pub type JudgedEntry = (f64, Option<bool>);

/// A shift of the log odds that a list of one collection holds an answer, which judgements of its searches justify. It never changes the
/// order, and is small: what people judge is what they were shown.
///
/// It is the most probable intercept under a narrow normal prior around no shift.
///
/// People judge what they look at, and many say only what is right, or only what is wrong. Such labels would move all answers one way. So
/// a search counts only if everything above its line has a label, most judged searches must be such, and both labels must occur.
///
/// ```
/// use tamis_rank::Shift;
///
/// // The model is too sure of itself here: it gave 73%, and one in three answers.
/// let searches = vec![vec![(1.0, Some(true)), (1.0, Some(false)), (1.0, Some(false))]; 20];
/// let shift = Shift::fit(&searches);
/// assert!((-0.4..-0.2).contains(&shift.log_odds()));
/// // Somebody who only says what is right does not move it.
/// let right = vec![vec![(1.0, Some(true)), (1.0, None), (1.0, None)]; 20];
/// assert_eq!(Shift::fit(&right), Shift::NONE);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shift {
    intercept: f64,
    labels: usize,
}

/// Standard deviation of the intercept over collections, and the most that it moves.
const DEVIATION: f64 = 0.2;
const MOST: f64 = 0.4;

/// The share of judged searches that must be judged in full.
const IN_FULL: f64 = 0.75;

/// Log odds beyond this count as this in a fit.
const SUREST: f64 = 12.0;

impl Shift {
    /// No shift.
    pub const NONE: Shift = Shift { intercept: 0.0, labels: 0 };

    /// Fits the shift to judged searches, each with the entries above its line. O(entries).
    pub fn fit<S: AsRef<[JudgedEntry]>>(searches: &[S]) -> Shift {
        let judged =
            searches.iter().map(AsRef::as_ref).filter(|entries| entries.iter().any(|(_, label)| label.is_some()));
        let (full, partial): (Vec<&[JudgedEntry]>, Vec<&[JudgedEntry]>) =
            judged.partition(|entries| entries.iter().all(|(_, label)| label.is_some()));
        let known = |&(log_odds, label): &JudgedEntry| {
            label.filter(|_| log_odds.is_finite()).map(|relevant| (log_odds.clamp(-SUREST, SUREST), relevant))
        };
        let labels: Vec<(f64, bool)> = full.iter().copied().flatten().filter_map(known).collect();
        let both = [true, false].iter().all(|label| labels.iter().any(|(_, relevant)| relevant == label));
        if !both || (full.len() as f64) < IN_FULL * (full.len() + partial.len()) as f64 {
            return Shift::NONE;
        }
        Shift { intercept: most_probable(&labels).clamp(-MOST, MOST), labels: labels.len() }
    }

    /// The number of labels that it rests on; 0 for no shift.
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// What it adds to the log odds of an answer, -0.4 to 0.4.
    pub fn log_odds(&self) -> f64 {
        self.intercept
    }
}

/// Returns the most probable intercept, by Newton's method. The logarithm of its probability is concave.
fn most_probable(labels: &[(f64, bool)]) -> f64 {
    let prior = DEVIATION.powi(-2);
    let mut intercept: f64 = 0.0;
    for _ in 0..50 {
        let (mut gradient, mut curve) = (prior * intercept, prior);
        for &(log_odds, relevant) in labels {
            let likely = probability(log_odds + intercept);
            gradient += likely - f64::from(u8::from(relevant));
            curve += likely * (1.0 - likely);
        }
        let step = (gradient / curve).clamp(-1.0, 1.0);
        intercept -= step;
        if step.abs() < 1e-9 {
            break;
        }
    }
    intercept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn searches(log_odds: f64, labels: &[bool], times: usize) -> Vec<Vec<JudgedEntry>> {
        vec![labels.iter().map(|&relevant| (log_odds, Some(relevant))).collect(); times]
    }

    #[test]
    fn few_labels_move_little_and_many_no_further_than_the_bound() {
        let few = Shift::fit(&searches(1.0, &[true, false, false], 1));
        let many = Shift::fit(&searches(1.0, &[true, false, false], 500));
        assert!(few.log_odds() < 0.0 && few.log_odds() > -0.1, "{few:?}");
        assert_eq!((many.log_odds(), many.labels()), (-MOST, 1500));
        assert_eq!(Shift::fit(&searches(-1.0, &[true, true, false], 500)).log_odds(), MOST);
    }

    #[test]
    fn labels_that_agree_with_the_model_move_nothing() {
        let agree = Shift::fit(&searches(0.0, &[true, false], 50));
        assert!(agree.log_odds().abs() < 1e-9 && agree.labels() == 100);
    }

    #[test]
    fn labels_of_one_kind_and_searches_judged_in_part_say_nothing() {
        assert_eq!(Shift::fit(&searches(0.0, &[true, true], 50)), Shift::NONE);
        let mut part = searches(0.0, &[true, false], 10);
        part.extend(vec![vec![(0.0, Some(true)), (0.0, None)]; 10]);
        assert_eq!(Shift::fit(&part), Shift::NONE);
        assert_eq!(Shift::fit::<Vec<JudgedEntry>>(&[]), Shift::NONE);
    }

    proptest! {
        #[test]
        fn any_labels_keep_the_bounds(
            entries in prop::collection::vec((prop::num::f64::ANY, prop::option::of(prop::bool::ANY)), 0..30)
        ) {
            let shift = Shift::fit(&[entries]);
            prop_assert!((-MOST..=MOST).contains(&shift.log_odds()));
        }
    }
}
