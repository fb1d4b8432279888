//! A passage as it moves through a search.

use std::sync::Arc;
use tamis_rank::{Adjustment, Evidence, ExactFind};
use tamis_store::{PassageId, StoredPassage};

/// A passage that a leg proposed, with the values known so far.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub passage: PassageId,
    /// Raw cosine similarity, in full precision.
    pub similarity: Option<f64>,
    /// Raw BM25, 0 if no term matches.
    pub bm25: Option<f64>,
    /// Share of the query's IDF mass that matches.
    pub coverage: Option<f64>,
    /// Share of the query's required terms that it holds; `None` where the query has none.
    pub required: Option<f64>,
    /// What it is, if it is exactly what the query asks for.
    pub exact: Option<ExactFind>,
}

impl Candidate {
    pub fn new(passage: PassageId) -> Self {
        Candidate { passage, similarity: None, bm25: None, coverage: None, required: None, exact: None }
    }

    /// Returns the raw scores, adjusted by language and age.
    pub fn evidence(&self, adjustment: Adjustment) -> Evidence {
        Evidence {
            similarity: self.similarity.map(|similarity| adjustment.similarity(similarity)),
            bm25: self.bm25.map(|bm25| adjustment.bm25(bm25)),
        }
    }
}

/// A candidate with its text and the value that ranks it.
#[derive(Clone, Debug)]
pub(super) struct Ranked {
    pub candidate: Candidate,
    pub passage: Arc<StoredPassage>,
    /// The adjustment by language and age.
    pub adjustment: Adjustment,
    /// The decay factor of its age, in (0, 1].
    pub decay: f64,
    /// The value that ranks it.
    pub score: f64,
    /// The value that a cut reads; it differs from the score if reciprocal ranks order.
    pub value: f64,
    /// The part of the score that the other passages of its entry and the name of its file gave. It is negative where other entries
    /// gained more.
    pub added: f64,
    /// Its place among the exact finds that come first.
    pub first: Option<usize>,
    /// Its similarity to the query under the better model, if it has a vector of it or a search made one.
    pub late: Option<f64>,
    /// The probability that a reranker gave it, if one read it.
    pub judged: Option<f64>,
    /// True if people said for this question that it answers, false if they said that it does not. For a passage that stands for
    /// an entry, this is said of the entry.
    pub judged_relevant: Option<bool>,
}

impl Ranked {
    /// A candidate that a score alone ranks.
    pub fn new(candidate: Candidate, passage: Arc<StoredPassage>, score: f64) -> Self {
        Ranked {
            candidate,
            passage,
            adjustment: Adjustment::of(1.0, 1.0),
            decay: 1.0,
            score,
            value: score,
            added: 0.0,
            first: None,
            late: None,
            judged: None,
            judged_relevant: None,
        }
    }
}

#[cfg(test)]
pub(super) mod test_support {
    use super::StoredPassage;
    use tamis_store::{DocumentId, PassageId, TextForm, TextHash};

    /// A paragraph of a document of its own.
    pub(in super::super) fn passage(number: u64, path: &str, text: &str) -> StoredPassage {
        StoredPassage {
            passage: PassageId(number),
            id: number.to_string(),
            document: DocumentId(number as u32),
            namespace: "here".into(),
            collection: "docs".into(),
            path: path.into(),
            title: None,
            modified_ns: 0,
            dated_ns: None,
            severity: None,
            author: None,
            part: None,
            ordinal: 0,
            start_line: 1,
            end_line: 1,
            kind: "paragraph".into(),
            symbol: None,
            heading: None,
            context: None,
            text: text.into(),
            language: None,
            role: "main".into(),
            form: TextForm::Prose,
            text_hash: TextHash::of(text),
        }
    }
}
