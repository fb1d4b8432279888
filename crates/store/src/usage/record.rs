//! What is kept of a search and of what people said about it.

/// A search as it was answered.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RecordedSearch {
    /// The identifier that people are told; unique.
    pub id: String,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// Where it came from: `search`, `import`, …
    pub entry_point: String,
    /// What was searched.
    pub namespace: String,
    /// BLAKE3 hash of the query's text.
    pub query_hash: [u8; 32],
    /// The text itself, where it was asked to be kept.
    pub query_text: Option<String>,
    /// The legs that took part: `hybrid`, `lexical` or `semantic`.
    pub mode: String,
    /// The model of the semantic leg.
    pub model: Option<String>,
    /// The cut that decided.
    pub method: String,
    /// What the scores are, in words: those of two searches are comparable where this is equal.
    pub scale: String,
    /// How many candidates were relevant by the cut: the first so many.
    pub kept: u32,
    /// Passages that the filters left.
    pub passages: u64,
    /// What the score is for a passage that has nothing to do with the query.
    pub score_background: Option<f64>,
    /// Mean similarity of the query to all passages searched.
    pub similarity_mean: Option<f64>,
    /// Its standard deviation.
    pub similarity_deviation: Option<f64>,
    /// Mean BM25 of a passage drawn at random.
    pub bm25_mean: Option<f64>,
    /// Drop in coverage after the first candidate; `None` for too short a list. Its column has the older name `focus`.
    pub coverage_drop: Option<f64>,
    /// What both legs found in absolute terms; `None` where one did not take part.
    pub evidence: Option<f64>,
    /// The pool, best first.
    pub candidates: Vec<RecordedCandidate>,
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
    /// The value at this place of the list that the cut read; does not increase along the pool.
    pub score: Option<f32>,
    /// Probability of relevance, where the cut gave one.
    pub probability: Option<f32>,
}

/// What was said of a passage for a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The passage's public identifier.
    pub passage: String,
    /// Whether it answers the query.
    pub relevant: bool,
    /// Whether it was among the search's candidates.
    pub in_pool: bool,
    /// When it was said, in milliseconds since 1970.
    pub at_ms: i64,
}

/// A search with the judgements that count: of each passage the last one.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedSearch {
    /// The search.
    pub search: RecordedSearch,
    /// Its judgements, in the order in which they were last given.
    pub judgements: Vec<Judgement>,
}

/// A search in a list of them.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct SearchSummary {
    /// The identifier that people are told.
    pub id: String,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// Where it came from.
    pub entry_point: String,
    /// The query's text, where it was kept.
    pub query: Option<String>,
    /// The model of the semantic leg.
    pub model: Option<String>,
    /// The cut that decided.
    pub method: String,
    /// How many candidates it kept.
    pub kept: u32,
    /// How many candidates there were.
    pub candidates: u32,
    /// Passages judged relevant.
    pub relevant: u32,
    /// Passages judged not relevant.
    pub not_relevant: u32,
}

/// What a past query says of the collection, without any judgement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PastQuery {
    /// See [`RecordedSearch::coverage_drop`].
    pub coverage_drop: Option<f64>,
    /// See [`RecordedSearch::evidence`].
    pub evidence: Option<f64>,
}
