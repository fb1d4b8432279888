//! Similarity thresholds measured on the content of a store.

/// The threshold of a language under one model.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Calibration {
    /// The canonical name of the language.
    pub language: String,
    /// The cosine similarity at which two passages count as similar.
    pub threshold: f64,
    /// The number of passages measured.
    pub sample_size: u64,
    /// The provider of the model.
    pub provider: String,
    /// The model.
    pub model: String,
    /// Time in milliseconds since 1970.
    pub calibrated_at_ms: i64,
}
