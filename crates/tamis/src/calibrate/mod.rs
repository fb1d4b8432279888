//! Similarity thresholds by language: which one holds, and where they come from.

mod thresholds;

pub use thresholds::{ThresholdSource, Thresholds};
