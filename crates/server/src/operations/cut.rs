//! Cuts the lists of other search engines.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use tamis::CutReport;
use tamis::lists::{ListCut, ListCutter, ListEntry, Reading, Reference};
use tamis::search::{CutGoal, TunedRule};
use tamis_cut::{Orientation, parse};
use tamis_text::estimate_tokens;

use crate::api::Verbs;
use crate::api::problem::{Kind, Problem};
use crate::call_queue::Lane;
use crate::operation::{Call, Failure, Operation, Route};

pub(crate) struct Cut;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Parameters {
    /// The lists, one for each query.
    #[schemars(length(min = 1, max = 10_000))]
    lists: Vec<List>,
    /// Cut method with its parameters, METHOD[:PARAM=VALUE,…].
    #[schemars(length(min = 1, max = 1000))]
    #[serde(default = "method")]
    method: String,
    #[serde(flatten)]
    goal: CutGoal,
    /// A lower score is better, as with distances.
    #[serde(default)]
    lower_is_better: bool,
    /// Sort the entries best first; without it, another order is an error.
    #[serde(default)]
    sort: bool,
    /// Share of the similarity when it is fused with bm25.
    #[schemars(range(min = 0.0, max = 1.0))]
    #[serde(default = "fusion_weight")]
    fusion_weight: f64,
    /// Skip the check of the method auto that anything stands out at all.
    #[serde(default)]
    no_gate: bool,
    /// Return only the kept entries.
    #[serde(default)]
    kept_only: bool,
}

/// A ranked list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct List {
    /// The scores, best first, in place of entries.
    #[schemars(length(max = 100_000))]
    #[serde(default, deserialize_with = "present")]
    scores: Option<Vec<f64>>,
    /// The entries, best first.
    #[schemars(length(max = 100_000))]
    #[serde(default, deserialize_with = "present")]
    entries: Option<Vec<Entry>>,
    /// Mean score of irrelevant results.
    #[serde(default, deserialize_with = "present")]
    background: Option<f64>,
    /// Results drawn at random, in the form of the entries.
    #[schemars(length(max = 10_000))]
    #[serde(default)]
    background_sample: Vec<Entry>,
}

/// An entry of a list, with a score, or with a similarity, a BM25 or both.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// Score.
    #[serde(default, deserialize_with = "present")]
    score: Option<f64>,
    /// Cosine similarity.
    #[serde(default, deserialize_with = "present")]
    similarity: Option<f64>,
    /// BM25.
    #[serde(default, deserialize_with = "present")]
    bm25: Option<f64>,
    /// Share of the query's weight that the entry matches, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    #[serde(default, deserialize_with = "present")]
    coverage: Option<f64>,
    /// Length in tokens (default: that of the text).
    #[schemars(range(min = 0, max = 1_000_000_000))]
    #[serde(default, deserialize_with = "present")]
    tokens: Option<usize>,
    /// The text, for a budget of tokens.
    #[schemars(length(max = 100_000))]
    #[serde(default, deserialize_with = "present")]
    text: Option<String>,
    /// What the entry is a part of, such as a document. Entries of a group count once, by the best of them, and are kept or dropped
    /// together.
    #[schemars(length(max = 1000))]
    #[serde(default, deserialize_with = "present")]
    group: Option<String>,
}

/// The decided lists, in the order of the request.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    lists: Vec<Decided>,
}

/// A decided list.
#[derive(Debug, Serialize, JsonSchema)]
struct Decided {
    /// The cut. With groups, it counts groups.
    #[serde(flatten)]
    cut: CutReport,
    /// The probability that each candidate is relevant, best first, where the method estimates them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    probabilities: Vec<f64>,
    /// The entries, best first; those of a group stand together.
    lines: Vec<Line>,
}

/// An entry of a decided list.
#[derive(Debug, Serialize, JsonSchema)]
struct Line {
    /// Number of the entry in its list, from 1.
    line: usize,
    /// The value on the scale of the method; with groups, that of the group.
    value: f64,
    /// True if the cut keeps it.
    kept: bool,
    /// The group of the entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
}

/// A value that is there. A null is refused, as among the parameters.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(value: D) -> Result<Option<T>, D::Error> {
    T::deserialize(value).map(Some)
}

fn method() -> String {
    "auto".to_owned()
}

fn fusion_weight() -> f64 {
    tamis::lists::FUSION_WEIGHT
}

impl Operation for Cut {
    const NAME: &'static str = "cut";
    const LANE: Lane = Lane::Slow;
    type Request = Parameters;
    type Answer = Answer;

    fn call(call: &Call<'_>, parameters: Parameters) -> Result<Answer, Failure> {
        let rule =
            parse(&parameters.method).map_err(|error| Problem::new(Kind::Parameter, format!("method: {error}")))?;
        let CutGoal { aim, .. } = &parameters.goal;
        let rule =
            TunedRule::new(rule.as_ref(), parameters.goal.want.unwrap_or_default(), aim).map_err(tamis::Error::from)?;
        let cutter = ListCutter {
            reading: Reading {
                orientation: if parameters.lower_is_better { Orientation::Distance } else { Orientation::Score },
                sort: parameters.sort,
                weight: parameters.fusion_weight,
            },
            gate: !parameters.no_gate,
            ..ListCutter::new(&rule)
        };
        let mut lists = Vec::with_capacity(parameters.lists.len());
        let several = parameters.lists.len() > 1;
        for (list, number) in parameters.lists.into_iter().zip(1..) {
            call.observer.check_cancelled()?;
            let decided = list.decided(&cutter, parameters.kept_only).map_err(|mut problem| {
                if several {
                    problem.detail = format!("list {number}: {}", problem.detail);
                }
                problem
            });
            lists.push(decided?);
        }
        Ok(Answer { lists })
    }
}

impl Route for Cut {
    const PATH: &'static str = "/v1/cut";
    const VERBS: Verbs = Verbs::Post;
    const SUMMARY: &'static str = "Cut the ranked lists of any search engine where relevance ends";
    const DESCRIPTION: &'static str =
        "As `tamis cut --json`, for many lists in one call. Nothing of the index is read, and nothing is recorded.";
}

impl List {
    fn decided(self, cutter: &ListCutter<'_>, kept_only: bool) -> Result<Decided, Problem> {
        let List { scores, entries, background, background_sample } = self;
        let (scores, entries) = match (scores, entries) {
            (Some(_), Some(_)) => {
                let reason = "scores: must be without entries, which have scores of their own";
                return Err(Problem::new(Kind::Parameter, reason));
            }
            (None, None) => return Err(Problem::new(Kind::Parameter, "lists: each needs scores or entries")),
            (scores, entries) => (scores.unwrap_or_default(), entries.unwrap_or_default()),
        };
        if background.is_some() && !background_sample.is_empty() {
            return Err(Problem::new(Kind::Parameter, "background: must be without background_sample"));
        }
        let groups: Vec<Option<String>> = entries.iter().map(|entry| entry.group.clone()).collect();
        let scores = scores.into_iter().map(|score| ListEntry { score: Some(score), ..ListEntry::default() });
        let entries = entries.into_iter().zip(1..).map(|(entry, number)| entry.read(number, "entry"));
        let list: Vec<ListEntry> = scores.map(Ok).chain(entries).collect::<Result<_, Problem>>()?;
        if cutter.reading.orientation == Orientation::Distance && list.iter().any(|entry| entry.score.is_none()) {
            let reason = "lower_is_better: a higher similarity and bm25 are better; give the entries a score";
            return Err(Problem::new(Kind::Parameter, reason));
        }
        let sample =
            background_sample.into_iter().zip(1..).map(|(entry, number)| entry.read(number, "background_sample"));
        let sample: Vec<ListEntry> = sample.collect::<Result<_, Problem>>()?;
        let sample: Vec<&ListEntry> = sample.iter().collect();
        let cutter = ListCutter {
            reference: match background {
                Some(mean) => Reference::Mean(mean),
                None if sample.is_empty() => Reference::None,
                None => Reference::Sample(&sample),
            },
            ..*cutter
        };
        let all: Vec<&ListEntry> = list.iter().collect();
        let mut decided = match groups.iter().any(Option::is_some) {
            false => {
                let cut = cutter.cut(&all)?;
                let alone = cut.ranked.iter().map(|candidate| vec![candidate.position]).collect();
                Decided::new(cut, alone, &groups)
            }
            true => grouped(&cutter, &all, &groups)?,
        };
        if kept_only {
            decided.lines.retain(|line| line.kept);
        }
        Ok(decided)
    }
}

impl Entry {
    /// The figures. A text gives the length.
    fn read(self, number: usize, what: &str) -> Result<ListEntry, Problem> {
        let Entry { score, similarity, bm25, coverage, tokens, text, .. } = self;
        if score.or(similarity).or(bm25).is_none() {
            let reason = format!("{what} {number}: no score, similarity or bm25; give it at least one of these");
            return Err(Problem::new(Kind::Parameter, reason));
        }
        let tokens = tokens.or_else(|| text.as_deref().map(estimate_tokens));
        let coverage = coverage.map(|coverage| coverage.clamp(0.0, 1.0));
        Ok(ListEntry { score, similarity, bm25, coverage, tokens })
    }
}

/// Decides groups by the best entry of each. An entry without a group is one by itself.
fn grouped(cutter: &ListCutter<'_>, all: &[&ListEntry], groups: &[Option<String>]) -> Result<Decided, Problem> {
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut numbers = Vec::with_capacity(groups.len());
    for group in groups {
        let next = known.len();
        numbers.push(group.as_deref().map(|group| *known.entry(group).or_insert(next)));
    }
    let grouped = cutter.cut_groups(all, &numbers)?;
    Ok(Decided::new(grouped.decided.into(), grouped.members, groups))
}

impl Decided {
    /// The decided candidates, best first, each with the positions of its members.
    fn new(cut: ListCut, members: Vec<Vec<usize>>, groups: &[Option<String>]) -> Decided {
        let lines = cut.ranked.iter().zip(members).flat_map(|(candidate, members)| {
            let (value, kept) = (candidate.value, candidate.kept);
            members.into_iter().map(move |position| Line {
                line: position + 1,
                value,
                kept,
                group: groups.get(position).cloned().flatten(),
            })
        });
        Decided { lines: lines.collect(), cut: cut.report, probabilities: cut.probabilities }
    }
}
