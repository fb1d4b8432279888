//! How judgements of a collection move the model of relevance there.

use super::probability;

/// One entry above the line of a judged search: the log odds that the built-in model gave it, and its label; `None` if nobody judged it.
/// Log odds that are not finite are unknown: the entry then only shows whether the search was judged in full.
pub type JudgedEntry = (f64, Option<bool>);

/// A shift of the log odds of one collection, which judgements of its searches justify. It never changes the order.
///
/// It is the logistic regression of the labels on the built-in log odds that is most probable under a normal prior around no shift.
/// The prior is narrow: it was chosen so that the collections and trees of `docs/research/relevance.md` do no worse with it than without,
/// with 3 labels or with 200.
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
/// assert!((-1.0..-0.4).contains(&shift.added(1.0)));
/// // Somebody who only says what is right does not move it.
/// let right = vec![vec![(1.0, Some(true)), (1.0, None), (1.0, None)]; 20];
/// assert_eq!(Shift::fit(&right), Shift::NONE);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    intercept: f64,
    slope: f64,
    labels: usize,
    /// Log odds below which nothing rises.
    floor: f64,
}

/// Standard deviations of the intercept and of the slope over collections, and their bounds.
const INTERCEPT: f64 = 0.2;
const SLOPE: f64 = 0.1;
const MOST_INTERCEPT: f64 = 2.0;
const SLOPES: (f64, f64) = (0.5, 2.0);

/// The share of judged searches that must be judged in full.
const IN_FULL: f64 = 0.75;

/// Labels have log odds up to these, since few entries above a line have less than 5%. The slope says nothing about others, which move as
/// far as these.
const REACH: f64 = 3.0;

/// The log odds below a bound over which a shift fades.
const FADE: f64 = 0.5;

/// Log odds beyond this count as this in a fit.
const SUREST: f64 = 12.0;

impl Shift {
    /// No shift.
    pub const NONE: Shift = Shift { intercept: 0.0, slope: 1.0, labels: 0, floor: f64::NEG_INFINITY };

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
        let (intercept, slope) = most_probable(&labels);
        Shift {
            intercept: intercept.clamp(-MOST_INTERCEPT, MOST_INTERCEPT),
            slope: slope.clamp(SLOPES.0, SLOPES.1),
            labels: labels.len(),
            ..Shift::NONE
        }
    }

    /// The number of labels that it rests on; 0 for no shift.
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// Returns the shift for a list whose best entry has these log odds. Judgements are of answers that were not empty. So they say
    /// nothing about lists whose best entry is less likely than the `least` that opens an answer, nor about entries less likely than the
    /// `least_each` of a further one: there the shift soon fades, of entries only where it would lift them.
    #[must_use]
    pub fn for_list(self, best_log_odds: f64, least: f64, least_each: f64) -> Shift {
        let share = faded(best_log_odds, logit(least));
        if share <= 0.0 {
            return Shift::NONE;
        }
        Shift {
            intercept: share * self.intercept,
            slope: 1.0 + share * (self.slope - 1.0),
            floor: logit(least_each),
            ..self
        }
    }

    /// Returns what it adds to log odds.
    pub fn added(&self, log_odds: f64) -> f64 {
        let added = added(self.intercept, self.slope, log_odds);
        if added > 0.0 { added * faded(log_odds, self.floor) } else { added }
    }
}

fn logit(probability: f64) -> f64 {
    (probability / (1.0 - probability)).ln()
}

/// Returns the share of a shift that is left at log odds: 1 from the bound on, 0 where they lie [`FADE`] below it.
fn faded(log_odds: f64, bound: f64) -> f64 {
    // Both may be infinite.
    if log_odds >= bound { 1.0 } else { (1.0 + (log_odds - bound) / FADE).max(0.0) }
}

fn added(intercept: f64, slope: f64, log_odds: f64) -> f64 {
    intercept + (slope - 1.0) * log_odds.clamp(-REACH, REACH)
}

impl Default for Shift {
    fn default() -> Self {
        Shift::NONE
    }
}

/// Returns the most probable intercept and slope, by Newton's method. The logarithm of their probability is concave, so halving a step
/// that leads too far always ends.
fn most_probable(labels: &[(f64, bool)]) -> (f64, f64) {
    let (weight_of_intercept, weight_of_slope) = (INTERCEPT.powi(-2), SLOPE.powi(-2));
    let cost = |intercept: f64, slope: f64| {
        let wrong = |&(log_odds, relevant): &(f64, bool)| {
            let shifted = log_odds + added(intercept, slope, log_odds);
            let against = if relevant { -shifted } else { shifted };
            against.max(0.0) + (-against.abs()).exp().ln_1p()
        };
        let prior = weight_of_intercept * intercept.powi(2) + weight_of_slope * (slope - 1.0).powi(2);
        prior / 2.0 + labels.iter().map(wrong).sum::<f64>()
    };
    let (mut intercept, mut slope) = (0.0, 1.0);
    let mut least = cost(intercept, slope);
    for _ in 0..50 {
        let mut gradient = (weight_of_intercept * intercept, weight_of_slope * (slope - 1.0));
        let mut curve = (weight_of_intercept, 0.0, weight_of_slope);
        for &(log_odds, relevant) in labels {
            let expected = probability(log_odds + added(intercept, slope, log_odds));
            let (error, spread) = (expected - f64::from(u8::from(relevant)), expected * (1.0 - expected));
            let log_odds = log_odds.clamp(-REACH, REACH);
            gradient = (gradient.0 + error, gradient.1 + error * log_odds);
            curve = (curve.0 + spread, curve.1 + spread * log_odds, curve.2 + spread * log_odds.powi(2));
        }
        let determinant = curve.0 * curve.2 - curve.1.powi(2);
        let mut step = (
            (curve.2 * gradient.0 - curve.1 * gradient.1) / determinant,
            (curve.0 * gradient.1 - curve.1 * gradient.0) / determinant,
        );
        let mut next = cost(intercept - step.0, slope - step.1);
        while next > least && step.0.abs().max(step.1.abs()) > 1e-9 {
            step = (step.0 / 2.0, step.1 / 2.0);
            next = cost(intercept - step.0, slope - step.1);
        }
        if next > least {
            break;
        }
        (intercept, slope, least) = (intercept - step.0, slope - step.1, next);
        if step.0.abs().max(step.1.abs()) < 1e-9 {
            break;
        }
    }
    (intercept, slope)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Searches with three entries each, of which the first ones are relevant.
    fn searches(count: usize, log_odds: [f64; 3], relevant: usize) -> Vec<Vec<JudgedEntry>> {
        let entries = log_odds.iter().enumerate().map(|(at, &log_odds)| (log_odds, Some(at < relevant)));
        vec![entries.collect(); count]
    }

    #[test]
    fn labels_move_the_odds_towards_what_was_judged_and_more_labels_more() {
        let odds = [0.0, 0.0, 0.0];
        let mut before = 0.0;
        for count in [1, 5, 20, 60] {
            let (up, down) = (Shift::fit(&searches(count, odds, 2)), Shift::fit(&searches(count, odds, 1)));
            assert!(up.added(0.0) > before && (up.added(0.0) + down.added(0.0)).abs() < 1e-9, "{up:?} {down:?}");
            assert_eq!(up.labels(), 3 * count);
            before = up.added(0.0);
        }
        // Two of three are relevant.
        assert!((0.4..2.0_f64.ln()).contains(&before), "{before}");
    }

    #[test]
    fn labels_as_the_model_expects_move_nothing() {
        let certain = [0.5_f64.ln(), 0.5_f64.ln(), 0.5_f64.ln()];
        let shift = Shift::fit(&searches(50, certain, 1));
        assert!(shift.added(certain[0]).abs() < 1e-6, "{shift:?}");
    }

    #[test]
    fn the_slope_follows_how_well_the_odds_tell_labels_apart() {
        assert!(Shift::fit(&searches(60, [1.0, -1.0, -1.0], 1)).slope > 1.1);
        let opposite: Vec<Vec<JudgedEntry>> = vec![vec![(2.0, Some(false)), (-2.0, Some(true))]; 200];
        assert_eq!(Shift::fit(&opposite).slope, SLOPES.0);
    }

    #[test]
    fn odds_beyond_those_of_labels_move_no_further() {
        let shift = Shift::fit(&vec![vec![(1.0, Some(false)), (-1.0, Some(true)), (-2.0, Some(true))]; 60]);
        assert!(shift.added(-3.0) > shift.added(-2.0) + 0.1, "{shift:?}");
        assert_eq!(shift.added(-9.0), shift.added(-3.0));
        assert_eq!(shift.added(9.0), shift.added(3.0));
    }

    #[test]
    fn a_list_with_nothing_near_the_line_is_not_shifted() {
        let shift = Shift::fit(&searches(20, [0.0, 0.0, 0.0], 2));
        let line = (0.13_f64 / 0.87).ln();
        assert_eq!(shift.for_list(line, 0.13, 0.0), shift);
        let half = shift.for_list(line - FADE / 2.0, 0.13, 0.0);
        assert!((2.0 * half.added(-1.0) - shift.added(-1.0)).abs() < 1e-12);
        for far in [line - FADE, -9.0, f64::NEG_INFINITY, f64::NAN] {
            assert_eq!(shift.for_list(far, 0.13, 0.0), Shift::NONE);
        }
        // A gate that opens always, or never.
        assert_eq!((shift.for_list(-9.0, 0.0, 0.0), shift.for_list(9.0, 1.0, 0.0)), (shift, Shift::NONE));
    }

    #[test]
    fn an_entry_far_below_the_line_is_not_lifted_but_may_sink() {
        let bound = logit(0.05);
        let up = Shift::fit(&searches(20, [0.0, 0.0, 0.0], 2)).for_list(0.0, 0.13, 0.05);
        assert!(up.added(bound) > 0.1 && up.added(bound - FADE / 2.0) < up.added(bound));
        assert_eq!(up.added(bound - FADE), 0.0);
        let down = Shift::fit(&searches(20, [0.0, 0.0, 0.0], 1)).for_list(0.0, 0.13, 0.05);
        assert!(down.added(bound - FADE) < -0.1);
    }

    #[test]
    fn only_searches_judged_in_full_with_both_labels_count() {
        let full = searches(9, [0.0, 0.0, 0.0], 2);
        let partial = vec![(0.0, Some(true)), (0.0, None)];
        let with = |partials: usize| [full.clone(), vec![partial.clone(); partials]].concat();
        let shift = Shift::fit(&full);
        assert_ne!(shift, Shift::NONE);
        // Those that nobody judged say nothing on how people judge.
        assert_eq!(Shift::fit(&[full.clone(), vec![vec![(0.0, None)]; 90]].concat()), shift);
        assert_eq!(Shift::fit(&with(3)), shift, "three quarters");
        assert_eq!(Shift::fit(&with(4)), Shift::NONE);
        for relevant in [0, 3] {
            assert_eq!(Shift::fit(&searches(50, [1.0, 0.0, -1.0], relevant)), Shift::NONE, "one kind of label");
        }
        assert_eq!(Shift::fit::<Vec<JudgedEntry>>(&[]), Shift::NONE);
    }

    #[test]
    fn unknown_odds_only_show_that_a_search_was_judged_in_full() {
        let known = vec![(0.4, Some(true)), (-0.4, Some(true)), (-1.0, Some(false))];
        let with = |more: JudgedEntry| Shift::fit(&[[known.clone(), vec![more]].concat()]);
        assert_eq!(with((f64::NAN, Some(false))), Shift::fit(std::slice::from_ref(&known)));
        assert_eq!(with((f64::NAN, None)), Shift::NONE);
    }

    proptest! {
        #[test]
        fn any_labels_give_a_finite_shift_within_bounds_that_keeps_the_order(
            searches in prop::collection::vec(prop::collection::vec((prop_oneof![-15.0..15.0, prop::num::f64::ANY], prop::option::weighted(0.97, any::<bool>())), 0..12), 0..40),
            (low, high) in (-30.0..30.0, 0.001..30.0),
        ) {
            let shift = Shift::fit(&searches);
            prop_assert!(shift.intercept.abs() <= MOST_INTERCEPT && (SLOPES.0..=SLOPES.1).contains(&shift.slope));
            let shift = shift.for_list(0.0, 0.13, 0.05);
            let of = |log_odds: f64| log_odds + shift.added(log_odds);
            prop_assert!(of(low) < of(low + high));
        }
    }
}
