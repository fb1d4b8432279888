//! The content of a usage log: searches, judgements, the quality of queries, and the key that makes scores comparable.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crate::names::names;

/// The number of unjudged searches that are kept.
pub const RETAINED: usize = 10_000;

/// The number of queries kept in `usage_quality`, at half a kilobyte each.
pub const RETAINED_QUALITY: usize = 100_000;

/// A search as it was answered.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RecordedSearch {
    /// The identifier shown to people; unique.
    pub id: String,
    /// Time in milliseconds since 1970.
    pub at_ms: i64,
    /// The entry point: `search`, `import`, …
    pub entry_point: String,
    /// The namespace searched.
    pub namespace: String,
    /// BLAKE3 hash of the query's text.
    pub query_hash: [u8; 32],
    /// The query's text, if recording it is enabled.
    pub query_text: Option<String>,
    /// The retrievers that took part: `hybrid`, `lexical` or `semantic`.
    pub mode: String,
    /// The model of the semantic retriever.
    pub model: Option<String>,
    /// The cut that decided.
    pub method: String,
    /// The key of the scores. Scores of two searches are comparable when their keys are equal.
    pub scoring: ScoringKey,
    /// Number of candidates that the cut kept: the first ones.
    pub kept: u32,
    /// Number of passages that passed the filters.
    pub passages: u64,
    /// Score of a passage unrelated to the query.
    pub score_background: Option<f64>,
    /// Mean similarity of the query to all passages searched.
    pub similarity_mean: Option<f64>,
    /// Standard deviation of those similarities.
    pub similarity_deviation: Option<f64>,
    /// Mean BM25 of a passage drawn at random.
    pub bm25_mean: Option<f64>,
    /// The pool, best first. If the cut counted entries, their best passages come first and all other passages follow.
    pub candidates: Vec<RecordedCandidate>,
    /// Who asked, where what the same caller opens afterwards may be credited to this search.
    pub caller: Option<CallerKey>,
    /// The candidates that the answer showed, by position in the pool, in the order shown; `None` where that is unknown.
    pub shown: Option<Vec<u32>>,
}

/// Identifies a caller without naming it: a hash of its session, token or user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallerKey([u8; 16]);

impl CallerKey {
    /// Makes the key of the caller that these parts identify.
    ///
    /// ```
    /// use tamis_store::CallerKey;
    ///
    /// assert_ne!(CallerKey::from_parts(["session", "a"]), CallerKey::from_parts(["session", "b"]));
    /// assert_ne!(CallerKey::from_parts(["ab", "c"]), CallerKey::from_parts(["a", "bc"]));
    /// ```
    pub fn from_parts<'a>(parts: impl IntoIterator<Item = &'a str>) -> CallerKey {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        let mut key = [0; 16];
        key.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        CallerKey(key)
    }

    pub(crate) fn from_bytes(bytes: [u8; 16]) -> CallerKey {
        CallerKey(bytes)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl RecordedSearch {
    /// Returns the candidates that the cut counted: all of them, or the best passage of each entry.
    ///
    /// ```
    /// use tamis_store::{RecordedCandidate, RecordedSearch};
    ///
    /// let candidate = |entry| RecordedCandidate { entry: Some(entry), ..RecordedCandidate::default() };
    /// let mut search = RecordedSearch { candidates: [0, 1, 0].map(candidate).into(), ..RecordedSearch::default() };
    /// assert_eq!(search.counted().len(), 3);
    /// search.scoring = search.scoring.counting_entries();
    /// assert_eq!(search.counted().len(), 2);
    /// ```
    pub fn counted(&self) -> &[RecordedCandidate] {
        let is_best = |(place, candidate): &(u32, &RecordedCandidate)| candidate.entry == Some(*place);
        let counted = match self.scoring.counts_entries() {
            true => (0..).zip(&self.candidates).take_while(is_best).count(),
            false => self.candidates.len(),
        };
        &self.candidates[..counted]
    }
}

/// A candidate of a recorded search, with its evidence at that time, in single precision.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RecordedCandidate {
    /// The passage's public identifier.
    pub passage: String,
    /// Raw cosine similarity.
    pub similarity: Option<f32>,
    /// Raw BM25.
    pub bm25: Option<f32>,
    /// Share of the query's IDF mass that matches, 0 to 1.
    pub coverage: Option<f32>,
    /// The value that the cut read at this rank, never increasing along the counted candidates. For the other passages of an
    /// entry, their own value.
    pub score: Option<f32>,
    /// Probability of relevance by the evidence alone, before judgements and exact finds moved it, if there is one.
    pub probability: Option<f32>,
    /// Position of the best passage of its entry among the candidates; `None` if entries were not counted.
    pub entry: Option<u32>,
    /// Share of the terms that an answer must hold, 0 to 1; `None` where the query has none.
    pub required: Option<f32>,
    /// True for the definition of a name that the query asks for, or the text of a message that it repeats.
    pub exact: Option<bool>,
}

/// A judgement of a passage for a search.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Judgement {
    /// The passage's public identifier.
    pub passage: String,
    /// True if it answers the query.
    pub relevant: bool,
    /// True if it was among the search's candidates.
    pub in_pool: bool,
    /// Time in milliseconds since 1970.
    pub at_ms: i64,
}

/// A search with all that was recorded of it, superseded judgements included, as one log hands it to another.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LoggedSearch {
    /// The number of the record in its log, which ascends in the order of recording. Another log gives it another one.
    pub number: i64,
    /// The search.
    pub search: RecordedSearch,
    /// Its judgements, in the order of recording.
    pub judgements: Vec<Judgement>,
    /// Its openings, in the order of recording.
    pub openings: Vec<LoggedOpening>,
}

/// A result of a [`LoggedSearch`] that its caller opened.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LoggedOpening {
    /// The passage's public identifier.
    pub passage: String,
    /// Where it was opened.
    pub entry_point: String,
    /// Time in milliseconds since 1970.
    pub at_ms: i64,
}

/// Shown passages that a caller opened.
#[derive(Debug, Clone, Copy)]
pub struct Opening<'a> {
    /// The caller. Only its own searches are credited.
    pub caller: CallerKey,
    /// Where it opened them: `cli get`, `mcp related`, …
    pub entry_point: &'a str,
    /// The public identifiers of the passages whose text it saw.
    pub passages: &'a [&'a str],
    /// Only searches since then are credited, in milliseconds since 1970.
    pub since_ms: i64,
    /// Now.
    pub at_ms: i64,
}

/// The number of opened results in a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, schemars::JsonSchema)]
pub struct OpenedCount {
    /// Searches with an opened result.
    pub searches: u64,
    /// Opened results.
    pub passages: u64,
}

/// A search with the judgements that count: the last one of each passage.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedSearch {
    /// The search.
    pub search: RecordedSearch,
    /// Its judgements, in the order in which they were last given.
    pub judgements: Vec<Judgement>,
}

/// A search in a list of searches.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct SearchSummary {
    /// The identifier shown to people.
    pub id: String,
    /// Time in milliseconds since 1970.
    pub at_ms: i64,
    /// The entry point.
    pub entry_point: String,
    /// The query's text, if it was recorded.
    pub query: Option<String>,
    /// The model of the semantic retriever.
    pub model: Option<String>,
    /// The cut that decided.
    pub method: String,
    /// Number of candidates it kept.
    pub kept: u32,
    /// Number of candidates.
    pub candidates: u32,
    /// Number of passages judged relevant.
    pub relevant: u32,
    /// Number of passages judged not relevant.
    pub not_relevant: u32,
}

/// The quality of one query's answer, recorded even if it found nothing. It has no candidates; those are in the
/// [`RecordedSearch`] of the same identifier.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize)]
pub struct QueryQuality {
    /// Time in milliseconds since 1970.
    pub at_ms: i64,
    /// The entry point: `cli`, `library`, `import`, …
    pub entry_point: String,
    /// The namespace searched.
    pub namespace: String,
    /// The collections asked for, separated by commas; `all` when none was named.
    pub corpus: String,
    /// BLAKE3 hash of the query's text.
    #[serde(serialize_with = "hexadecimal")]
    pub query_hash: [u8; 32],
    /// The query's text, if recording it is enabled.
    pub query_text: Option<String>,
    /// The identifier of the recorded search. Fewer of those are kept.
    pub search_id: Option<String>,
    /// The model of the semantic retriever.
    pub model: Option<String>,
    /// The retrievers that took part: `hybrid`, `lexical` or `semantic`.
    pub mode: String,
    /// Number of candidates that the lexical retriever found; `None` if it took no part.
    pub lexical_candidates: Option<u32>,
    /// Number of candidates that the semantic retriever found; `None` if it took no part.
    pub semantic_candidates: Option<u32>,
    /// Number of all candidates.
    pub candidates: u32,
    /// Number of candidates that the cut kept.
    pub kept: u32,
    /// Number of candidates that the cut dropped.
    pub dropped: u32,
    /// Number of kept candidates returned within the limit.
    pub returned: u32,
    /// The limit.
    pub top_k: u32,
    /// The cut's threshold, if it has one, on the scale that the cut reads.
    pub threshold: Option<f64>,
    /// The origin of the threshold (`adaptive`, `percentile`, `configured`, …), or else the name of the cut.
    pub threshold_method: String,
    /// The largest difference between neighbours, for cuts that look for one.
    pub gap_size: Option<f64>,
    /// Mean distance of the kept candidates, 1 − similarity, in [0, 2].
    pub mean_kept_distance: Option<f64>,
    /// Share of the kept candidates in the hinted language, in [0, 1]; `None` without a hint or without kept
    /// candidates.
    pub language_match_ratio: Option<f64>,
    /// Best similarity of a candidate, in [-1, 1].
    pub best_similarity: Option<f64>,
    /// Mean similarity of the query to all passages searched.
    pub similarity_mean: Option<f64>,
    /// Milliseconds by stage, up to the recording itself.
    pub milliseconds: BTreeMap<String, f64>,
    /// Milliseconds from the start of the search to its recording.
    pub total_ms: f64,
    /// The reason another model, or fewer retrievers, answered than requested.
    pub fallback_reason: Option<String>,
}

fn hexadecimal<S: serde::Serializer>(hash: &[u8; 32], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_str(&blake3::Hash::from(*hash))
}

/// The rows that [`UsageLog::purge_telemetry`](crate::UsageLog::purge_telemetry) deleted and kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Purged {
    /// Number of rows on the quality of queries.
    pub queries: u64,
    /// Number of searches with their candidates, judged ones included.
    pub searches: u64,
    /// Number of judgements deleted with their searches.
    pub judgements: u64,
    /// Number of judged searches kept.
    pub judged_kept: u64,
}

/// The pipeline that scored a recorded search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum ScoringKind {
    /// A search over files, pages and imports.
    #[default]
    Search,
    /// A search over memories, which fade with age.
    Memories,
    /// A search over issues, ranked by the ranks of their passages.
    Issues,
    /// Evidence ranked by similarity.
    Evidence,
}

names!(ScoringKind { Search = "search", Memories = "memories", Issues = "issues", Evidence = "evidence" });

/// Everything that determines the meaning of a score, apart from the model and the retrievers. Scores of two searches are
/// comparable when their keys are equal.
///
/// The text form is stable: the kind, the fusion, then the settings by name, as in
/// `search; fusion=convex 0.5; pool=100; usage=0.9`. A `;`, `=` or `%` inside a name or value is written as `%3B`, `%3D`
/// or `%25`.
///
/// ```
/// use tamis_store::{ScoringKey, ScoringKind};
///
/// let key = ScoringKey::new(ScoringKind::Search, "convex 0.5").with("usage", 0.9).with("pool", 100);
/// assert_eq!(key.to_string(), "search; fusion=convex 0.5; pool=100; usage=0.9");
/// assert_eq!(key.to_string().parse(), Ok(key));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub struct ScoringKey {
    /// The pipeline.
    pub kind: ScoringKind,
    /// The fusion whose values the cut read, in its own text form; empty where unknown.
    pub fusion: String,
    /// Everything else that moves scores, by name.
    pub settings: BTreeMap<String, String>,
}

/// The setting of searches that count entries.
const ENTRIES: &str = "entries";

impl ScoringKey {
    /// Makes a key without settings.
    pub fn new(kind: ScoringKind, fusion: impl fmt::Display) -> ScoringKey {
        ScoringKey { kind, fusion: fusion.to_string(), settings: BTreeMap::new() }
    }

    /// Adds a setting.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl fmt::Display) -> ScoringKey {
        self.settings.insert(name.into(), value.to_string());
        self
    }

    /// The key of a search whose cut read one value for each entry, that of its best passage.
    #[must_use]
    pub fn counting_entries(self) -> ScoringKey {
        self.with(ENTRIES, "best")
    }

    /// Returns true if the cut read one value for each entry.
    pub fn counts_entries(&self) -> bool {
        self.settings.contains_key(ENTRIES)
    }
}

impl fmt::Display for ScoringKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}; fusion={}", self.kind.as_str(), escaped(&self.fusion))?;
        self.settings.iter().try_for_each(|(name, value)| write!(formatter, "; {}={}", escaped(name), escaped(value)))
    }
}

/// A text that is not a scoring key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a scoring key; expected something like \"search; fusion=convex 0.5; pool=100\"")]
pub struct ScoringKeyError {
    text: String,
}

impl FromStr for ScoringKey {
    type Err = ScoringKeyError;

    fn from_str(text: &str) -> Result<ScoringKey, ScoringKeyError> {
        let parse = || {
            let mut parts = text.split("; ");
            let name = parts.next()?;
            let kind = ScoringKind::from_name(name)?;
            let mut key = ScoringKey::new(kind, unescaped(parts.next()?.strip_prefix("fusion=")?));
            for part in parts {
                let (name, value) = part.split_once('=')?;
                key.settings.insert(unescaped(name), unescaped(value));
            }
            Some(key)
        };
        parse().ok_or_else(|| ScoringKeyError { text: text.to_owned() })
    }
}

/// The characters with a meaning in the text form, with their escapes. `%` comes first, so that no escape is escaped again.
const ESCAPES: [(&str, &str); 3] = [("%", "%25"), (";", "%3B"), ("=", "%3D")];

fn escaped(text: &str) -> String {
    ESCAPES.iter().fold(text.to_owned(), |text, (plain, escape)| text.replace(plain, escape))
}

fn unescaped(text: &str) -> String {
    ESCAPES.iter().rev().fold(text.to_owned(), |text, (plain, escape)| text.replace(escape, plain))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_text_of_another_form_is_refused() {
        for text in ["", "convex 0.5", "search", "search; pool=100", "search; fusion=a; pool", "other; fusion=a"] {
            let error = text.parse::<ScoringKey>().unwrap_err();
            assert!(error.to_string().contains(&format!("{text:?}")), "{error}");
        }
    }

    proptest! {
        #[test]
        fn every_key_reads_back(fusion in "\\PC{0,9}", settings in prop::collection::btree_map("\\PC{0,9}", "\\PC{0,9}", 0..5)) {
            let key = ScoringKey { kind: ScoringKind::Issues, fusion, settings };
            prop_assert_eq!(key.to_string().parse(), Ok(key));
        }
    }
}
