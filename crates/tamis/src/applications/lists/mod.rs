//! Cuts a ranked list of any search engine where relevance ends: one call for a list of scores, or of similarities and BM25.
//!
//! [`ListCutter`] reads the entries ([`ListEntry`]), puts them on the scale of the method (`candidates`), lets the gate and the rule
//! of a search decide, and returns which are kept. Entries can belong to `groups`, which count once. A `sample` of random results
//! shows if the best score stands out. Nothing of an index is read.

mod candidates;
mod error;
mod groups;
mod sample;

pub use error::ListError;
pub use groups::GroupedList;
pub use sample::{FEWEST_FOR_DEVIATION, sample_background};

use crate::search::{CutReport, TunedRule};
use candidates::Candidates;
use schemars::JsonSchema;
use serde::Serialize;
use tamis_cut::{Background, Cut, Gate, Orientation, Value};

/// Default share of the similarity where it is fused with BM25: that of the built-in model `static`.
pub const FUSION_WEIGHT: f64 = 0.6;

/// The figures of one entry of a list, all finite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListEntry {
    /// The single score. Without one, an entry has the score of at least one leg.
    pub score: Option<f64>,
    /// The semantic leg's score.
    pub similarity: Option<f64>,
    /// The lexical leg's score.
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
#[derive(Clone, Debug)]
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
        (0..self.values.len()).map(|rank| self.order.as_ref().map_or(rank, |order| order[rank]))
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
        Ok(self.finished(Candidates::of(entries, &self.reference, rule, self.reading)?))
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
