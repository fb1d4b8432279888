//! Rules that judge each candidate by itself, before there is a list.

use serde::{Deserialize, Serialize};

/// The raw scores of one candidate, before fusion and reranking. What is not known is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RawScores {
    /// Cosine similarity to the query, −1 to 1.
    pub similarity: Option<f64>,
    /// Share of the query's IDF mass that the candidate matches, 0 to 1.
    pub coverage: Option<f64>,
    /// The similarity that the candidate's own language asks for, or the query's where it names a language.
    pub threshold: Option<f64>,
}

/// Whether a rule admits a candidate, and by what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// It is similar enough.
    Similarity,
    /// It is not, or has no similarity, and holds enough of the query's words.
    Words,
    /// Neither.
    Refused,
}

/// How many candidates were admitted, and by what.
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
