//! BM25: what scores a match. Tantivy fixes k1 = 1.2 and b = 0.75 and computes the score of a term with frequency t in a passage
//! of length d as idf · t (k1 + 1) / (t + k1 (1 − b + b d / average)). The statistics are ours: those of the namespaces searched.

use std::collections::HashMap;

use tantivy::Term;
use tantivy::query::{Bm25StatisticsProvider, Bm25Weight};
use tantivy::schema::Field;

use super::analysis::parts_of;

/// The weight of a term in a field of this average length.
pub(super) fn weight(document_frequency: u64, passages: u64, average: f32) -> Bm25Weight {
    Bm25Weight::for_one_term_without_explain(document_frequency, passages, average)
}

/// Passages, tokens and document frequencies for scoring. A word's frequency is its total over all forms and all namespaces
/// searched.
pub(super) struct Statistics {
    pub passages: u64,
    pub tokens: HashMap<Field, u64>,
    /// By the form of the word.
    pub frequencies: HashMap<String, u64>,
}

impl Statistics {
    /// The average length of a field.
    pub fn average(&self, field: Field) -> f32 {
        self.tokens.get(&field).copied().unwrap_or(0) as f32 / self.passages as f32
    }
}

impl Bm25StatisticsProvider for Statistics {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        Ok(self.tokens.get(&field).copied().unwrap_or(0))
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.passages)
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        let value = term.value();
        let (form, _) = value.as_str().and_then(parts_of).unwrap_or_default();
        Ok(self.frequencies.get(form).copied().unwrap_or(0))
    }
}

/// ln(1 + (N − n + 0.5) / (n + 0.5)), which is positive for any n ≤ N.
pub(super) fn idf(passages: u64, frequency: u64) -> f32 {
    let (passages, frequency) = (passages as f64, frequency.min(passages) as f64);
    (1.0 + (passages - frequency + 0.5) / (frequency + 0.5)).ln() as f32
}

#[cfg(test)]
mod tests {
    use super::idf;

    #[test]
    fn idf_is_highest_for_what_nobody_has_and_never_negative() {
        assert!((idf(10, 0) - (1.0f32 + 10.5 / 0.5).ln()).abs() < 1e-6);
        assert!(idf(10, 1) < idf(10, 0));
        assert!(idf(10, 10) > 0.0);
        assert!(idf(0, 0) > 0.0);
        assert!(idf(3, 7) > 0.0);
    }
}
