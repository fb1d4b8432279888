//! The probability that an entry answers the query, by two small models.
//!
//! A list of scores shows which entries are better than others. It cannot show whether the best one is any good, since its scores are
//! relative to it. One model cannot say both: what orders answers well also finds answers where there are none. So there are two, and a
//! third that joins them:
//!
//! 1. *Is there an answer?* A logistic model of the whole list: how near its best entries are in words and meaning, which of the query's
//!    words and names nothing has, how long the query is.
//! 2. *Which entry is it?* A listwise model (a softmax over the list), whose weights depend on how far words cover the query: where they
//!    answer, meaning only adds noise.
//! 3. *Together*: a logistic model of the probability by the first and the share by the second gives each entry its probability.
//!
//! The weights are in `weights.rs`, a set for each [`Basis`]. `cargo xtask fit` makes them from questions with known answers, each also
//! put to a corpus that cannot answer it. `docs/research/relevance.md` has what was measured with whole families and trees left out.

mod features;
mod weights;

use features::{covered, entry_values, list_values};
use weights::{EMBEDDED, MEANING, ON_DEMAND, SCORES, WORDS};

pub use features::{ENTRY_FEATURES, EntryFeatures, LIST_FEATURES, Matches, QueryFeatures, TextKind};

/// The evidence that there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Words alone.
    Words,
    /// Meaning alone.
    Meaning,
    /// Words, and meaning by the quick model.
    Scores,
    /// The same, and the better model has embedded the first candidates of this search.
    OnDemand,
    /// Words, and meaning by the better model, which has embedded all passages.
    Embedded,
}

impl Basis {
    /// All, in order.
    pub const ALL: [Basis; 5] = [Basis::Words, Basis::Meaning, Basis::Scores, Basis::OnDemand, Basis::Embedded];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Basis::Words => "words",
            Basis::Meaning => "meaning",
            Basis::Scores => "scores",
            Basis::OnDemand => "on_demand",
            Basis::Embedded => "embedded",
        }
    }

    fn models(self) -> &'static Models {
        match self {
            Basis::Words => &WORDS,
            Basis::Meaning => &MEANING,
            Basis::Scores => &SCORES,
            Basis::OnDemand => &ON_DEMAND,
            Basis::Embedded => &EMBEDDED,
        }
    }
}

/// The weights of one basis.
pub struct Models {
    /// Is there an answer? The bias, and one weight for each of [`LIST_FEATURES`].
    list: (f64, [f64; LIST_FEATURES.len()]),
    /// Which entry is it? One weight for each of [`ENTRY_FEATURES`], where words cover the query.
    covered: [f64; ENTRY_FEATURES.len()],
    /// The same where they do not.
    uncovered: [f64; ENTRY_FEATURES.len()],
    /// Together: the bias, and one weight for each of [`JOINT_FEATURES`].
    joint: (f64, [f64; JOINT_FEATURES.len()]),
}

/// The names of what the joint model reads, in the order of its weights: the logarithms of the probability that the list holds an answer
/// and of the entry's share of that, how far the share is below that of the best entry, the place, and the entropy of all shares.
pub const JOINT_FEATURES: [&str; 5] = ["answer", "share", "below_best", "place", "entropy"];

/// One piece of evidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EvidencePart {
    /// Its name, one of [`ENTRY_FEATURES`] or [`LIST_FEATURES`].
    pub name: &'static str,
    /// Its value, as the model reads it.
    pub value: f64,
    /// What it adds to the log odds: of an answer in the list, or of this entry among all.
    pub log_odds: f64,
}

/// The evidence on an entry or on a list, weighed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WeighedEvidence {
    /// The log odds that the entry answers the query, or that the list holds an answer.
    pub log_odds: f64,
    /// The evidence.
    pub parts: Vec<EvidencePart>,
}

impl WeighedEvidence {
    /// The probability that these log odds stand for, in (0, 1).
    pub fn probability(&self) -> f64 {
        probability(self.log_odds)
    }

    /// The same evidence with one more piece, in log odds. One that is not finite adds nothing.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: f64, log_odds: f64) -> Self {
        if log_odds.is_finite() {
            self.log_odds += log_odds;
            self.parts.push(EvidencePart { name, value, log_odds });
        }
        self
    }
}

/// The evidence on a list and on each of its entries.
#[derive(Clone, Debug, PartialEq)]
pub struct Relevance {
    /// Whether the list holds an answer.
    pub answer: WeighedEvidence,
    /// Each entry, in the order of the list.
    pub entries: Vec<WeighedEvidence>,
    /// How far words cover the query, 0 to 1: the share of the weights for covered queries.
    pub covered: f64,
    /// What one in the log odds of an answer adds to those of each entry, about.
    pub answer_weight: f64,
}

/// The least by which the log odds of an entry are below those of a better one.
const STEP: f64 = 1e-9;

/// The probability that stands for log odds.
pub fn probability(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds).exp())
}

/// Weighs the evidence on the entries of one list, which is in the order of its scores. O(entries).
///
/// ```
/// use tamis_rank::{Basis, EntryFeatures, QueryFeatures, TextKind, relevance};
///
/// let query = QueryFeatures { words: 4, passages: 2_000, ..QueryFeatures::default() };
/// let entry = |similarity, coverage, rank| EntryFeatures {
///     similarity,
///     similarity_max: similarity,
///     coverage,
///     coverage_max: coverage,
///     rank,
///     normalized_score: 1.0 / (1.0 + rank as f64),
///     text: TextKind { is_main: true, is_program: false },
///     characters: 600,
///     ..EntryFeatures::default()
/// };
/// let (near, far) = (entry(1.2, 0.9, 0), entry(0.3, 0.1, 1));
/// let weighed = relevance(&query, &[near, far], Basis::Scores);
/// assert!(weighed.entries[0].probability() > weighed.entries[1].probability());
/// let nothing = relevance(&query, &[far], Basis::Scores);
/// assert!(nothing.answer.probability() < weighed.answer.probability());
/// ```
pub fn relevance(query: &QueryFeatures, entries: &[EntryFeatures], basis: Basis) -> Relevance {
    let models = basis.models();
    let part = |name: &'static str, value: f64, weight: f64| {
        (value != 0.0 && weight != 0.0).then_some(EvidencePart { name, value, log_odds: weight * value })
    };
    let mut answer = WeighedEvidence { log_odds: models.list.0, parts: Vec::new() };
    for (at, value) in list_values(query, entries).into_iter().enumerate() {
        answer.parts.extend(part(LIST_FEATURES[at], value, models.list.1[at]));
    }
    answer.log_odds += answer.parts.iter().map(|part| part.log_odds).sum::<f64>();

    let covered = covered(entries);
    let weight = |at: usize| covered * models.covered[at] + (1.0 - covered) * models.uncovered[at];
    let mut weighed: Vec<WeighedEvidence> = Vec::with_capacity(entries.len());
    for values in entry_values(query, entries) {
        let parts: Vec<EvidencePart> = values
            .into_iter()
            .enumerate()
            .filter_map(|(at, value)| part(ENTRY_FEATURES[at], value, weight(at)))
            .collect();
        weighed.push(WeighedEvidence { log_odds: parts.iter().map(|part| part.log_odds).sum(), parts });
    }
    let values: Vec<f64> = weighed.iter().map(|one| one.log_odds).collect();
    for (one, read) in weighed.iter_mut().zip(joint_values(answer.log_odds, &values)) {
        one.log_odds =
            models.joint.0 + models.joint.1.iter().zip(read).map(|(weight, value)| weight * value).sum::<f64>();
    }
    // The order is the listwise model's: no entry is more likely than a better one.
    let mut most = f64::INFINITY;
    for at in best_first(&values) {
        weighed[at].log_odds = weighed[at].log_odds.min(most);
        most = weighed[at].log_odds - STEP;
    }
    // The slope of the logarithm of a probability by its log odds.
    let answer_weight = models.joint.1[0] * (1.0 - answer.probability());
    Relevance { answer, entries: weighed, covered, answer_weight }
}

/// The places of values, the greatest first.
fn best_first(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]).then(a.cmp(&b)));
    order
}

/// The values of [`JOINT_FEATURES`] for each entry, by the log odds of an answer and the values that the listwise model gave the entries.
pub fn joint_values(answer: f64, values: &[f64]) -> Vec<[f64; JOINT_FEATURES.len()]> {
    /// Log odds beyond this are as sure as these.
    const SUREST: f64 = 12.0;
    let best = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total = values.iter().map(|value| (value - best).exp()).sum::<f64>().ln() + best;
    let shares: Vec<f64> = values.iter().map(|value| value - total).collect();
    let entropy: f64 = -shares.iter().map(|share| share.exp() * share.max(-700.0)).sum::<f64>();
    let mut places = vec![0_usize; values.len()];
    best_first(values).into_iter().enumerate().for_each(|(place, at)| places[at] = place);
    let below = |at: usize| (values[at] - best).max(-2.0 * SUREST);
    let one = |at: usize| {
        [
            -(-answer.clamp(-SUREST, SUREST)).exp().ln_1p(),
            shares[at].max(-2.0 * SUREST),
            below(at),
            (places[at] as f64).ln_1p(),
            entropy,
        ]
    };
    (0..values.len()).map(one).collect()
}

// How judgements of a collection move the probability that a list holds an answer there.

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

    fn query() -> QueryFeatures {
        QueryFeatures { words: 5, passages: 3_000, ..QueryFeatures::default() }
    }

    fn entry(similarity: f64, coverage: f64, rank: usize) -> EntryFeatures {
        EntryFeatures {
            similarity,
            similarity_max: similarity,
            coverage,
            coverage_max: coverage,
            rank,
            normalized_score: 1.0 / (1.0 + rank as f64),
            text: TextKind { is_main: true, ..TextKind::default() },
            characters: 600,
            ..EntryFeatures::default()
        }
    }

    /// Ten entries that have little to do with the query.
    fn noise() -> Vec<EntryFeatures> {
        (1..11).map(|rank| entry(0.3, 0.15, rank)).collect()
    }

    #[test]
    fn more_evidence_is_more_probable_and_the_parts_of_an_answer_add_up() {
        for basis in Basis::ALL {
            let of = |similarity: f64, coverage: f64| {
                let first = EntryFeatures { on_demand: Some(similarity), ..entry(similarity, coverage, 0) };
                let weighed = relevance(&query(), &[vec![first], noise()].concat(), basis);
                let parts: f64 = weighed.answer.parts.iter().map(|part| part.log_odds).sum();
                assert!((weighed.answer.log_odds - parts - basis.models().list.0).abs() < 1e-9);
                weighed.entries[0].probability()
            };
            let (good, poor) = (of(1.5, 0.95), of(0.35, 0.2));
            assert!(good > poor + 0.1, "{basis:?}: {good} {poor}");
        }
    }

    #[test]
    fn names_that_nothing_holds_speak_against_an_answer() {
        let entries = [vec![entry(0.8, 0.5, 0)], noise()].concat();
        let missing = QueryFeatures { names: 1, missing_names: 1.0, missing_words: 0.2, ..query() };
        let held = QueryFeatures { names: 1, ..query() };
        let mut holding = entries.clone();
        holding[0].matches.names = 1.0;
        let probability = |query, entries| relevance(query, entries, Basis::Scores).answer.probability();
        assert!(probability(&missing, &entries) < probability(&held, &holding));
    }

    #[test]
    fn a_background_without_spread_does_not_hide_an_answer() {
        let entries = [vec![entry(1.0, 1.0, 0)], noise()].concat();
        let in_corpus = |deviation| {
            let query = QueryFeatures { words: 1, background: Some((0.0, deviation)), ..query() };
            relevance(&query, &entries, Basis::Scores).answer.probability()
        };
        assert_eq!(in_corpus(1.0 / 20.0), in_corpus(1.0 / 9.0));
        assert!(in_corpus(1.0 / 20.0) > 0.1, "{}", in_corpus(1.0 / 20.0));
    }

    #[test]
    fn the_better_model_moves_the_entry_that_is_near_in_meaning_up() {
        let mut entries: Vec<EntryFeatures> = (0..12).map(|rank| entry(0.7, 0.3, rank)).collect();
        for (at, entry) in entries.iter_mut().enumerate() {
            entry.on_demand = Some(if at == 7 { 1.2 } else { 0.2 + 0.02 * at as f64 });
        }
        let best = |basis| {
            let weighed = relevance(&query(), &entries, basis);
            (0..12).max_by(|&a, &b| weighed.entries[a].log_odds.total_cmp(&weighed.entries[b].log_odds))
        };
        assert_eq!((best(Basis::OnDemand), best(Basis::Scores)), (Some(7), Some(0)));
    }

    #[test]
    fn one_more_piece_of_evidence_adds_its_log_odds() {
        let weighed = relevance(&query(), &[entry(1.0, 0.5, 0)], Basis::Scores).entries.remove(0);
        let more = weighed.clone().with("reranker", 0.9, 2.0);
        assert!((more.log_odds - weighed.log_odds - 2.0).abs() < 1e-12);
        assert_eq!(weighed.clone().with("reranker", 0.9, f64::NAN), weighed);
    }

    #[test]
    fn shares_sum_to_one_and_the_best_is_in_the_first_place() {
        let values = joint_values(1.0, &[0.5, 2.0, 2.0]);
        let shares: f64 = values.iter().map(|values| values[1].exp()).sum();
        assert!((shares - 1.0).abs() < 1e-12);
        let places: Vec<f64> = values.iter().map(|values| (values[3].exp() - 1.0).round()).collect();
        assert_eq!(places, [2.0, 0.0, 1.0]);
        assert!(joint_values(1.0, &[]).is_empty());
    }

    fn searches(log_odds: f64, labels: &[bool], times: usize) -> Vec<Vec<JudgedEntry>> {
        vec![labels.iter().map(|&relevant| (log_odds, Some(relevant))).collect(); times]
    }

    #[test]
    fn labels_move_little_many_no_further_than_the_bound_and_some_nothing_at_all() {
        let few = Shift::fit(&searches(1.0, &[true, false, false], 1));
        let many = Shift::fit(&searches(1.0, &[true, false, false], 500));
        assert!(few.log_odds() < 0.0 && few.log_odds() > -0.1, "{few:?}");
        assert_eq!((many.log_odds(), many.labels()), (-MOST, 1500));
        assert_eq!(Shift::fit(&searches(-1.0, &[true, true, false], 500)).log_odds(), MOST);
        let agree = Shift::fit(&searches(0.0, &[true, false], 50));
        assert!(agree.log_odds().abs() < 1e-9 && agree.labels() == 100);
        assert_eq!(Shift::fit(&searches(0.0, &[true, true], 50)), Shift::NONE);
        let mut part = searches(0.0, &[true, false], 10);
        part.extend(vec![vec![(0.0, Some(true)), (0.0, None)]; 10]);
        assert_eq!([Shift::fit(&part), Shift::fit::<Vec<JudgedEntry>>(&[])], [Shift::NONE, Shift::NONE]);
    }

    proptest! {
        #[test]
        fn any_evidence_has_a_probability(
            similarity in prop::num::f64::ANY, coverage in prop::num::f64::ANY, on_demand in prop::option::of(prop::num::f64::ANY),
            words in 0usize..1_000_000, score in prop::num::f64::ANY, passages in 0u64..u64::MAX, missing in prop::num::f64::ANY,
            background in prop::option::of((prop::num::f64::ANY, prop::num::f64::ANY)),
        ) {
            let query = QueryFeatures {
                words, missing_words: missing, names: 2, missing_names: missing, passages, reads_required: true, background,
            };
            let entry = EntryFeatures {
                similarity, similarity_max: similarity, coverage, coverage_max: coverage, on_demand, normalized_score: score,
                ..EntryFeatures::default()
            };
            for basis in Basis::ALL {
                let weighed = relevance(&query, &[entry, EntryFeatures::default()], basis);
                for weighed in weighed.entries.iter().chain([&weighed.answer]) {
                    prop_assert!((0.0..=1.0).contains(&weighed.probability()));
                }
            }
        }

        #[test]
        fn any_labels_keep_the_bounds(
            entries in prop::collection::vec((prop::num::f64::ANY, prop::option::of(prop::bool::ANY)), 0..30)
        ) {
            let shift = Shift::fit(&[entries]);
            prop_assert!((-MOST..=MOST).contains(&shift.log_odds()));
        }
    }
}
