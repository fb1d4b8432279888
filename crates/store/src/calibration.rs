//! Similarity thresholds that were measured on what a store holds.

/// The threshold of a language under one model.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Calibration {
    /// Canonical name of the language.
    pub language: String,
    /// The cosine similarity from which on two passages count as alike.
    pub threshold: f64,
    /// Passages that it was measured on.
    pub sample_size: u64,
    /// Who provides the model.
    pub provider: String,
    /// The model.
    pub model: String,
    /// When, in milliseconds since 1970.
    pub calibrated_at_ms: i64,
}
