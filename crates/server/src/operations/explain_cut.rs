//! The reason an answer stops where it does.

use crate::call::{Call, Need};
use crate::operation::{Argument, Failure, Operation, Tool, field};
use crate::page::{shorten_warnings, warning_lines};
use crate::reply::Reply;
use crate::sanitize::FIXED_MAX_CHARS;
use crate::text::{fenced, line, name, rounded};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;
use tamis::search::{PoolEntry, QueryParameters, SearchParameters};
use tamis::{Answer, CutReport};

pub(crate) struct ExplainCut;

/// An answer with its pool, and the decision of another cut.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Compared {
    answer: Answer,
    other: Option<CutReport>,
}

impl Operation for ExplainCut {
    const NAME: &'static str = "explain_cut";
    type Request = QueryParameters;
    type Answer = Compared;

    fn call(call: &Call<'_>, parameters: QueryParameters) -> Result<Compared, Failure> {
        // Nothing that is opened afterwards is credited to these searches.
        let parameters = QueryParameters { explain: true, caller: None, ..call.identified(parameters) };
        let search = |cut: Option<String>| {
            let common = QueryParameters { cut, ..parameters.clone() };
            let request = SearchParameters { common, ..SearchParameters::default() }.request(call.index.config())?;
            call.index.search(&request)
        };
        let other = match &parameters.cut {
            Some(cut) if !call.observer.cancelled() => Some(search(Some(cut.clone()))?.cut),
            _ => None,
        };
        Ok(Compared { answer: search(None)?, other })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Options {
    /// Candidates to show on each side of the cut, 1 to 20.
    #[schemars(range(min = 1, max = 20))]
    #[serde(default = "around")]
    around: usize,
}

fn around() -> usize {
    5
}

/// The explanation of a cut.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Explanation {
    /// The query as it was searched.
    query: String,
    /// The decision.
    decided: Decision,
    /// Candidates around the cut, best first.
    around: Vec<Candidate>,
    /// The best candidate that was left out; absent when all were kept.
    next: Option<Next>,
    /// The decision of the other cut; absent when the call named none.
    other: Option<Decision>,
    /// Mode of the search: hybrid, lexical or semantic.
    mode: String,
    /// Model of the semantic search.
    model: Option<String>,
    /// Warnings about the answer.
    warnings: Vec<String>,
}

/// A decision of a cut.
#[derive(Debug, Serialize, JsonSchema)]
struct Decision {
    /// Name of the cut that decided, or gate when nothing stood out.
    method: String,
    /// Number of candidates kept.
    keep: usize,
    /// Number of candidates.
    candidates: usize,
    /// Threshold for a candidate, if the method has one.
    threshold: Option<f64>,
    /// Reason for the decision.
    reason: String,
    /// Figures of the method.
    figures: BTreeMap<String, serde_json::Value>,
}

/// A candidate near the cut.
#[derive(Debug, Serialize, JsonSchema)]
struct Candidate {
    /// Rank among the candidates, from 1.
    rank: usize,
    /// True if the cut kept the candidate.
    kept: bool,
    /// Repository or project of the document.
    namespace: String,
    /// Path of the document.
    path: String,
    /// First line, from 1.
    start_line: u32,
    /// Qualified name of the symbol.
    symbol: Option<String>,
    /// Score that determined the rank.
    score: f64,
    /// Cosine similarity to the query.
    similarity: Option<f64>,
    /// BM25 score of the query's words.
    bm25: Option<f64>,
    /// Weighted share of the query's words that it contains, from 0 to 1.
    coverage: Option<f64>,
}

/// The best candidate that was left out.
#[derive(Debug, Serialize, JsonSchema)]
struct Next {
    /// Score that determined the rank.
    score: f64,
    /// Difference to the last kept candidate; absent when none was kept.
    gap: Option<f64>,
    /// Coverage beyond that of any kept candidate, from 0 to 1.
    new_coverage: Option<f64>,
}

/// Most characters of a path or a name; longer ones lose their beginning.
const MAX_NAME: usize = 160;

fn end(text: &str) -> String {
    let text = line(text);
    match text.chars().count().checked_sub(MAX_NAME) {
        None | Some(0) => text,
        Some(over) => format!("…{}", text.chars().skip(over + 1).collect::<String>()),
    }
}

impl From<CutReport> for Decision {
    fn from(cut: CutReport) -> Self {
        Decision {
            method: cut.method,
            keep: cut.keep,
            candidates: cut.candidates,
            threshold: cut.threshold.map(rounded),
            reason: name(&cut.reason),
            // The evidence on the whole list takes more tokens than it is worth to an agent.
            figures: cut.diagnostics.into_iter().filter(|(_, value)| !value.is_object()).collect(),
        }
    }
}

impl Candidate {
    fn of((at, entry): (usize, &PoolEntry)) -> Self {
        Candidate {
            rank: at + 1,
            kept: entry.kept,
            namespace: entry.namespace.clone(),
            path: end(&entry.path),
            start_line: entry.start_line,
            symbol: entry.symbol.as_deref().map(end),
            score: rounded(entry.score),
            similarity: entry.similarity.map(rounded),
            bm25: entry.bm25.map(rounded),
            coverage: entry.coverage.map(rounded),
        }
    }

    fn text(&self) -> String {
        let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"));
        let symbol = self.symbol.as_ref().map(|symbol| format!(" {symbol}")).unwrap_or_default();
        let verdict = if self.kept { "kept" } else { "left out" };
        format!(
            "{} {verdict}: score {:.3}, similarity {}, bm25 {}, coverage {}, {}:{}{symbol}\n",
            self.rank,
            self.score,
            number(self.similarity),
            number(self.bm25),
            number(self.coverage),
            self.path,
            self.start_line
        )
    }
}

impl Decision {
    fn text(&self) -> String {
        let Decision { method, keep, candidates, reason, .. } = self;
        format!("{method} keeps {keep} of {candidates}: {}.\n", reason.trim_end_matches('.'))
    }
}

impl Next {
    fn of(pool: &[PoolEntry], keep: usize) -> Option<Self> {
        let next = pool.get(keep)?;
        let kept = &pool[..keep];
        let covered = kept.iter().filter_map(|entry| entry.coverage).reduce(f64::max).unwrap_or_default();
        Some(Next {
            score: rounded(next.score),
            gap: kept.last().map(|last| rounded(last.score - next.score)),
            new_coverage: next.coverage.map(|coverage| rounded((coverage - covered).max(0.0))),
        })
    }
}

impl Tool for ExplainCut {
    const NEED: Need = Need::Judgements;
    const TITLE: &'static str = "Explain the cut";
    const DESCRIPTION: &'static str = "Explain why the answer to a query stops where it does: the candidates around the cut with \
        their scores, the deciding figures, what the next candidate would have added, and what another cut would keep. Use it when \
        an answer seems too short or too long. The passages themselves come from search.";
    const MAX_CHARS: usize = FIXED_MAX_CHARS;
    const ARGUMENTS: Option<&'static [Argument]> =
        Some(&[field("query"), field("cut"), field("want"), field("collections"), field("paths"), field("namespace")]);
    type Options = Options;
    type View = Explanation;

    fn view(call: &Call<'_>, Compared { answer, other }: Compared, options: Options) -> Reply<Explanation> {
        let Answer { query, cut, pool, warnings, fallback_reason, mode_used, model, .. } = answer;
        let pool = pool.unwrap_or_default();
        let keep = cut.keep.min(pool.len());
        let (first, last) = (keep.saturating_sub(options.around), (keep + options.around).min(pool.len()));
        let shown = pool.iter().enumerate().take(last).skip(first);
        let mut answer = Explanation {
            query: name(&query),
            decided: Decision::from(cut),
            around: shown.map(Candidate::of).collect(),
            next: Next::of(&pool, keep),
            other: other.map(Decision::from),
            mode: mode_used,
            model,
            warnings: call.warnings().into_iter().chain(fallback_reason).chain(warnings).collect(),
        };
        shorten_warnings(&mut answer.warnings, FIXED_MAX_CHARS / 4);
        let text = text(&answer);
        Reply::new(answer, text)
    }
}

fn text(answer: &Explanation) -> String {
    let mut text = answer.decided.text();
    if !answer.around.is_empty() {
        text.push_str(&fenced(&answer.around.iter().map(Candidate::text).collect::<String>()));
    }
    if let Some(next) = &answer.next {
        let gap = next.gap.map(|gap| format!(", {gap:.3} less than the last one kept")).unwrap_or_default();
        let added = next.new_coverage.map(|share| {
            let percent = (share * 100.0).round();
            format!(", and covers {percent}% more of the query's words by weight than any kept one")
        });
        let _ = writeln!(text, "The next candidate has {:.3}{gap}{}.", next.score, added.unwrap_or_default());
    }
    if let Some(other) = &answer.other {
        let _ = write!(text, "Instead, {}", other.text());
    }
    for (figure, value) in &answer.decided.figures {
        let _ = writeln!(text, "{} = {}", name(figure), name(&value.to_string()));
    }
    text + &warning_lines(&answer.warnings)
}
