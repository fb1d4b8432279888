//! Cuts a ranked list of any search engine where relevance ends: one call for a list of scores, or of similarities and BM25.
//!
//! [`ListCutter`] reads the entries ([`ListEntry`]), puts them on the scale of the method (`candidates`), lets the gate and the rule
//! of a search decide, and returns which are kept. Entries can belong to groups, which count once. A sample of random results
//! shows if the best score stands out. Nothing of an index is read.

mod candidates;

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamis_cut::{Background, Cut, Evidence, Fixed, Gate, Orientation, Pool, PoolError, Rule, Value, Want};
use thiserror::Error;

use crate::search::{Aim, CutReport, TunedRule};
use candidates::Candidates;

/// Default share of the similarity where it is fused with BM25: that of the built-in model `static`.
pub const FUSION_WEIGHT: f64 = 0.6;

/// The figures of one entry of a list, all finite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListEntry {
    /// The single score. Without one, an entry has the score of at least one retriever.
    pub score: Option<f64>,
    /// The semantic retriever's score.
    pub similarity: Option<f64>,
    /// The lexical retriever's score.
    pub bm25: Option<f64>,
    /// Share of the query's weight that the entry matches, 0 to 1.
    pub coverage: Option<f64>,
    /// Length of the entry in tokens.
    pub tokens: Option<usize>,
}

/// The reading of a list's figures.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// The good end of a single score: high or low.
    pub orientation: Orientation,
    /// True if entries with a score may come in any order.
    pub sort: bool,
    /// Share of the similarity in entries without a score, 0 to 1.
    pub weight: f64,
}

impl Default for Reading {
    fn default() -> Self {
        Reading { orientation: Orientation::Score, sort: false, weight: 0.5 }
    }
}

/// The source of the background.
#[derive(Clone, Copy, Debug, Default)]
pub enum Reference<'a> {
    /// No background.
    #[default]
    None,
    /// The mean of irrelevant results, on the scale of the values.
    Mean(f64),
    /// Results drawn at random.
    Sample(&'a [&'a ListEntry]),
    /// The scores of results drawn at random, as [`sample_background`] measures them. For entries with a score.
    Scores(Background),
}

/// A cut for lists.
///
/// ```
/// use tamis_cut::{Want, parse};
/// use tamis::lists::{ListCutter, ListEntry};
/// use tamis::search::{Aim, TunedRule};
///
/// let rule = TunedRule::new(parse("auto")?.as_ref(), Want::Auto, &Aim::default())?;
/// let entries = [0.91, 0.90, 0.2, 0.19, 0.18].map(|score| ListEntry { score: Some(score), ..ListEntry::default() });
/// let cut = ListCutter::new(&rule).cut(&entries.iter().collect::<Vec<_>>())?;
/// assert_eq!(cut.report.keep, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ListCutter<'a> {
    /// The rule that decides.
    pub rule: &'a TunedRule,
    /// The reading of the figures.
    pub reading: Reading,
    /// The background.
    pub reference: Reference<'a>,
    /// True to ask the gate first, for a rule that works with probabilities.
    pub gate: bool,
}

/// A decided list as the rule left it: the positions of its candidates with their values.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DecidedList {
    /// The cut.
    pub cut: Cut,
    /// The value of each candidate on the scale of the method, best first.
    pub values: Vec<f64>,
    /// The position of each candidate in the list, where that is not its rank.
    order: Option<Vec<usize>>,
}

impl DecidedList {
    /// The positions of the candidates in the list, from 0; best first.
    pub fn positions(&self) -> impl Iterator<Item = usize> {
        (0..self.values.len())
            .filter_map(|rank| self.order.as_ref().map_or(Some(rank), |order| order.get(rank).copied()))
    }
}

/// A decided list.
#[derive(Clone, Debug)]
pub struct ListCut {
    /// The cut.
    pub report: CutReport,
    /// The probability that each candidate is relevant, best first, where the method estimates them.
    pub probabilities: Vec<f64>,
    /// The candidates, best first.
    pub ranked: Vec<RankedEntry>,
}

/// A candidate of a decided list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankedEntry {
    /// Its position in the list, from 0.
    pub position: usize,
    /// The value on the scale of the method.
    pub value: f64,
    /// True if the cut keeps it.
    pub kept: bool,
}

/// A decided list in the form that a search's answer has its cut, with the lines of the list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ListReport {
    /// The cut.
    #[serde(flatten)]
    pub cut: CutReport,
    /// The probability that each candidate is relevant, best first, where the method estimates them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub probabilities: Vec<f64>,
    /// The candidates, best first.
    pub lines: Vec<LineReport>,
}

/// A line of a decided list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LineReport {
    /// Number of the line in the input, from 1.
    pub line: usize,
    /// The value on the scale of the method.
    pub value: f64,
    /// True if the cut keeps it.
    pub kept: bool,
}

impl<'a> ListCutter<'a> {
    /// A cutter with this rule and the usual settings.
    pub fn new(rule: &'a TunedRule) -> Self {
        ListCutter { rule, reading: Reading::default(), reference: Reference::None, gate: true }
    }

    /// Decides a list.
    ///
    /// # Errors
    /// Scores that are not best first, figures that only some entries have, or figures that the method needs and no entry has.
    pub fn cut(&self, entries: &[&ListEntry]) -> Result<ListCut, ListError> {
        self.decided(entries).map(ListCut::from)
    }

    /// Decides a list of scores, as [`ListCutter::cut`] decides entries that have nothing else. Scores that are not finite are left
    /// out and counted. `tokens` are the lengths of the entries, as many as scores.
    ///
    /// # Errors
    /// As [`ListCutter::cut`].
    pub fn cut_scores(
        &self,
        scores: impl IntoIterator<Item = f64>,
        tokens: Option<&[usize]>,
    ) -> Result<DecidedList, ListError> {
        let rule = self.rule.rule();
        if rule.reads_sizes() && tokens.is_none() {
            return Err(ListError::NoLength { position: 0 });
        }
        Ok(self.finished(Candidates::of_scores(scores, tokens, &self.reference, self.reading)?))
    }

    /// Decides a list, without the form of a report.
    ///
    /// # Errors
    /// As [`ListCutter::cut`].
    pub fn decided(&self, entries: &[&ListEntry]) -> Result<DecidedList, ListError> {
        let rule = self.rule.rule();
        if rule.reads_sizes()
            && let Some(position) = entries.iter().position(|entry| entry.tokens.is_none())
        {
            return Err(ListError::NoLength { position });
        }
        Ok(self.finished(Candidates::new(entries, &self.reference, rule, self.reading)?))
    }

    fn finished(&self, candidates: Candidates) -> DecidedList {
        let cut = self.decide(&candidates);
        let Candidates { pool, order, ranked, .. } = candidates;
        DecidedList { cut, values: ranked.unwrap_or_else(|| pool.into_values()), order }
    }

    /// Decides: for `auto` the gate first, then the rule.
    fn decide(&self, candidates: &Candidates) -> Cut {
        let Candidates { pool, evidence, values, .. } = candidates;
        let rule = self.rule.rule();
        let asks = rule.reads_relevance() && self.gate;
        let mut cut = match &candidates.standing {
            _ if !asks => rule.cut(pool),
            Some(standing) if !pool.is_empty() => standing.cut(rule, pool),
            _ => Gate::default().cut(evidence, rule, pool),
        };
        cut.diagnostics.insert("values".into(), Value::Text(values.clone()));
        if asks && !cut.gated && !pool.is_empty() {
            // A gate without evidence stays open because it knows nothing.
            let known = cut.diagnostics.contains_key("gate_evidence");
            cut.diagnostics
                .insert("gate".into(), Value::from(if known { "open" } else { "not asked: there is no evidence" }));
        }
        if let Some(note) = self.rule.note(&cut.method) {
            cut.reason = format!("{}; {note}", cut.reason);
            cut.diagnostics.insert("want".into(), Value::from(self.rule.want().name()));
        }
        cut
    }
}

impl From<DecidedList> for ListCut {
    fn from(decided: DecidedList) -> Self {
        let places = decided.positions().zip(&decided.values).enumerate();
        let entry = |(rank, (position, &value))| RankedEntry { position, value, kept: decided.cut.keeps(rank) };
        let ranked = places.map(entry).collect();
        ListCut { probabilities: decided.cut.probabilities.clone(), ranked, report: decided.cut.into() }
    }
}

impl ListCut {
    /// The report, in which `number` gives the line of a position.
    pub fn into_report(self, number: impl Fn(usize) -> usize) -> ListReport {
        let line =
            |entry: RankedEntry| LineReport { line: number(entry.position), value: entry.value, kept: entry.kept };
        ListReport {
            cut: self.report,
            probabilities: self.probabilities,
            lines: self.ranked.into_iter().map(line).collect(),
        }
    }
}

// The errors of a list that cannot be cut. Positions count from 0.

/// A list that cannot be cut.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ListError {
    /// Some entries have a score and some do not.
    #[error(
        "entry {}: no score, which entry {} has; give it to all entries or to none", without + 1, with + 1
    )]
    Mixed {
        /// The first entry without one.
        without: usize,
        /// The first entry with one.
        with: usize,
    },
    /// Scores that are not best first.
    #[error(
        "entry {}: {value} is better than {previous} before it ({} is better); give the entries best first, or set sort",
        position + 1, better(*orientation)
    )]
    Unsorted {
        /// The entry that is too good for its place.
        position: usize,
        /// Its score.
        value: f64,
        /// The score before it.
        previous: f64,
        /// The good end of the scores.
        orientation: Orientation,
    },
    /// A method that reads similarities, of which there are none.
    #[error("method {method}: it needs a similarity, and no entry has one")]
    NoSimilarity {
        /// The method.
        method: String,
    },
    /// A budget for entries of unknown length.
    #[error("entry {}: a budget needs the number tokens or the text to count them in", position + 1)]
    NoLength {
        /// The first such entry.
        position: usize,
    },
    /// A sample that does not fit the entries.
    #[error("background_sample: {0}")]
    Sample(String),
    /// A figure that no cut can read.
    #[error(transparent)]
    Pool(#[from] PoolError),
}

/// The word for the good end of scores.
pub(crate) fn better(orientation: Orientation) -> &'static str {
    match orientation {
        Orientation::Score => "higher",
        Orientation::Distance => "lower",
    }
}

// Lists whose entries belong to groups, such as the passages of a document. A group counts once, by its best entry.

/// A decided list of groups.
#[derive(Clone, Debug)]
pub struct GroupedList {
    /// The decided groups; a candidate is a group.
    pub decided: DecidedList,
    /// The entries of each candidate as positions in the list, best first; in the order of the decided candidates.
    pub members: Vec<Vec<usize>>,
}

impl ListCutter<'_> {
    /// Decides groups by the best entry of each. `groups` has the group of each entry; an entry of none is a group by itself.
    ///
    /// # Errors
    /// As [`ListCutter::cut`].
    pub fn cut_groups(&self, entries: &[&ListEntry], groups: &[Option<usize>]) -> Result<GroupedList, ListError> {
        // The cut of everything orders the entries, on the scale of its method.
        let everything = TunedRule::new(&Fixed { k: 1_000_000 }, Want::Auto, &Aim::default()).ok();
        let rule = match &everything {
            Some(everything) if entries.iter().all(|entry| entry.score.is_some()) => everything,
            _ => self.rule,
        };
        let order = ListCutter { rule, gate: false, ..*self }.decided(entries)?;
        let mut members: Vec<Vec<usize>> = Vec::new();
        let mut known: HashMap<usize, usize> = HashMap::new();
        for position in order.positions() {
            let next = members.len();
            let at = match groups.get(position).copied().flatten() {
                Some(group) => *known.entry(group).or_insert(next),
                None => next,
            };
            match members.get_mut(at) {
                Some(members) => members.push(position),
                None => members.push(vec![position]),
            }
        }
        let best: Vec<&ListEntry> = members.iter().map(|members| entries[members[0]]).collect();
        let decided = self.decided(&best)?;
        let members = decided.positions().map(|at| std::mem::take(&mut members[at])).collect();
        Ok(GroupedList { decided, members })
    }
}

// A sample of random results: its distribution, and how far the best score stands out from it.

/// Fewer random results than this say nothing about their spread.
pub const FEWEST_FOR_DEVIATION: usize = 20;

/// Mean, standard deviation and number of the scores of results drawn at random; `None` without a score. Scores that are not finite
/// are left out.
///
/// ```
/// let background = tamis::lists::sample_background([0.1, 0.3]).expect("two scores");
/// assert!((background.mean - 0.2).abs() < 1e-12 && (background.deviation - 0.1).abs() < 1e-12);
/// assert_eq!(background.count, 2);
/// ```
pub fn sample_background(scores: impl IntoIterator<Item = f64, IntoIter: Clone>) -> Option<Background> {
    let scores = scores.into_iter().filter(|score| score.is_finite());
    let count = scores.clone().count();
    let mean = scores.clone().sum::<f64>() / count as f64;
    let deviation = (scores.map(|score| (score - mean).powi(2)).sum::<f64>() / count as f64).sqrt();
    (count > 0).then_some(Background { mean, deviation, count })
}

/// How far the best score of a list stands out from a sample of random results. It is the gate's evidence for scores on a scale of
/// their own: the distance from the sample's mean, against what the gate requires of a similarity on its scale.
#[derive(Debug)]
pub(crate) struct Standing {
    evidence: Evidence,
}

impl Standing {
    /// The standing of the best candidate; `None` if the sample is too small or has no spread to compare with.
    pub(crate) fn new(pool: &Pool, sample: &Background) -> Option<Standing> {
        if sample.count < FEWEST_FOR_DEVIATION || sample.deviation <= 0.0 {
            return None;
        }
        let best = match pool.orientation() {
            tamis_cut::Orientation::Score => pool.best()? - sample.mean,
            tamis_cut::Orientation::Distance => sample.mean - pool.best()?,
        };
        let background = Some(Background { mean: 0.0, ..*sample });
        Some(Standing { evidence: Evidence { best_similarity: Some(best), background, ..Evidence::default() } })
    }

    /// The cut that keeps nothing if the best score does not stand out; otherwise the rule's, with the gate's figures.
    pub(crate) fn cut(&self, rule: &dyn Rule, pool: &Pool) -> Cut {
        let mut verdict = Gate::default().judge(&self.evidence);
        let ours = |name: &str| matches!(name, "evidence" | "needed");
        verdict.diagnostics.retain(|name, _| ours(name));
        if verdict.empty {
            verdict.reason = "nothing stands out from the sample of random results".to_owned();
            return verdict.into_cut(pool);
        }
        verdict.note_in(rule.cut(pool))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamis_cut::{Orientation, Want, parse};

    #[test]
    fn a_group_counts_once_by_its_best_entry() {
        let rule = TunedRule::new(parse("fixed:k=2").expect("a method").as_ref(), Want::Auto, &Aim::default());
        let rule = rule.expect("no aim");
        let entries = [0.9, 0.8, 0.7, 0.6].map(|score| ListEntry { score: Some(score), ..ListEntry::default() });
        let entries: Vec<&ListEntry> = entries.iter().collect();
        let grouped = ListCutter::new(&rule).cut_groups(&entries, &[Some(7), None, Some(7), None]).expect("decided");
        assert_eq!(grouped.members, [vec![0, 2], vec![1], vec![3]]);
        assert_eq!((grouped.decided.cut.keep, grouped.decided.cut.candidates), (2, 3));
        assert_eq!(grouped.decided.values, [0.9, 0.8, 0.6]);
    }

    /// Twenty-one scores around `mean`, from `mean - 1` to `mean + 1`.
    fn sample(mean: f64) -> Background {
        sample_background((0..21).map(move |at| mean + f64::from(at - 10) / 10.0)).expect("scores")
    }

    fn cut(scores: &[f64], sample: Background, orientation: Orientation) -> DecidedList {
        let rule = TunedRule::new(parse("auto").expect("a method").as_ref(), Want::Auto, &Aim::default()).expect("fit");
        let reading = Reading { orientation, ..Reading::default() };
        let cutter = ListCutter { reading, reference: Reference::Scores(sample), ..ListCutter::new(&rule) };
        cutter.cut_scores(scores.iter().copied(), None).expect("decided")
    }

    #[test]
    fn a_sample_decides_where_it_has_enough_spread() {
        // The deviation is 0.61, so the best must be 3.375 of it, or 2.04, above the mean.
        for (shift, orientation, sign) in
            [(0.0, Orientation::Score, 1.0), (500.0, Orientation::Score, 1.0), (500.0, Orientation::Distance, -1.0)]
        {
            let list = |best: f64| [best, 0.5, 0.4, 0.3].map(|score| shift + sign * score);
            let foreign = cut(&list(2.0), sample(shift), orientation);
            assert_eq!((foreign.cut.keep, foreign.cut.method.as_str()), (0, "gate"), "{shift}");
            assert_eq!(foreign.cut.reason, "nothing stands out from the sample of random results");
            let found = cut(&list(2.1), sample(shift), orientation);
            assert_eq!((found.cut.keep, found.cut.method.as_str()), (1, "auto"), "{shift}: {:?}", found.cut);
            assert_eq!(found.cut.diagnostics["gate"].as_text(), Some("open"));
        }

        let few = Background { count: FEWEST_FOR_DEVIATION - 1, ..sample(0.0) };
        let flat = Background { deviation: 0.0, ..sample(0.0) };
        for sample in [few, flat] {
            let decided = cut(&[0.5, 0.4], sample, Orientation::Score);
            assert!(decided.cut.keep > 0, "{:?}", decided.cut);
            assert_eq!(decided.cut.diagnostics["gate"].as_text(), Some("not asked: there is no evidence"));
        }
        assert_eq!(sample_background([f64::NAN]), None);
    }
}
