//! Replays recorded searches with other cuts, and compares the cuts.
//!
//! A replay reads the recorded candidates and decides with the present fusion and gate, by the probabilities that the search
//! recorded. Some things were not recorded: the lengths of passages
//! (so a token budget cannot be replayed), the threshold of each candidate's language, the effect of language and age
//! under another cut (their effect on the recorded score is carried over as a factor), and anything that a deeper pool
//! or another model would have found.

use std::collections::{BTreeMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamis_cut::{Gate, Rule};
use tamis_embed::ModelInfo;
use tamis_rank::Fusion;
use tamis_store::RecordedSearch;

use super::stats::{StatsRequest, ascending, mean, moment, percentile};
use super::{Statistics, Verdicts};
use crate::config::Mode;
use crate::handle::Index;
use crate::search::{Configured, Context, ReplayGrounds, TunedRule, replacement, replayed};
use crate::{Error, models};

/// The default number of searches replayed, latest first.
pub const REPLAYED: usize = 2_000;

/// The name of the cut made at the time.
const RECORDED: &str = "recorded";

/// The searches to replay, and the cuts to try.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ReplayRequest {
    /// Cuts to try, each as METHOD[:PARAM=VALUE,…]; parameters that are not given come from the configuration.
    #[schemars(length(min = 1, max = 6), inner(length(min = 1, max = 1000)), extend("x-whole" = true))]
    pub cuts: Vec<String>,
    /// The searches, by period and namespace.
    #[serde(flatten)]
    pub searches: StatsRequest,
    /// Most searches replayed, latest first.
    #[schemars(range(min = 1, max = 2000))]
    #[serde(default = "most")]
    pub limit: usize,
}

fn most() -> usize {
    REPLAYED
}

impl ReplayRequest {
    /// Creates a request for the last [`REPLAYED`] searches with these cuts.
    pub fn new(cuts: Vec<String>) -> Self {
        ReplayRequest { cuts, searches: StatsRequest::default(), limit: REPLAYED }
    }
}

/// A cut to replay.
struct Named {
    name: String,
    rule: Box<dyn Rule>,
}

impl Statistics<'_> {
    /// Decides recorded searches again with each of the cuts, by the gate and the rules of a search, and compares the
    /// candidates kept with those kept at the time and with each other. Nothing is searched and nothing is recorded.
    ///
    /// # Errors
    /// An unknown cut, a cut that needs unrecorded data, no cut at all, or a log that cannot be read.
    pub fn replay(&self, request: &ReplayRequest) -> Result<Replay, Error> {
        let cuts = self.cuts_by_name(&request.cuts)?;
        let log = self.index.usage.log()?;
        let (since, until) = request.searches.period_ms();
        let ids = log.search_ids(since, until, request.limit)?;
        let names = std::iter::once(RECORDED.to_owned()).chain(cuts.iter().map(|cut| cut.name.clone())).collect();
        let mut compared = Compared::new(names);
        let grounds = Grounds { index: self.index, built_in: models::built_in() };
        let mut unreadable = 0;
        for id in ids {
            // Another process may have deleted it. One damaged record does not prevent a replay.
            let Ok(Some(search)) = log.search(&id) else {
                unreadable += 1;
                continue;
            };
            if request.searches.namespace.as_ref().is_some_and(|namespace| search.namespace != *namespace) {
                continue;
            }
            let judgements = log.judgements(&id)?;
            let mut outcomes = vec![Outcome::new((0..search.kept as usize).collect(), &search.method)];
            for cut in &cuts {
                outcomes.push(grounds.outcome(&search, cut.rule.as_ref())?);
            }
            compared.add(&search, &Verdicts::new(&search, &judgements), outcomes);
        }
        let tables =
            |cut: &Named| self.index.config.source_tables(cut.rule.as_ref()).is_ok_and(|tables| !tables.is_empty());
        let notes = notes(&cuts, cuts.iter().any(tables), unreadable);
        Ok(compared.finish(unreadable, notes))
    }

    /// Parses the cuts as a search would.
    fn cuts_by_name(&self, specifications: &[String]) -> Result<Vec<Named>, Error> {
        if specifications.is_empty() {
            return Err(Error::argument("replay", "\"\"", "one cut or several, such as max_gap,auto"));
        }
        let named = |specification: &String| {
            let refused = |reason: String| Error::argument("replay", format!("{specification:?}"), reason);
            let rule = self.index.config.cut(specification).map_err(|error| refused(format!("a cut: {error}")))?;
            let asked = TunedRule::new(rule.as_ref(), self.index.config.search.want, &Default::default())?;
            if asked.rule().reads_sizes() {
                return Err(refused("without a budget of tokens: how long passages were is not recorded".into()));
            }
            Ok(Named { name: specification.clone(), rule: asked.rule().boxed() })
        };
        specifications.iter().map(named).collect()
    }
}

fn notes(cuts: &[Named], tables: bool, unreadable: u64) -> Vec<String> {
    let mut notes = Vec::new();
    if cuts.iter().any(|cut| cut.rule.reads_relevance()) {
        notes.push("auto decides by the recorded probabilities, which no judgement has moved".to_owned());
    }
    if cuts.iter().any(|cut| cut.rule.reads_thresholds()) {
        notes.push(
            "the thresholds of languages are not recorded: language is replayed with its default alone".to_owned(),
        );
    }
    if tables {
        notes.push("what collection a passage is of is not recorded: top_score is replayed with one table".to_owned());
    }
    if unreadable > 0 {
        notes.push(format!("{unreadable} searches were left out: their records cannot be read"));
    }
    notes
}

/// The inputs of decisions, computed once for searches that share them.
struct Grounds<'a> {
    index: &'a Index,
    built_in: Vec<ModelInfo>,
}

impl Grounds<'_> {
    /// The candidates of a search that a rule keeps.
    fn outcome(&self, search: &RecordedSearch, rule: &dyn Rule) -> Result<Outcome, Error> {
        let index = self.index;
        let mode: Mode = search.mode.parse()?;
        // Without vectors a rule that reads similarities is replaced, as in a search.
        let replacement = replacement(&Context::unobserved(index), rule, mode)?;
        let rule = replacement.as_deref().unwrap_or(rule);

        let model = self.built_in.iter().find(|model| search.model.as_ref() == Some(&model.id));
        let own = model.map_or(0.5, |model| f64::from(model.fusion_weight));
        let settings = &index.config.search;
        let weight = settings.fusion_weight.unwrap_or(own);
        let fusion = Fusion::from_name(&settings.fusion, weight)
            .map_err(|error| Error::argument("search.fusion", &settings.fusion, error.to_string()))?;
        let reference = model.and_then(models::reference);
        let configured = Configured { fusion, weight };
        let gate = settings.gate.then(Gate::default);
        let decided = replayed(search, rule, &ReplayGrounds { gate: gate.as_ref(), configured, reference })?;
        Ok(Outcome::new(decided.kept, &decided.method))
    }
}

// Compares cuts on the same searches: the candidates that each keeps, their disagreement, and their quality on judged
// searches.

/// A comparison of cuts on recorded searches. The first cut, `recorded`, is what each search kept at the time.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Replay {
    /// The number of searches replayed.
    pub searches: u64,
    /// The number of replayed searches with a judgement.
    pub judged: u64,
    /// The number of searches left out because their record cannot be read.
    pub unreadable: u64,
    /// The times of the first and the last replayed search, UTC.
    pub period: Option<(String, String)>,
    /// Figures of each cut, in the requested order.
    pub cuts: Vec<CutSummary>,
    /// Comparisons of each pair of cuts.
    pub comparisons: Vec<Comparison>,
    /// The searches on which the last two cuts differ most.
    pub examples: Vec<Example>,
    /// Notes for readers of these figures.
    pub notes: Vec<String>,
}

/// The number of example searches.
const EXAMPLES: usize = 5;

/// The candidates of one search that a cut kept, as positions in the record.
pub(crate) struct Outcome {
    kept: Vec<usize>,
    method: String,
}

impl Outcome {
    pub fn new(kept: Vec<usize>, method: &str) -> Self {
        Outcome { kept, method: method.to_owned() }
    }
}

/// The figures of one cut.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct CutSummary {
    /// The cut as it was given; `recorded`: what was kept at the time.
    pub cut: String,
    /// Mean number of candidates kept.
    pub kept_mean: f64,
    /// Median number of candidates kept.
    pub kept_p50: f64,
    /// 90th percentile of the number of candidates kept.
    pub kept_p90: f64,
    /// The number of searches that keep nothing.
    pub empty: u64,
    /// The share of searches that keep nothing, in [0, 1].
    pub empty_rate: f64,
    /// The number of decisions by each method, the gate included.
    pub methods: BTreeMap<String, u64>,
    /// Precision: the mean share of relevant passages among the judged ones kept, over searches that keep a judged
    /// passage.
    pub precision: Option<f64>,
    /// Recall: the mean share of relevant passages kept, over searches with a relevant passage.
    pub recall: Option<f64>,
}

/// The differences between two cuts.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Comparison {
    /// The first cut.
    pub a: String,
    /// The second cut.
    pub b: String,
    /// The number of searches in which they keep different candidates.
    pub differ: u64,
    /// The share of such searches, in [0, 1].
    pub differ_rate: f64,
    /// Mean Jaccard overlap of the candidates kept, in [0, 1]: those kept by both over those kept by either; 1 if
    /// neither keeps any.
    pub overlap: f64,
    /// The number of searches in which only `a` keeps something.
    pub only_a_answers: u64,
    /// The number of searches in which only `b` keeps something.
    pub only_b_answers: u64,
}

/// A search on which two cuts differ.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Example {
    /// The identifier of the search.
    pub search_id: String,
    /// The time of the search, UTC.
    pub at: String,
    /// The query text, if it was recorded.
    pub text: Option<String>,
    /// The number of candidates kept by each cut, in the order of the cuts.
    pub kept: Vec<u64>,
    /// Overlap of the candidates kept by the last two cuts, in [0, 1].
    pub overlap: f64,
}

/// Outcomes collected search by search.
#[derive(Default)]
pub(crate) struct Compared {
    cuts: Vec<Tally>,
    pairs: Vec<(usize, usize, Pair)>,
    examples: Vec<Example>,
    searches: u64,
    judged: u64,
    first_ms: Option<i64>,
    last_ms: Option<i64>,
}

#[derive(Default)]
struct Tally {
    name: String,
    kept: Vec<f64>,
    methods: BTreeMap<String, u64>,
    precision: Vec<f64>,
    recall: Vec<f64>,
}

#[derive(Default)]
struct Pair {
    differ: u64,
    overlaps: Vec<f64>,
    only_a: u64,
    only_b: u64,
}

impl Compared {
    /// Creates an empty comparison of cuts with these names.
    pub fn new(names: Vec<String>) -> Self {
        let pairs = (0..names.len()).flat_map(|a| (a + 1..names.len()).map(move |b| (a, b, Pair::default())));
        Compared {
            pairs: pairs.collect(),
            cuts: names.into_iter().map(|name| Tally { name, ..Tally::default() }).collect(),
            ..Self::default()
        }
    }

    /// Adds one search, with the outcome of each cut in order.
    pub fn add(&mut self, search: &RecordedSearch, verdicts: &Verdicts, outcomes: Vec<Outcome>) {
        self.searches += 1;
        self.first_ms = Some(self.first_ms.map_or(search.at_ms, |first| first.min(search.at_ms)));
        self.last_ms = Some(self.last_ms.map_or(search.at_ms, |last| last.max(search.at_ms)));
        self.judged += u64::from(verdicts.exist());
        for (tally, outcome) in self.cuts.iter_mut().zip(&outcomes) {
            tally.add(outcome, verdicts);
        }
        let sets: Vec<HashSet<usize>> = outcomes.iter().map(|outcome| outcome.kept.iter().copied().collect()).collect();
        let mut last = None;
        for (a, b, pair) in &mut self.pairs {
            if let (Some(one), Some(other)) = (sets.get(*a), sets.get(*b)) {
                last = Some(pair.add(one, other));
            }
        }
        if let Some(overlap) = last.filter(|&overlap| overlap < 1.0) {
            self.examples.push(Example {
                search_id: search.id.clone(),
                at: moment(search.at_ms).to_string(),
                text: search.query_text.clone(),
                kept: sets.iter().map(|set| set.len() as u64).collect(),
                overlap,
            });
            // Among equal ones the latest stay.
            self.examples.sort_by(|x, y| x.overlap.total_cmp(&y.overlap).then_with(|| y.at.cmp(&x.at)));
            self.examples.truncate(EXAMPLES);
        }
    }

    /// Computes the figures.
    pub fn finish(self, unreadable: u64, notes: Vec<String>) -> Replay {
        let name = |at: usize| self.cuts.get(at).map(|tally| tally.name.clone()).unwrap_or_default();
        let comparison = |(a, b, pair): &(usize, usize, Pair)| Comparison {
            a: name(*a),
            b: name(*b),
            differ: pair.differ,
            differ_rate: share(pair.differ, self.searches),
            overlap: mean(pair.overlaps.iter().copied()).unwrap_or(1.0),
            only_a_answers: pair.only_a,
            only_b_answers: pair.only_b,
        };
        Replay {
            searches: self.searches,
            judged: self.judged,
            unreadable,
            period: self.first_ms.zip(self.last_ms).map(|(a, b)| (moment(a).to_string(), moment(b).to_string())),
            comparisons: self.pairs.iter().map(comparison).collect(),
            cuts: self.cuts.iter().map(Tally::summary).collect(),
            examples: self.examples,
            notes,
        }
    }
}

impl Tally {
    fn add(&mut self, outcome: &Outcome, verdicts: &Verdicts) {
        self.kept.push(outcome.kept.len() as f64);
        *self.methods.entry(outcome.method.clone()).or_default() += 1;
        let counts = verdicts.counts(outcome.kept.iter().copied());
        self.precision.extend(counts.precision());
        self.recall.extend(counts.recall());
    }

    fn summary(&self) -> CutSummary {
        let kept = ascending(self.kept.iter().copied());
        let empty = kept.iter().filter(|&&kept| kept == 0.0).count() as u64;
        CutSummary {
            cut: self.name.clone(),
            kept_mean: mean(kept.iter().copied()).unwrap_or_default(),
            kept_p50: percentile(&kept, 0.5).unwrap_or_default(),
            kept_p90: percentile(&kept, 0.9).unwrap_or_default(),
            empty,
            empty_rate: share(empty, kept.len() as u64),
            methods: self.methods.clone(),
            precision: mean(self.precision.iter().copied()),
            recall: mean(self.recall.iter().copied()),
        }
    }
}

impl Pair {
    /// Adds two sets and returns their overlap.
    fn add(&mut self, a: &HashSet<usize>, b: &HashSet<usize>) -> f64 {
        let both = a.intersection(b).count();
        let either = a.len() + b.len() - both;
        let overlap = if either == 0 { 1.0 } else { both as f64 / either as f64 };
        self.differ += u64::from(a != b);
        self.overlaps.push(overlap);
        self.only_a += u64::from(!a.is_empty() && b.is_empty());
        self.only_b += u64::from(a.is_empty() && !b.is_empty());
        overlap
    }
}

fn share(part: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { part as f64 / of as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn search(id: &str, at_ms: i64) -> RecordedSearch {
        RecordedSearch { id: id.into(), at_ms, ..RecordedSearch::default() }
    }

    fn outcomes(kept: [&[usize]; 2]) -> Vec<Outcome> {
        kept.into_iter()
            .map(|kept| Outcome::new(kept.to_vec(), if kept.is_empty() { "gate" } else { "auto" }))
            .collect()
    }

    fn unjudged() -> Verdicts {
        Verdicts { candidates: vec![None; 4], outside: 0 }
    }

    fn two() -> Compared {
        Compared::new(vec!["one".into(), "other".into()])
    }

    #[test]
    fn figures_by_hand() {
        let mut compared = two();
        // Two of the four candidates are relevant, one is not, and one relevant passage was not a candidate.
        let verdicts = Verdicts { candidates: vec![Some(true), Some(false), None, Some(true)], outside: 1 };
        compared.add(&search("a", 30), &verdicts, outcomes([&[0, 1, 2], &[0, 3]]));
        compared.add(&search("b", 10), &unjudged(), outcomes([&[0], &[0]]));
        compared.add(&search("c", 20), &unjudged(), outcomes([&[], &[1, 2]]));
        compared.add(&search("d", 20), &unjudged(), outcomes([&[], &[]]));
        let replay = compared.finish(0, Vec::new());
        assert_eq!((replay.searches, replay.judged), (4, 1));
        assert_eq!(replay.period, Some(("1970-01-01T00:00:00.01Z".into(), "1970-01-01T00:00:00.03Z".into())));
        let [one, other] = &replay.cuts[..] else { panic!("two cuts") };
        assert_eq!((one.kept_mean, one.kept_p50, one.kept_p90, one.empty, one.empty_rate), (1.0, 0.0, 3.0, 2, 0.5));
        assert_eq!((one.precision, one.recall), (Some(0.5), Some(1.0 / 3.0)));
        assert_eq!((other.precision, other.recall), (Some(1.0), Some(2.0 / 3.0)));
        assert_eq!(one.methods, [("auto".to_owned(), 2), ("gate".to_owned(), 2)].into());
        let comparison = &replay.comparisons[0];
        assert_eq!((comparison.differ, comparison.differ_rate), (2, 0.5));
        // The first search has one of four candidates in common; the others are 1, 0 and 1 by definition.
        assert_eq!(comparison.overlap, (0.25 + 1.0 + 0.0 + 1.0) / 4.0);
        assert_eq!((comparison.only_a_answers, comparison.only_b_answers), (0, 1));
        let examples: Vec<&str> = replay.examples.iter().map(|example| example.search_id.as_str()).collect();
        assert_eq!(examples, ["c", "a"], "the one they differ on most comes first");
        assert_eq!(replay.examples[1].kept, [3, 2]);

        let replay = two().finish(0, Vec::new());
        assert_eq!((replay.cuts[0].empty_rate, replay.cuts[0].precision), (0.0, None));
        assert_eq!(replay.comparisons[0].overlap, 1.0);
        assert_eq!(replay.period, None);
    }

    proptest! {
        #[test]
        fn a_cut_does_not_differ_from_itself(
            kept in prop::collection::vec(prop::collection::hash_set(0usize..6, 0..6), 1..10),
            other in prop::collection::hash_set(0usize..6, 0..6),
        ) {
            let mut compared = Compared::new(vec!["one".into(), "same".into(), "other".into()]);
            for kept in &kept {
                let place = |set: &HashSet<usize>| Outcome::new(set.iter().copied().collect(), "auto");
                compared.add(&search("a", 0), &unjudged(), vec![place(kept), place(kept), place(&other)]);
            }
            let replay = compared.finish(0, Vec::new());
            let [same, one, again] = &replay.comparisons[..] else { panic!("three pairs") };
            prop_assert_eq!((same.differ, same.overlap), (0, 1.0));
            prop_assert_eq!((one.differ, one.overlap), (again.differ, again.overlap));
            prop_assert!((0.0..=1.0).contains(&one.overlap));
        }
    }
}
