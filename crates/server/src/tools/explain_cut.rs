//! `explain_cut`: the reason an answer stops where it does.

use crate::page::{shorten_warnings, warning_lines};
use crate::reply::{Refused, Reply};
use crate::sanitize::FIXED_MAX_CHARS;
use crate::shared_arguments::Want;
use crate::text::{fenced, line, name, rounded};
use crate::tool::{Call, Need, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;
use tamis::search::PoolEntry;
use tamis::{Answer, CutReport, SearchRequest};

pub(crate) struct ExplainCut;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The query of the search.
    #[schemars(length(min = 1, max = 10_000))]
    query: String,
    /// Another cut to compare with, such as max_gap, kneedle, top_score or fixed:k=5 (default: none).
    #[schemars(length(min = 1, max = 200))]
    cut: Option<String>,
    /// The number of results that the search aimed for (default: chosen for the query).
    want: Option<Want>,
    /// Kinds of text that the search covered (default: all).
    #[schemars(length(max = 20))]
    #[serde(default)]
    collections: Vec<String>,
    /// Globs of paths that the search covered (default: all).
    #[schemars(length(max = 50))]
    #[serde(default)]
    paths: Vec<String>,
    /// Repository (default: this one, or all).
    namespace: Option<String>,
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
            figures: cut.diagnostics,
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
    const NAME: &'static str = "explain_cut";
    const NEED: Need = Need::Judgements;
    const TITLE: &'static str = "Explain the cut";
    const DESCRIPTION: &'static str = "Explain why the answer to a query stops where it does: the candidates around the cut with \
        their scores, the deciding figures, what the next candidate would have added, and what another cut would keep. Use it when \
        an answer seems too short or too long. The passages themselves come from search.";
    type Arguments = Arguments;
    type Answer = Explanation;

    fn call(call: &Call<'_>, arguments: Arguments) -> Result<Reply<Explanation>, Refused> {
        let wanted = arguments.cut.as_deref().map(|cut| call.index.config().cut(cut)).transpose();
        let wanted = wanted.map_err(|error| Refused::from(format!("cut: {error}")))?;
        let request = SearchRequest {
            want: arguments.want.map(Want::meant),
            collections: arguments.collections,
            paths: arguments.paths,
            namespace: arguments.namespace,
            allowed_namespaces: call.allowed(),
            explain: true,
            entry_point: Some("mcp".to_owned()),
            ..SearchRequest::new(arguments.query)
        };
        request.check()?;
        let other = match wanted {
            Some(cut) if !call.observer.cancelled() => {
                let request = SearchRequest { cut: Some(cut), ..request.clone() };
                Some(Decision::from(call.index.search(&request)?.cut))
            }
            _ => None,
        };
        let answer = call.index.search(&request)?;
        let Answer { query, cut, pool, warnings, fallback_reason, mode_used, model, .. } = answer;
        let pool = pool.unwrap_or_default();
        let keep = cut.keep.min(pool.len());
        let (first, last) = (keep.saturating_sub(arguments.around), (keep + arguments.around).min(pool.len()));
        let shown = pool.iter().enumerate().take(last).skip(first);
        let mut answer = Explanation {
            query: name(&query),
            decided: Decision::from(cut),
            around: shown.map(Candidate::of).collect(),
            next: Next::of(&pool, keep),
            other,
            mode: mode_used,
            model,
            warnings: call.warnings().into_iter().chain(fallback_reason).chain(warnings).collect(),
        };
        shorten_warnings(&mut answer.warnings, FIXED_MAX_CHARS / 4);
        let text = text(&answer);
        Ok(Reply::new(answer, text))
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
