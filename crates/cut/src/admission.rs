//! Rules that judge each candidate alone, before there is a list.

use serde::{Deserialize, Serialize};

use crate::pool::Pool;

/// The raw scores of one candidate, before fusion and reranking. Unknown scores are `None`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RawScores {
    /// Cosine similarity to the query, −1 to 1.
    pub similarity: Option<f64>,
    /// Share of the query's IDF mass that the candidate matches, 0 to 1.
    pub coverage: Option<f64>,
    /// Similarity that the candidate's language requires, or the query's language where it names one.
    pub threshold: Option<f64>,
}

/// A rule's decision on one candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// Admitted: similar enough.
    Similarity,
    /// Admitted for the query's words it contains, without enough similarity.
    Words,
    /// Refused.
    Refused,
}

/// Counts of admitted candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Admitted {
    /// By their similarity.
    pub by_similarity: usize,
    /// By their words.
    pub by_words: usize,
}

impl Admitted {
    /// All of them.
    pub fn total(&self) -> usize {
        self.by_similarity + self.by_words
    }
}

impl FromIterator<Admission> for Admitted {
    fn from_iter<I: IntoIterator<Item = Admission>>(admissions: I) -> Self {
        admissions.into_iter().fold(Admitted::default(), |mut admitted, admission| {
            match admission {
                Admission::Similarity => admitted.by_similarity += 1,
                Admission::Words => admitted.by_words += 1,
                Admission::Refused => {}
            }
            admitted
        })
    }
}

impl Pool {
    /// The pool with the number of first candidates that the rule admitted by their raw scores
    /// ([`Rule::admits`](crate::Rule::admits)).
    pub fn with_admitted(self, admitted: Admitted) -> Self {
        self.with(admitted)
    }

    /// Counts of the first candidates that were admitted before the list was made, where the rule was asked.
    pub fn admitted(&self) -> Option<Admitted> {
        self.get().copied()
    }
}
