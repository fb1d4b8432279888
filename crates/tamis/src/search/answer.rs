//! The answer of a search, which every interface returns. Its JSON form is a contract; the schema is generated from these types.

use super::syntax::WordFilter;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use tamis_cut::{Cut, Verdict};

/// The result of a search, with its cut and the reason for it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Answer {
    /// The query as it was searched.
    pub query: String,
    /// The identifier of the recorded search, for `tamis feedback`; null if it was not recorded.
    pub query_id: Option<String>,
    /// The language that was preferred, by canonical name; null without a hint.
    pub language_hint: Option<String>,
    /// The legs that took part: `hybrid`, `lexical` or `semantic`.
    pub mode_used: String,
    /// The reason why the mode or the model differs from the requested one.
    pub fallback_reason: Option<String>,
    /// The better models that do not cover all searched passages yet, with their coverage. `tamis index --wait` or a running
    /// server embeds the rest; until then another model takes part. Null if there is none.
    pub pending_model: Option<String>,
    /// Problems that did not prevent an answer, such as a variant or a shared namespace that was left out.
    pub warnings: Vec<String>,
    /// The model of the semantic leg.
    pub model: Option<String>,
    /// The relevant entries, best first, shortened to the limit. Each is shown by its best passage, with its other relevant
    /// ones below. With the option `passages`, every relevant passage is a result.
    pub results: Vec<Hit>,
    /// The number of relevant entries, and the reason. Rules that are defined on passages count passages.
    pub cut: CutReport,
    /// The best candidate of an empty answer; null if there are results, or no candidates.
    pub nearest: Option<Nearest>,
    /// Milliseconds by stage, and `total`; empty for a caller who may not read every namespace.
    pub timings_ms: BTreeMap<String, f64>,
    /// The searched part of the index.
    pub index: IndexReport,
    /// The whole pool in ranking order; only if an explanation was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<Vec<PoolEntry>>,
}

impl Answer {
    /// Returns the number of kept candidates that the results show. An entry counts once, even if each of its passages is a
    /// result.
    pub fn shown(&self) -> usize {
        let entries = || self.results.iter().map(|hit| hit.entry.as_str()).collect::<HashSet<_>>();
        match self.cut.diagnostics.get("counted").is_some_and(|counted| counted == "entries") {
            true => entries().len(),
            false => self.results.len(),
        }
    }
}

/// One result.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Hit {
    /// Place in the answer, from 1.
    pub rank: usize,
    /// The passage's identifier, which `tamis get` takes.
    pub id: String,
    /// The kind of text: `code`, `docs`, …
    pub collection: String,
    /// The repository or project it belongs to.
    pub namespace: String,
    /// True if that is a namespace shared by the same owner, and not the one searched first.
    pub shared: bool,
    /// Path of the document under the root, with forward slashes.
    pub path: String,
    /// First line, from 1.
    pub start_line: u32,
    /// Last line, included.
    pub end_line: u32,
    /// Title of the document, or the path of headings above the passage.
    pub title: Option<String>,
    /// Qualified name of the symbol.
    pub symbol: Option<String>,
    /// Kind of passage: `function`, `type`, `section`, …
    pub kind: String,
    /// Address of an issue, where the import gave one.
    pub url: Option<String>,
    /// Canonical name of the language.
    pub language: Option<String>,
    /// The author or speaker of an issue, a comment or a turn of a conversation.
    pub author: Option<String>,
    /// Date (RFC 3339): the passage's own, or else its document's, such as a file's last commit.
    pub dated_at: Option<String>,
    /// Metadata of the document, by name: an issue's `state`, `type` and `label`s, a note's `topic`. Left out if empty.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, Vec<String>>,
    /// Raw BM25 of the query in the passage; 0 if no term of the query occurs.
    pub bm25: Option<f64>,
    /// Raw cosine similarity of query and passage, in [-1, 1].
    pub similarity: Option<f64>,
    /// The value that ranked it.
    pub score: f64,
    /// The probability that it answers the query by the judge's reading alone, as if half of all passages did; null if the
    /// judge did not read it.
    pub judged: Option<f64>,
    /// The probability that it answers the query by all evidence, if the cut gives one.
    pub probability: Option<f64>,
    /// The lines of the passage that answer best.
    pub snippet: String,
    /// Line of the document on which the snippet starts, from 1.
    pub snippet_line: u32,
    /// Byte ranges of the query's terms in `snippet`, in order, without overlap. For printers; not in the JSON form.
    #[serde(skip)]
    pub highlights: Vec<std::ops::Range<usize>>,
    /// The entry that the passage belongs to, which a person counts as one result: namespace and path of its document; for a
    /// file of many notes also heading and time.
    pub entry: String,
    /// The other relevant passages of the entry, best first; empty if each passage is a result.
    pub passages: Vec<FurtherPassage>,
    /// Near-copies of these passages in other documents, best first. They are not results themselves.
    pub copies: Vec<Copy>,
}

/// Another relevant passage of a result.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FurtherPassage {
    /// The passage's identifier, which `tamis get` takes.
    pub id: String,
    /// First line, from 1.
    pub start_line: u32,
    /// Last line, included.
    pub end_line: u32,
    /// Title of the document, or the path of headings above the passage.
    pub title: Option<String>,
    /// Qualified name of the symbol.
    pub symbol: Option<String>,
    /// What it is: `function`, `comment`, `section`, …
    pub kind: String,
    /// Its author or speaker, if there is a single one.
    pub author: Option<String>,
    /// The date it was written (RFC 3339).
    pub dated_at: Option<String>,
    /// The value that ranked it.
    pub score: f64,
    /// The line that answers best.
    pub snippet: String,
    /// Byte ranges of the query's terms in `snippet`, in order, without overlap. For printers; not in the JSON form.
    #[serde(skip)]
    pub highlights: Vec<std::ops::Range<usize>>,
}

/// A near-copy of a passage, in another document.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Copy {
    /// The passage's identifier, which `tamis get` takes.
    pub id: String,
    /// The repository or project it belongs to.
    pub namespace: String,
    /// Path of the document.
    pub path: String,
    /// First line, from 1.
    pub start_line: u32,
    /// Last line, included.
    pub end_line: u32,
}

/// The decided cut.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CutReport {
    /// The method: a cut's name, or `gate` if nothing in the corpus stood out.
    pub method: String,
    /// The number of relevant candidates: entries, or passages if the method is defined on those (see the diagnostic
    /// `counted`). `results` holds the first of them.
    pub keep: usize,
    /// The value at or above which (for distances: at or below which) candidates are kept, if the method has one.
    pub threshold: Option<f64>,
    /// A short clause in plain words that completes "Kept 4 of 150: …".
    pub reason: String,
    /// Candidates in the pool.
    pub candidates: usize,
    /// Candidates that the cut left out.
    pub dropped: usize,
    /// Candidates left out because a score was not a finite number.
    pub dropped_non_finite: usize,
    /// The method's own numbers.
    pub diagnostics: BTreeMap<String, serde_json::Value>,
}

impl CutReport {
    /// Adds to the reason what the gate would have decided, which was turned off.
    pub(super) fn explain_waived(&mut self, verdict: &Verdict) {
        if self.keep > 0 && verdict.empty {
            let reason = self.reason.trim_end_matches('.');
            self.reason = format!("{reason}; the gate is off and would have refused all ({})", verdict.reason);
            self.diagnostics.insert("gate".into(), "off".into());
        }
    }

    /// Adds how many candidates fell short of the similarity of their language, where nothing else was found.
    pub(super) fn explain_short(&mut self, short: usize) {
        if short == 0 {
            return;
        }
        self.diagnostics.insert("below_language_threshold".into(), short.into());
        if self.keep == 0 {
            let reason = self.reason.trim_end_matches('.');
            let them = if short == 1 { "1 code passage is" } else { &format!("{short} code passages are") };
            self.reason = format!("{reason}; {them} less similar than the language's threshold demands");
        }
    }

    /// Adds the words and phrases that the query excludes, and the words with a minus sign that exclude nothing.
    pub(super) fn explain_words(&mut self, words: &WordFilter) {
        let excluded: Vec<&str> = words.excluded().collect();
        if !excluded.is_empty() {
            self.diagnostics.insert("excluded".into(), excluded.into());
            self.reason = format!("{}; {}", self.reason.trim_end_matches('.'), self.without().unwrap_or_default());
        }
        let options: Vec<String> = words.options().iter().map(|word| format!("\"-{word}\"")).collect();
        if !options.is_empty() {
            let (options, are) = (options.join(" and "), if options.len() == 1 { "is a word" } else { "are words" });
            self.reason = format!("{}; {options} {are} here", self.reason.trim_end_matches('.'));
        }
    }

    /// What the query excludes, as `without "draft" or "old"`.
    fn without(&self) -> Option<String> {
        let excluded = self.diagnostics.get("excluded")?.as_array()?;
        let quoted: Vec<String> = excluded.iter().filter_map(|one| Some(format!("\"{}\"", one.as_str()?))).collect();
        Some(format!("without {}", quoted.join(" or ")))
    }

    /// Returns `true` if the gate refused everything. [`SearchRequest::gate`](super::SearchRequest::gate) turns it off.
    pub fn is_refused(&self) -> bool {
        self.method == "gate"
    }

    /// Returns the cut and its reason in plain words, for an answer that shows the first `shown` of what is kept. An empty answer names
    /// its `nearest` candidate too.
    pub fn sentence(&self, shown: usize, nearest: Option<&Nearest>) -> String {
        let CutReport { keep, candidates, .. } = self;
        let reason = self.reason.trim_end_matches('.');
        // A cut reports the size of its best candidate if that alone exceeds the budget.
        let over_budget = self.diagnostics.contains_key("best_tokens");
        match *keep {
            0 if over_budget => format!("Nothing fits the budget: {reason}."),
            0 if *candidates == 0 => {
                let without = self.without().map(|without| format!(" {without}")).unwrap_or_default();
                format!("Nothing matches{without}.")
            }
            0 => {
                // The reason of the gate begins like the sentence.
                let reason = match reason.strip_prefix("nothing close enough") {
                    Some(rest) => rest.to_owned(),
                    None => format!(": {reason}"),
                };
                let nearest = nearest.map(|nearest| format!(" Nearest: {nearest} (weak match).")).unwrap_or_default();
                format!("Nothing close enough{reason}.{nearest}")
            }
            keep if shown < keep => format!("Kept {keep} of {candidates}, the first {shown} shown: {reason}."),
            keep => format!("Kept {keep} of {candidates}: {reason}."),
        }
    }
}

/// The candidate that came closest to a query that nothing answers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Nearest {
    /// The passage's identifier, which `tamis get` takes.
    pub id: String,
    /// The repository or project it belongs to.
    pub namespace: String,
    /// Path of the document under the root, with forward slashes.
    pub path: String,
    /// First line, from 1.
    pub start_line: u32,
    /// Title of the document, or the path of headings above the passage.
    pub title: Option<String>,
    /// Qualified name of the symbol.
    pub symbol: Option<String>,
}

impl fmt::Display for Nearest {
    /// Formats the path with the symbol, or with the heading right above the passage: `heating.md, “Boiler”`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heading = || self.title.as_deref().and_then(|title| title.rsplit(" > ").next());
        match self.symbol.as_deref().or_else(heading).filter(|name| !name.is_empty()) {
            Some(name) => write!(f, "{}, “{name}”", self.path),
            None => f.write_str(&self.path),
        }
    }
}

impl From<Cut> for CutReport {
    fn from(cut: Cut) -> Self {
        let json = |value| serde_json::to_value(value).unwrap_or_default();
        CutReport {
            method: cut.method,
            keep: cut.keep,
            threshold: cut.threshold,
            reason: cut.reason,
            candidates: cut.candidates,
            dropped: cut.dropped,
            dropped_non_finite: cut.dropped_non_finite,
            diagnostics: cut.diagnostics.into_iter().map(|(name, value)| (name.into_owned(), json(value))).collect(),
        }
    }
}

/// The index that was searched.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct IndexReport {
    /// The number of passages that match the filters.
    pub passages: u64,
    /// The number of those that have a vector of the model used.
    pub embedded: u64,
    /// The namespaces searched, one's own first.
    pub namespaces: Vec<String>,
    /// Files known to differ from the index; `null` if that was not checked, or the caller may not read every namespace.
    pub stale: Option<u64>,
}

/// One candidate of the pool, for explanations: an entry with the figures of its best passage, or a passage if passages are
/// counted.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PoolEntry {
    /// True if the cut kept it.
    pub kept: bool,
    /// Its place in the answer, from 1; null if the answer does not show it. Age and diversity change the order.
    pub rank: Option<usize>,
    /// The repository or project it belongs to.
    pub namespace: String,
    /// The factor of language and age on its distance; 1: no effect.
    pub distance_factor: f64,
    /// Age in days, if age affects candidates and the date is known.
    pub age_days: Option<f64>,
    /// The decay factor of a memory's age, in (0, 1]; 1: no decay. The result's score is `score` times this factor, unless
    /// the cut reads decayed values: then `score` already includes it.
    pub decay: f64,
    /// Path of the document.
    pub path: String,
    /// First line of the passage.
    pub start_line: u32,
    /// Qualified name of the symbol.
    pub symbol: Option<String>,
    /// Number of the entry's passages in the pool.
    pub passages: usize,
    /// Number of near-copies of these in other documents.
    pub copies: usize,
    /// Role of the text: `main`, `test`, `vendored`, `changelog`, …
    pub role: String,
    /// Raw BM25.
    pub bm25: Option<f64>,
    /// Raw similarity.
    pub similarity: Option<f64>,
    /// Share of the query's IDF mass that the passage matches, in [0, 1].
    pub coverage: Option<f64>,
    /// The value that ranked it.
    pub score: f64,
    /// What it is, if it comes first because it is exactly what the query asks for: `definition` of a name, `constant` of a name,
    /// `message` that the query repeats, or `mention` of that message in a text.
    pub exact: Option<String>,
    /// The part of the score that the other passages of its file and the file's name gave; negative where other files gained more.
    pub added: f64,
    /// The probability that it answers the query by the judge's reading alone, as if half of all passages did; null if the
    /// judge did not read it.
    pub judged: Option<f64>,
    /// The probability that it answers the query by all evidence, if the cut gives one.
    pub probability: Option<f64>,
    /// What each piece of evidence adds to the log odds that it answers the query; empty where the evidence was not weighed.
    pub evidence: Vec<EvidencePart>,
}

/// One piece of the evidence on an entry.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EvidencePart {
    /// What it is, such as `coverage`, the share of the query's words by their weight, or `late`, the similarity under the better model.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// What it adds to the log odds.
    pub log_odds: f64,
}

#[cfg(test)]
mod tests {
    use super::super::syntax::Parsed;
    use super::*;

    fn report(keep: usize) -> CutReport {
        CutReport {
            method: "auto".into(),
            keep,
            threshold: None,
            reason: "the next one is much weaker.".into(),
            candidates: 150,
            dropped: 150 - keep,
            dropped_non_finite: 0,
            diagnostics: BTreeMap::new(),
        }
    }

    #[test]
    fn a_sentence_says_how_much_is_kept_and_why() {
        assert_eq!(report(4).sentence(4, None), "Kept 4 of 150: the next one is much weaker.");
        assert_eq!(report(12).sentence(10, None), "Kept 12 of 150, the first 10 shown: the next one is much weaker.");
    }

    #[test]
    fn an_empty_answer_names_the_nearest_candidate() {
        let mut nearest = Nearest {
            id: "0123456789ab".into(),
            namespace: "house".into(),
            path: "heating.md".into(),
            start_line: 3,
            title: Some("Heating > Boiler".into()),
            symbol: None,
        };
        let gated = CutReport { reason: "nothing close enough in words or meaning".into(), ..report(0) };
        let nothing = "Nothing close enough in words or meaning.";
        assert_eq!(gated.sentence(0, None), nothing);
        let sentence = |nearest: &Nearest| gated.sentence(0, Some(nearest));
        assert_eq!(sentence(&nearest), format!("{nothing} Nearest: heating.md, “Boiler” (weak match)."));
        nearest.title = None;
        assert_eq!(sentence(&nearest), format!("{nothing} Nearest: heating.md (weak match)."));
        assert_eq!(report(0).sentence(0, None), "Nothing close enough: the next one is much weaker.");
        assert_eq!(CutReport { candidates: 0, ..report(0) }.sentence(0, None), "Nothing matches.");
    }

    #[test]
    fn the_words_that_a_query_excludes_are_named() {
        let words = Parsed::with_options("java -jar -draft -\"first try\"", |word| word == "jar").words;
        let explained = |mut report: CutReport| {
            report.explain_words(&words);
            report.sentence(report.keep, None)
        };
        let named = "without \"draft\" or \"first try\"";
        let tail = format!("{named}; \"-jar\" is a word here.");
        assert_eq!(explained(report(4)), format!("Kept 4 of 150: the next one is much weaker; {tail}"));
        assert_eq!(explained(report(0)), format!("Nothing close enough: the next one is much weaker; {tail}"));
        assert_eq!(explained(CutReport { candidates: 0, ..report(0) }), format!("Nothing matches {named}."));
    }

    #[test]
    fn a_budget_below_the_best_candidate_says_so() {
        let mut cut = report(0);
        cut.diagnostics.insert("best_tokens".into(), 90.into());
        assert!(cut.sentence(0, None).starts_with("Nothing fits the budget: "), "{}", cut.sentence(0, None));
    }
}
