//! What a query asks of the two legs, and what they answer.

use crate::record::PassageId;

/// A query to the lexical leg.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LexicalQuery {
    /// Free text: words, identifiers, an error message. It has no operators; any of its terms may match.
    pub text: String,
}

impl LexicalQuery {
    /// A query for the words of a text.
    pub fn new(text: impl Into<String>) -> LexicalQuery {
        LexicalQuery { text: text.into() }
    }
}

/// What the lexical leg found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LexicalHits {
    /// Best first, equals by passage.
    pub hits: Vec<LexicalHit>,
    /// The query as the leg understood it, with the background that its scores stand against.
    pub statistics: LexicalStatistics,
}

/// A passage that the lexical leg found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LexicalHit {
    /// The passage.
    pub passage: PassageId,
    /// Its score and what of the query it matched.
    pub score: LexicalScore,
}

/// How well a passage matches a query's words.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LexicalScore {
    /// Okapi BM25 with k1 = 1.2 and b = 0.75, at least 0; 0 when no term matches.
    pub bm25: f32,
    /// The share of the query's IDF mass that matched, 0 to 1. Terms in more than half of the passages do not count;
    /// a term that no passage has counts with the highest IDF there is.
    pub coverage: f32,
}

/// A query's terms and how frequent they are.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LexicalStatistics {
    /// The terms in the order of the query.
    pub terms: Vec<TermStatistics>,
    /// Passages that the filter lets through.
    pub passages: u64,
    /// Passages that the lexical index holds of the filter's namespaces, of which the document frequencies are.
    pub indexed: u64,
    /// What a passage drawn at random would score: the sum of document frequency / passages · IDF over the terms,
    /// which is the mean of BM25 where each term that occurs does so once in a passage of average length.
    pub expected_score: f32,
}

/// One term of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct TermStatistics {
    /// The term, in lower case.
    pub term: String,
    /// Passages that hold it, in the filter's namespaces.
    pub document_frequency: u64,
    /// ln(1 + (N − n + 0.5) / (n + 0.5)), N passages of which n hold it.
    pub idf: f32,
    /// Whether it is an identifier whose parts are terms as well. Such a term scores, and its parts make the coverage.
    pub compound: bool,
}

/// What the semantic leg found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Nearest {
    /// Most similar first, equals by passage.
    pub hits: Vec<SemanticHit>,
    /// How similar the query is to everything that the filter lets through.
    pub background: Background,
}

/// A passage that the semantic leg found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SemanticHit {
    /// The passage.
    pub passage: PassageId,
    /// Cosine similarity in -1..=1, of the vectors in full precision.
    pub similarity: f32,
}

/// How similar a query is to passages at large.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Background {
    /// Passages it is made from.
    pub count: u64,
    /// Whether those are a sample of what the filter lets through, not all of it.
    pub sampled: bool,
    /// Mean of the similarities.
    pub mean: f32,
    /// Their standard deviation.
    pub deviation: f32,
    /// Quantiles as (share of passages below, similarity), ascending.
    pub quantiles: Vec<(f32, f32)>,
}
