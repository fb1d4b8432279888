//! The reason an answer stops where it does.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamis::search::{Asker, PoolEntry};
use tamis::{Answer, CutReport, SearchRequest};

use crate::operation::{Argument, Call, Failure, Need, Operation, Tool, field};
use crate::paging::warning_lines;
use crate::untrusted_text::{FIXED_MAX_CHARS, fenced, line, name};

pub(crate) struct ExplainCut;

/// An answer with its pool, and the decision of another cut.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Compared {
    answer: Answer,
    other: Option<CutReport>,
}

impl Operation for ExplainCut {
    const NAME: &'static str = "explain_cut";
    type Request = SearchRequest;
    type Answer = Compared;

    fn call(call: &Call<'_>, request: SearchRequest) -> Result<Compared, Failure> {
        // Nothing that is opened afterwards is credited to these searches.
        let mut request = request.explain().asker(Asker { caller: None, ..call.asker() });
        let other = match &request.cut.method {
            Some(_) if !call.observer.cancelled() => Some(call.index.search(&request)?.cut),
            _ => None,
        };
        request.cut.method = None;
        Ok(Compared { answer: call.index.search(request)?, other })
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

/// Most characters of a path or a name; longer ones lose their beginning.
const MAX_NAME: usize = 160;

fn end(text: &str) -> String {
    let text = line(text);
    match text.chars().count().checked_sub(MAX_NAME) {
        None | Some(0) => text,
        Some(over) => format!("…{}", text.chars().skip(over + 1).collect::<String>()),
    }
}

/// A candidate near the cut.
fn candidate_line((at, entry): (usize, &PoolEntry)) -> String {
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"));
    format!(
        "{} {}: score {:.3}, similarity {}, bm25 {}, coverage {}, {}:{}{}\n",
        at + 1,
        if entry.kept { "kept" } else { "left out" },
        entry.score,
        number(entry.similarity),
        number(entry.bm25),
        number(entry.coverage),
        end(&entry.path),
        entry.start_line,
        entry.symbol.as_ref().map(|symbol| format!(" {}", end(symbol))).unwrap_or_default()
    )
}

fn decision(cut: &CutReport) -> String {
    let CutReport { method, keep, candidates, reason, .. } = cut;
    format!("{method} keeps {keep} of {candidates}: {}.\n", name(reason).trim_end_matches('.'))
}

/// What the best candidate that was left out would have added.
fn next(pool: &[PoolEntry], keep: usize) -> Option<String> {
    let (kept, next) = (&pool[..keep], pool.get(keep)?);
    let gap = kept.last().map(|last| format!(", {:.3} less than the last one kept", last.score - next.score));
    let covered = kept.iter().filter_map(|entry| entry.coverage).reduce(f64::max).unwrap_or_default();
    let added = next.coverage.map(|coverage| {
        let percent = ((coverage - covered).max(0.0) * 100.0).round();
        format!(", and covers {percent}% more of the query's words by weight than any kept one")
    });
    let (gap, added) = (gap.unwrap_or_default(), added.unwrap_or_default());
    Some(format!("The next candidate has {:.3}{gap}{added}.\n", next.score))
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

    fn text(call: &Call<'_>, Compared { answer, other }: &Compared, options: &Options) -> String {
        let Answer { cut, pool, .. } = answer;
        let pool = pool.as_deref().unwrap_or_default();
        let keep = cut.keep.min(pool.len());
        let (first, last) = (keep.saturating_sub(options.around), (keep + options.around).min(pool.len()));
        let around: String = pool.iter().enumerate().take(last).skip(first).map(candidate_line).collect();
        let mut text = decision(cut);
        if !around.is_empty() {
            text.push_str(&fenced(&around));
        }
        text.extend(next(pool, keep));
        if let Some(other) = other {
            let _ = write!(text, "Instead, {}", decision(other));
        }
        // The evidence on the whole list takes more tokens than it is worth to an agent.
        for (figure, value) in cut.diagnostics.iter().filter(|(_, value)| !value.is_object()) {
            let _ = writeln!(text, "{} = {}", name(figure), name(&value.to_string()));
        }
        let warnings = call.warnings().into_iter().chain(answer.fallback_reason.clone()).chain(answer.warnings.clone());
        text + &warning_lines(&warnings.collect::<Vec<_>>(), FIXED_MAX_CHARS / 4)
    }
}
