//! A passage on its way through a search.

use std::sync::Arc;
use tamis_rank::{Adjustment, Evidence, ExactFind};
use tamis_store::{PassageId, StoredPassage};

/// The raw scores of a passage under one phrasing of the query.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Scores {
    /// Raw cosine similarity, in full precision.
    pub similarity: Option<f64>,
    /// Raw BM25, 0 if no term matches.
    pub bm25: Option<f64>,
    /// Share of the query's IDF mass that matches.
    pub coverage: Option<f64>,
}

impl Scores {
    /// Returns the scores adjusted by language and age.
    pub fn evidence(&self, adjustment: Adjustment) -> Evidence {
        Evidence {
            similarity: self.similarity.map(|similarity| adjustment.similarity(similarity)),
            bm25: self.bm25.map(|bm25| adjustment.bm25(bm25)),
        }
    }
}

/// A passage that a search considers, with what is known of it so far.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub passage: Arc<StoredPassage>,
    pub scores: Scores,
    /// Share of the query's required terms that it holds; `None` where the query has none.
    pub required: Option<f64>,
    /// What it is, if it is exactly what the query asks for.
    pub exact: Option<ExactFind>,
    /// Its place among the exact finds that come first.
    pub first: Option<usize>,
    /// The adjustment by language and age.
    pub adjustment: Adjustment,
    /// The decay factor of its age, in (0, 1].
    pub decay: f64,
    /// True if it falls short of the threshold of its language.
    pub short: bool,
    /// Its place in the ranking of passages.
    pub place: usize,
    /// The value that ranks it.
    pub score: f64,
    /// The value that a cut reads; it differs from the score if reciprocal ranks order.
    pub value: f64,
    /// Its similarity to the query under the better model, as a share of what a passage on the query's subject has, if that model has
    /// embedded it.
    pub late: Option<f64>,
    /// True if people said for this question that it answers, false if they said that it does not.
    pub label: Option<bool>,
    /// True if no answer shows it below the best passage of its entry: a comment that says nothing, or what people refused.
    pub hidden: bool,
}

impl Candidate {
    /// A passage of which only the raw scores are known.
    pub fn new(passage: impl Into<Arc<StoredPassage>>, scores: Scores) -> Self {
        Candidate {
            passage: passage.into(),
            scores,
            required: None,
            exact: None,
            first: None,
            adjustment: Adjustment::of(1.0, 1.0),
            decay: 1.0,
            short: false,
            place: 0,
            score: 0.0,
            value: 0.0,
            late: None,
            label: None,
            hidden: false,
        }
    }

    /// A passage that a score alone ranks.
    pub fn ranked_by(self, score: f64) -> Self {
        Candidate { score, value: score, ..self }
    }

    pub fn id(&self) -> PassageId {
        self.passage.passage
    }

    /// Returns the raw scores, adjusted by language and age.
    pub fn evidence(&self) -> Evidence {
        self.scores.evidence(self.adjustment)
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
