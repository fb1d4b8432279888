//! Queries to the two retrievers, and their answers.

use crate::record::{DocumentId, PassageId};

/// A query to the lexical retriever.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LexicalQuery {
    /// Free text: words, identifiers, an error message. It has no operators; any term may match.
    pub text: String,
}

impl LexicalQuery {
    /// Makes a query from a text.
    pub fn new(text: impl Into<String>) -> LexicalQuery {
        LexicalQuery { text: text.into() }
    }
}

/// The answer of the lexical retriever.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LexicalHits {
    /// The hits, best first; equal scores by namespace, path and position.
    pub hits: Vec<LexicalHit>,
    /// The query as the retriever understood it, with the background of its scores.
    pub statistics: LexicalStatistics,
}

/// A passage that the lexical retriever found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LexicalHit {
    /// The passage.
    pub passage: PassageId,
    /// Its document.
    pub document: DocumentId,
    /// Its score.
    pub score: LexicalScore,
}

/// The lexical score of a passage.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LexicalScore {
    /// Okapi BM25 with k1 = 1.2 and b = 0.75; 0 when no term matches.
    pub bm25: f32,
    /// The matching share of the query's IDF mass, 0 to 1. Terms in more than half of the passages do not count; a term that no
    /// passage has counts with the highest IDF.
    pub coverage: f32,
}

/// A query's terms and their frequencies.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LexicalStatistics {
    /// The terms, in query order.
    pub terms: Vec<TermStatistics>,
    /// Passages that pass the filter.
    pub passages: u64,
    /// Passages of the filter's namespaces in the lexical index, the basis of the document frequencies.
    pub indexed: u64,
    /// The expected score of a random passage: the sum of document frequency / passages · IDF over the terms. It is the mean of
    /// BM25 if each occurring term occurs once, in a passage of average length.
    pub expected_score: f32,
}

/// A term of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct TermStatistics {
    /// The term, in lower case.
    pub term: String,
    /// Passages of the filter's namespaces with the term.
    pub document_frequency: u64,
    /// ln(1 + (N − n + 0.5) / (n + 0.5)) for N passages, n of them with the term.
    pub idf: f32,
    /// True for an identifier whose parts are terms too. It scores; its parts make the coverage.
    pub compound: bool,
}

/// A word of the index that is spelled almost like one that it does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearWord {
    /// The word, in lower case, as a passage has it.
    pub word: String,
    /// The edits between the two: letters added, left out or replaced, and neighbours swapped.
    pub distance: usize,
    /// Passages of the filter's namespaces with a form of the word in their text.
    pub passages: u64,
}

/// The answer of the semantic retriever.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Nearest {
    /// The hits, most similar first; equal ones by namespace, path and position.
    pub hits: Vec<SemanticHit>,
    /// The similarity of the query to everything that passes the filter.
    pub background: Background,
}

/// A passage that the semantic retriever found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SemanticHit {
    /// The passage.
    pub passage: PassageId,
    /// Its document.
    pub document: DocumentId,
    /// The cosine similarity of the full-precision vectors, -1 to 1.
    pub similarity: f32,
}

/// The distribution of a query's similarity to all passages.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Background {
    /// Passages measured.
    pub count: u64,
    /// True if they are a sample of the passages that pass the filter.
    pub sampled: bool,
    /// The mean similarity.
    pub mean: f32,
    /// Their standard deviation.
    pub deviation: f32,
}
