//! The answer of a search, which every interface returns. Its JSON form is a contract; the schema is generated from these types.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;
use tamis_cut::{Cut, Gate, Verdict};
use tamis_rank::last_part;
use tamis_text::{Kind, SYMBOL_SEPARATOR};

use super::query::WordFilter;

/// The diagnostic with the evidence on the whole list, which only an explanation has.
pub(crate) const ANSWER_EVIDENCE: &str = "answer_evidence";

/// The result of a search, with its cut and the reason for it.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Answer {
    /// The query as it was searched.
    pub query: String,
    /// The identifier of the recorded search, for `tamis feedback`; null if it was not recorded.
    pub query_id: Option<String>,
    /// The language that was preferred, by canonical name; null without a hint.
    pub language_hint: Option<String>,
    /// The retrievers that took part: `hybrid`, `lexical` or `semantic`.
    pub mode_used: String,
    /// The reason why the mode or the model differs from the requested one.
    pub fallback_reason: Option<String>,
    /// The better models that do not cover all searched passages yet, with their coverage. The command and the
    /// server embed the rest in the background, a program by a refresh that waits for every model; until then another model takes
    /// part. Null if there is none.
    pub pending_model: Option<String>,
    /// Problems that did not prevent an answer, such as a variant or a shared namespace that was left out.
    pub warnings: Vec<String>,
    /// True if some of the namespaces asked for could not be searched; left out otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// The namespaces that could not be searched, because the server that holds them is away; left out if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_namespaces: Vec<String>,
    /// The model of the semantic retriever.
    pub model: Option<String>,
    /// The relevant entries, best first, shortened to the limit. Each is shown by its best passage, with its other relevant
    /// ones below. With the option `passages`, every relevant passage is a result.
    pub results: Vec<Hit>,
    /// The number of relevant entries, and the reason. Rules that are defined on passages count passages.
    pub cut: CutReport,
    /// The answer in one sentence: how many entries look relevant, with their probabilities, and what ends the list.
    pub summary: String,
    /// The entries just below the line, best first: at most five, or eight where nothing is relevant. Empty if the cut left nothing
    /// out, if a limit leaves out relevant ones, or with the option `strict`.
    pub nearest: Vec<Nearest>,
    /// The words of the query that no searched passage has, as written; at most 20.
    pub missing_words: Vec<String>,
    /// The misspelt words of the query, and the words of the index that they were searched as; left out if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readings: Vec<Reading>,
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

    /// Returns the answer as a search gives it that explains nothing.
    #[must_use]
    pub fn without_explanation(mut self) -> Self {
        self.cut.diagnostics.remove(ANSWER_EVIDENCE);
        self.pool = None;
        self
    }
}

/// A word of the query that was read as another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Reading {
    /// The word as written, which no searched passage has.
    pub word: String,
    /// The word that is spelled almost like it, which was searched instead.
    pub read_as: String,
}

impl Reading {
    /// Returns an answer's sentence with the readings of its query.
    #[must_use]
    pub fn explain(sentence: String, readings: &[Reading]) -> String {
        let told: Vec<String> =
            readings.iter().map(|Reading { word, read_as }| format!("\"{word}\" as \"{read_as}\"")).collect();
        match told.is_empty() {
            true => sentence,
            false => format!("{}; read {}.", sentence.trim_end_matches('.'), told.join(" and ")),
        }
    }
}

/// One result.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
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
    /// The probability that it answers the query by the reranker's reading alone, as if half of all passages did; null if the
    /// reranker did not read it.
    pub judged: Option<f64>,
    /// True if people said of it, for this question, that it answers; false if they said that it does not; null if they said nothing.
    pub judged_relevant: Option<bool>,
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
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
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
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
    /// The probability of each candidate, where there is one, in the order of the ranking. `results` and `nearest` have them in the
    /// JSON form.
    #[serde(skip)]
    pub probabilities: Vec<f64>,
}

/// The name of the cut of a search without one.
pub(crate) const OFF: &str = "off";

/// Number of probabilities in a sentence.
const NAMED_PROBABILITIES: usize = 5;

/// The probability from which an answer's best entry looks relevant. One with less may be.
const LIKELY: f64 = 0.5;

/// The probability below which even the best entry is hardly relevant, as where the gate is off.
const HARDLY: f64 = 0.1;

/// The expected share of relevant entries from which a whole answer looks relevant.
const LIKELY_SHARE: f64 = 0.25;

impl CutReport {
    /// Adds to the reason what the gate would have decided, which was turned off.
    pub(crate) fn explain_waived(&mut self, verdict: &Verdict) {
        if self.keep > 0 && verdict.empty {
            let reason = self.reason.trim_end_matches('.');
            self.reason = format!("{reason}; the gate is off and would have refused all ({})", verdict.reason);
            self.diagnostics.insert("gate".into(), "off".into());
        }
    }

    /// Adds how many candidates fell short of the similarity of their language, where nothing else was found.
    pub(crate) fn explain_short(&mut self, short: usize) {
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

    /// Adds the words and phrases that the query excludes, the words with a minus sign that exclude nothing, and the phrases that nothing
    /// has.
    pub(crate) fn explain_words(&mut self, words: &WordFilter) {
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
        let missing: Vec<String> = words.missing().iter().map(|phrase| format!("\"{phrase}\"")).collect();
        if !missing.is_empty() {
            let reason = self.reason.trim_end_matches('.');
            self.reason = format!("{reason}; nothing found has the phrase {}", missing.join(" or "));
        }
    }

    /// What the query excludes, as `without "draft" or "old"`.
    fn without(&self) -> Option<String> {
        let excluded = self.diagnostics.get("excluded")?.as_array()?;
        let quoted: Vec<String> = excluded.iter().filter_map(|one| Some(format!("\"{}\"", one.as_str()?))).collect();
        Some(format!("without {}", quoted.join(" or ")))
    }

    /// Returns the answer in one sentence, for one that shows the first `shown` of what is kept: how much is relevant, with the
    /// probabilities where there are some, and otherwise the reason of the cut. An answer that is empty or unlikely names the
    /// `missing_words` too.
    pub fn sentence(&self, shown: usize, missing_words: &[String]) -> String {
        let CutReport { keep, candidates, .. } = *self;
        let reason = self.reason.trim_end_matches('.');
        // A cut reports the size of its best candidate if that alone exceeds the budget.
        let over_budget = self.diagnostics.contains_key("best_tokens");
        match keep {
            0 if over_budget => format!("Nothing fits the budget: {reason}."),
            0 => self.empty_sentence(missing_words),
            _ if self.method == OFF && shown < candidates => {
                format!("The first {shown} of {candidates}, without a cut.")
            }
            _ if self.method == OFF => format!("All {candidates}, without a cut."),
            _ if !self.probabilities.is_empty() => self.likely_sentence(shown, missing_words),
            _ if shown < keep => format!("Kept {keep} of {candidates}, the first {shown} shown: {reason}."),
            _ => format!("Kept {keep} of {candidates}: {reason}."),
        }
    }

    /// Returns the sentence of an answer without results.
    fn empty_sentence(&self, missing_words: &[String]) -> String {
        let without = self.without().filter(|_| self.candidates == 0).map(|without| format!(" {without}"));
        let begin = match self.candidates {
            0 => format!("Nothing matches{}", without.unwrap_or_default()),
            _ => "Nothing clearly relevant".to_owned(),
        };
        let nearest = self.probabilities.first().map(|&nearest| format!("the nearest has {}", percent(nearest)));
        let remarks = Some(self.remarks()).filter(|remarks| self.candidates > 0 && !remarks.is_empty());
        let why = nearest
            .into_iter()
            .chain(remarks.map(str::to_owned))
            .chain(missing(missing_words))
            .collect::<Vec<_>>()
            .join("; ");
        if why.is_empty() { format!("{begin}.") } else { format!("{begin}: {why}.") }
    }

    /// Returns the sentence of an answer whose candidates have probabilities.
    fn likely_sentence(&self, shown: usize, missing_words: &[String]) -> String {
        let CutReport { keep, candidates, .. } = *self;
        // The words follow the percentage that they stand beside.
        let best = self.probabilities.first().map_or(0.0, |best| (best * 100.0).round() / 100.0);
        let expected: f64 = self.probabilities.iter().take(keep).sum();
        let (unlikely, hardly) = (best < LIKELY, best < HARDLY);
        let look = match (unlikely || expected < LIKELY_SHARE * keep as f64, keep) {
            (true, 1) if hardly => "is hardly",
            (true, _) if hardly => "are hardly",
            (true, _) => "may be",
            (false, 1) => "looks",
            (false, _) => "look",
        };
        let mut sentence = match keep == candidates {
            true if keep == 2 => format!("Both {look} relevant"),
            true if keep > 2 => format!("All {keep} {look} relevant"),
            _ => format!("{keep} of {candidates} {look} relevant"),
        };
        if shown < keep {
            sentence.push_str(&format!(", the first {shown} shown"));
        }
        let kept = self.probabilities.iter().take(shown.min(keep));
        let mut named: Vec<String> = kept.map(|&probability| percent(probability)).collect();
        if named.len() > NAMED_PROBABILITIES {
            named.truncate(NAMED_PROBABILITIES);
            named.push("…".to_owned());
        }
        sentence.push_str(&format!(" ({})", named.join(", ")));
        if let Some(&next) = self.probabilities.get(keep).filter(|_| shown >= keep) {
            sentence.push_str(&format!("; the next has {}", percent(next)));
        }
        let remarks = Some(self.remarks().to_owned()).filter(|remarks| !remarks.is_empty());
        for remark in remarks.into_iter().chain(missing(missing_words).filter(|_| unlikely)) {
            sentence.push_str(&format!("; {remark}"));
        }
        sentence + "."
    }

    /// Returns the part of the reason that says more than the probabilities do. Its first clause may only compare them.
    fn remarks(&self) -> &str {
        let reason = self.reason.trim_end_matches('.');
        let compares =
            ["the next is ", "nothing else was found", "nothing close enough", "nothing is clearly relevant"];
        match compares.iter().any(|clause| reason.starts_with(clause)) {
            true => reason.split_once("; ").map_or("", |(_, remarks)| remarks),
            false => reason,
        }
    }
}

/// Returns the clause that names words which no passage has.
fn missing(words: &[String]) -> Option<String> {
    match words {
        [] => None,
        [one] => Some(format!("no passage has \"{one}\"")),
        [first, second, third, rest @ ..] if rest.len() > 1 => {
            Some(format!("no passage has \"{first}\", \"{second}\", \"{third}\" or {} more of the words", rest.len()))
        }
        [first @ .., last] => Some(format!("no passage has \"{}\" or \"{last}\"", first.join("\", \""))),
    }
}

/// A probability as a whole percentage. Only an exact zero reads 0%, and only an exact one reads 100%. What is below the level of the gate
/// never reads as the level.
pub fn percent(share: f64) -> String {
    let level = (Gate::default().level * 100.0).round();
    match (share * 100.0).round() {
        0.0 if share > 0.0 => "<1%".into(),
        100.0 if share < 1.0 => ">99%".into(),
        rounded if rounded == level && share < Gate::default().level => format!("{}%", level - 1.0),
        rounded => format!("{rounded}%"),
    }
}

/// A judgement of a result in words.
pub fn judged(relevant: bool) -> &'static str {
    if relevant { "judged relevant" } else { "judged not relevant" }
}

/// An entry below the line, by its best passage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Nearest {
    /// The passage's identifier, which `tamis get` takes.
    pub id: String,
    /// The repository or project it belongs to.
    pub namespace: String,
    /// Path of the document under the root, with forward slashes.
    pub path: String,
    /// First line, from 1.
    pub start_line: u32,
    /// Last line, included.
    pub end_line: u32,
    /// Title of the document, or the path of headings above the passage; the text of a note.
    pub title: Option<String>,
    /// Qualified name of the symbol.
    pub symbol: Option<String>,
    /// Kind of passage: `function`, `type`, `section`, …
    pub kind: String,
    /// The probability that it answers the query by all evidence, if the cut gives one.
    pub probability: Option<f64>,
    /// True if people said of it, for this question, that it answers; false if they said that it does not; null if they said nothing.
    pub judged_relevant: Option<bool>,
}

/// Most symbols of a heading. A group of constants has many.
const MOST_SYMBOLS: usize = 4;

impl Hit {
    /// Returns the symbols for a heading, of many the ones that the snippet shows, and the number of the others.
    pub fn symbols_in_short(&self) -> Option<Cow<'_, str>> {
        let all = self.symbol.as_deref()?;
        let names: Vec<&str> = all.split(SYMBOL_SEPARATOR).collect();
        if names.len() <= MOST_SYMBOLS {
            return Some(Cow::Borrowed(all));
        }
        let is_shown = |name: &&str| last_part(name).is_some_and(|name| self.snippet.contains(name));
        let mut shown: Vec<&str> = names.iter().copied().filter(is_shown).take(MOST_SYMBOLS - 1).collect();
        if shown.is_empty() {
            shown.extend(&names[..MOST_SYMBOLS - 1]);
        }
        Some(Cow::Owned(format!("{} and {} more", shown.join(", "), names.len() - shown.len())))
    }
}

impl Nearest {
    /// Returns the symbol, or else the heading right above the passage, or the text of a note.
    pub fn name(&self) -> Option<&str> {
        let is_path = self.kind != Kind::Note.as_str();
        let heading =
            || self.title.as_deref().and_then(|title| title.rsplit(" > ").next().filter(|_| is_path).or(Some(title)));
        self.symbol.as_deref().or_else(heading).filter(|name| !name.is_empty())
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
            probabilities: cut.probabilities,
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
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct PoolEntry {
    /// The passage's identifier, which `tamis get` takes.
    pub id: String,
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
    /// Title of the document, or the path of headings above the passage.
    pub title: Option<String>,
    /// Qualified name of the symbol.
    pub symbol: Option<String>,
    /// Kind of passage: `function`, `type`, `section`, …
    pub kind: String,
    /// The kind of text: `code`, `docs`, …
    pub collection: String,
    /// Canonical name of the language.
    pub language: Option<String>,
    /// Date (RFC 3339): the passage's own, or else its document's, such as a file's last commit.
    pub dated_at: Option<String>,
    /// Attributes of the document, such as the state and the labels of an issue.
    pub attributes: BTreeMap<String, Vec<String>>,
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
    /// `message` that the query repeats, `mention` of that message in a text, or `file` that the query names.
    pub exact: Option<String>,
    /// The part of the score that the other passages of its file and the file's name gave; negative where other files gained more.
    pub added: f64,
    /// The probability that it answers the query by the reranker's reading alone, as if half of all passages did; null if the
    /// reranker did not read it.
    pub judged: Option<f64>,
    /// The probability that it answers the query by all evidence, if the cut gives one.
    pub probability: Option<f64>,
    /// True if people said of it, for this question, that it answers; false if they said that it does not; null if they said nothing.
    pub judged_relevant: Option<bool>,
    /// What each piece of evidence adds to its odds among the entries of the list; empty where the evidence was not weighed. Whether
    /// the list holds an answer at all is in the diagnostics of the cut (`answer`).
    pub evidence: Vec<EvidencePart>,
}

/// One piece of the evidence on an entry.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EvidencePart {
    /// What it is, such as `coverage`, the share of the query's words by their weight, or
    /// `on_demand`, the similarity under the better model.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// What it adds to the log odds.
    pub log_odds: f64,
}

/// Joins two reasons why an answer differs from the request.
pub(crate) fn joined(first: Option<String>, second: Option<String>) -> Option<String> {
    match (first, second) {
        (Some(first), Some(second)) => Some(format!("{first}; {second}")),
        (first, second) => first.or(second),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::query::Parsed;

    #[test]
    fn a_heading_has_a_few_of_many_symbols() {
        let hit = |symbols: &str| Hit {
            symbol: Some(symbols.into()),
            snippet: "const LEAST: f64 = 0.1;".into(),
            ..Hit::default()
        };
        for (symbols, expected) in [
            ("ONE, TWO, SIX, TEN", "ONE, TWO, SIX, TEN"),
            ("ONE, TWO, SIX, TEN, x::LEAST", "x::LEAST and 4 more"),
            ("ONE, TWO, SIX, TEN, MANY", "ONE, TWO, SIX and 2 more"),
        ] {
            assert_eq!(hit(symbols).symbols_in_short().as_deref(), Some(expected));
        }
    }

    fn report(keep: usize) -> CutReport {
        let reason = "the next one is much weaker.".into();
        CutReport { method: "auto".into(), keep, reason, candidates: 150, dropped: 150 - keep, ..CutReport::default() }
    }

    fn likely(keep: usize, candidates: usize, probabilities: &[f64]) -> CutReport {
        CutReport { candidates, probabilities: probabilities.to_vec(), reason: LESS.into(), ..report(keep) }
    }

    const LESS: &str = "the next is much less likely";

    #[test]
    fn probabilities_say_how_much_looks_relevant_and_without_them_the_reason_speaks() {
        assert_eq!(report(4).sentence(4, &[]), "Kept 4 of 150: the next one is much weaker.");
        assert_eq!(report(12).sentence(10, &[]), "Kept 12 of 150, the first 10 shown: the next one is much weaker.");
        for (cut, shown, expected) in [
            (likely(3, 97, &[0.92, 0.71, 0.4, 0.12]), 3, "3 of 97 look relevant (92%, 71%, 40%); the next has 12%."),
            (likely(3, 4, &[0.52, 0.12, 0.09, 0.02]), 3, "3 of 4 may be relevant (52%, 12%, 9%); the next has 2%."),
            (likely(2, 97, &[0.02, 0.01, 0.01]), 2, "2 of 97 are hardly relevant (2%, 1%); the next has 1%."),
            (likely(2, 97, &[0.22, 0.18, 0.04]), 2, "2 of 97 may be relevant (22%, 18%); the next has 4%."),
            (likely(1, 97, &[0.92, 0.12]), 1, "1 of 97 looks relevant (92%); the next has 12%."),
            (likely(2, 2, &[0.9, 0.8]), 2, "Both look relevant (90%, 80%)."),
            (likely(4, 4, &[0.9, 0.8, 0.7, 0.6]), 4, "All 4 look relevant (90%, 80%, 70%, 60%)."),
            (likely(1, 1, &[0.9]), 1, "1 of 1 looks relevant (90%)."),
            (likely(1, 9, &[0.4988, 0.069]), 1, "1 of 9 looks relevant (50%); the next has 6%."),
            (
                likely(12, 97, &[0.999; 97]),
                9,
                "12 of 97 look relevant, the first 9 shown (>99%, >99%, >99%, >99%, >99%, …).",
            ),
        ] {
            assert_eq!(cut.sentence(shown, &[]), expected);
        }
    }

    #[test]
    fn what_else_decided_is_added() {
        let cut = |reason: &str| CutReport { reason: reason.into(), ..likely(1, 97, &[0.92, 0.62]) };
        for (reason, remarks) in [
            ("the next is less likely; wanted: one", "; wanted: one"),
            ("more would exceed the budget of 4,000 tokens", "; more would exceed the budget of 4,000 tokens"),
        ] {
            let expected = format!("1 of 97 looks relevant (92%); the next has 62%{remarks}.");
            assert_eq!(cut(reason).sentence(1, &[]), expected);
        }
    }

    #[test]
    fn an_empty_or_unlikely_answer_names_the_missing_words() {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let empty = CutReport { reason: "nothing close enough in words or meaning".into(), ..likely(0, 97, &[0.09]) };
        let nothing = "Nothing clearly relevant: the nearest has 9%";
        assert_eq!(empty.sentence(0, &[]), format!("{nothing}."));
        for (missing, expected) in [
            (words(&["Mongolia"]), r#"no passage has "Mongolia""#),
            (words(&["Mongolia", "yurts"]), r#"no passage has "Mongolia" or "yurts""#),
            (words(&["a1", "b2", "c3"]), r#"no passage has "a1", "b2" or "c3""#),
        ] {
            assert_eq!(empty.sentence(0, &missing), format!("{nothing}; {expected}."));
        }
        let telegram = words(&["telegram"]);
        let unlikely = likely(1, 97, &[0.22, 0.04]).sentence(1, &telegram);
        assert_eq!(unlikely, r#"1 of 97 may be relevant (22%); the next has 4%; no passage has "telegram"."#);
        let sure = likely(1, 97, &[0.92, 0.04]).sentence(1, &telegram);
        assert_eq!(sure, "1 of 97 looks relevant (92%); the next has 4%.");
        let unknown = CutReport { probabilities: Vec::new(), ..empty.clone() };
        assert_eq!(unknown.sentence(0, &[]), "Nothing clearly relevant.");
        let weak = CutReport { reason: "the best is below 0.5".into(), ..unknown.clone() };
        assert_eq!(weak.sentence(0, &[]), "Nothing clearly relevant: the best is below 0.5.");
        let none = CutReport { candidates: 0, ..unknown };
        assert_eq!(none.sentence(0, &words(&["zeppelin"])), r#"Nothing matches: no passage has "zeppelin"."#);
    }

    #[test]
    fn percentages_are_whole_and_never_rounded_to_certainty_and_the_words_that_a_query_excludes_are_named() {
        let shown = [0.0, 0.001, 0.069, 0.07, 0.146, 0.999, 1.0].map(percent);
        assert_eq!(shown, ["0%", "<1%", "6%", "7%", "15%", ">99%", "100%"]);
        let words = Parsed::with_options("java -jar -draft -\"first try\"", |word| word == "jar").words;
        let explained = |mut report: CutReport| {
            report.explain_words(&words);
            report.sentence(report.keep, &[])
        };
        let named = "without \"draft\" or \"first try\"";
        let tail = format!("{named}; \"-jar\" is a word here.");
        assert_eq!(explained(report(4)), format!("Kept 4 of 150: the next one is much weaker; {tail}"));
        assert_eq!(explained(report(0)), format!("Nothing clearly relevant: the next one is much weaker; {tail}"));
        assert_eq!(explained(CutReport { candidates: 0, ..report(0) }), format!("Nothing matches {named}."));
    }

    #[test]
    fn a_budget_below_the_best_says_so_and_without_a_cut_nothing_is_relevant() {
        let mut cut = report(0);
        cut.diagnostics.insert("best_tokens".into(), 90.into());
        assert!(cut.sentence(0, &[]).starts_with("Nothing fits the budget: "), "{}", cut.sentence(0, &[]));
        let cut = CutReport { method: OFF.into(), ..likely(97, 97, &[0.9; 97]) };
        assert_eq!(cut.sentence(10, &[]), "The first 10 of 97, without a cut.");
        assert_eq!(cut.sentence(97, &[]), "All 97, without a cut.");
    }
}
