//! `explain_cut`: why an answer stops where it does.

use crate::page::{keep_short, notes};
use crate::reply::{Refused, Reply};
use crate::seal::FIXED;
use crate::text::{fenced, line, name, rounded};
use crate::tool::{Call, Tool};
use crate::values::Want;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;
use tamis::search::PoolEntry;
use tamis::{Answer, CutReport, SearchRequest};

pub(crate) struct ExplainCut;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The query, as search had it.
    #[schemars(length(min = 1, max = 10_000))]
    query: String,
    /// Another cut to compare, such as max_gap, kneedle, top_score or fixed:k=5 (default: none).
    #[schemars(length(min = 1, max = 200))]
    cut: Option<String>,
    /// How much was wanted (default: decided by the evidence).
    want: Option<Want>,
    /// The kinds of text that were searched (default: all).
    #[schemars(length(max = 20))]
    #[serde(default)]
    collections: Vec<String>,
    /// The globs of paths that were searched (default: all).
    #[schemars(length(max = 50))]
    #[serde(default)]
    paths: Vec<String>,
    /// The repository or project that was searched, by name (default: the one here, or all).
    namespace: Option<String>,
    /// Candidates shown on each side of the cut, 1 to 20.
    #[schemars(range(min = 1, max = 20))]
    #[serde(default = "around")]
    around: usize,
}

fn around() -> usize {
    5
}

/// Why an answer stops where it does.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Explanation {
    /// The query as it was searched.
    query: String,
    /// What was decided.
    decided: Decision,
    /// Candidates around the cut, best first.
    around: Vec<Candidate>,
    /// The best candidate that was left out; absent where none was.
    next: Option<Next>,
    /// What the other cut would keep; absent where none was asked about.
    other: Option<Decision>,
    /// The legs that took part: hybrid, lexical or semantic.
    mode: String,
    /// The model of the semantic leg.
    model: Option<String>,
    /// What one should know of the answer.
    warnings: Vec<String>,
}

/// A decision of a cut.
#[derive(Debug, Serialize, JsonSchema)]
struct Decision {
    /// What decided: the name of a cut, or gate where nothing stood out.
    method: String,
    /// How many are kept.
    keep: usize,
    /// Of how many candidates.
    candidates: usize,
    /// The value that they had to reach, where the method has one.
    threshold: Option<f64>,
    /// Why.
    reason: String,
    /// The method's own figures.
    figures: BTreeMap<String, serde_json::Value>,
}

/// A candidate near the cut.
#[derive(Debug, Serialize, JsonSchema)]
struct Candidate {
    /// Its place among the candidates, from 1.
    rank: usize,
    /// Whether the cut kept it.
    kept: bool,
    /// The repository or project it belongs to.
    namespace: String,
    /// Path of the document.
    path: String,
    /// First line, from 1.
    start_line: u32,
    /// Qualified name of the symbol.
    symbol: Option<String>,
    /// The value that ranked it.
    score: f64,
    /// Cosine similarity to the query.
    similarity: Option<f64>,
    /// BM25 of the query's words in it.
    bm25: Option<f64>,
    /// Share of the query's weight in words that it has, from 0 to 1.
    coverage: Option<f64>,
}

/// The first one that was left out.
#[derive(Debug, Serialize, JsonSchema)]
struct Next {
    /// The value that ranked it.
    score: f64,
    /// How far that is below the last one that was kept; absent where none was.
    gap: Option<f64>,
    /// How much of the query's weight in words it has that none of those kept has, from 0 to 1.
    new_coverage: Option<f64>,
}

/// Longer paths and names lose their beginning.
const LONGEST: usize = 160;

fn end(text: &str) -> String {
    let text = line(text);
    match text.chars().count().checked_sub(LONGEST) {
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
    const TITLE: &'static str = "Explain the cut";
    const DESCRIPTION: &'static str = "Why the answer to a query stops where it stops: the candidates around the cut with their \
        scores, the figures that decided, what the next one would have added, and what another cut would keep. Take it when an \
        answer seems too short or too long; the passages themselves come from search.";
    type Arguments = Arguments;
    type Answer = Explanation;

    fn call(call: &Call<'_>, arguments: Arguments) -> Result<Reply<Explanation>, Refused> {
        let wanted = arguments.cut.as_deref().map(|cut| call.index.config().cut(cut)).transpose();
        let wanted = wanted.map_err(|error| Refused(format!("cut: {error}")))?;
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
        keep_short(&mut answer.warnings, FIXED / 4);
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
        let gap = next.gap.map(|gap| format!(", {gap:.3} below the last one kept")).unwrap_or_default();
        let added = next.new_coverage.map(|share| {
            let percent = (share * 100.0).round();
            format!(", with {percent}% of the query's weight in words that none kept has")
        });
        let _ = writeln!(text, "The next one has {:.3}{gap}{}.", next.score, added.unwrap_or_default());
    }
    if let Some(other) = &answer.other {
        let _ = write!(text, "Instead, {}", other.text());
    }
    for (figure, value) in &answer.decided.figures {
        let _ = writeln!(text, "{} = {}", name(figure), name(&value.to_string()));
    }
    text + &notes(&answer.warnings)
}
