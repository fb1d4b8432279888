//! Similarity thresholds by language: which one holds, and how they are measured.
//!
//! Two symbols of one file mostly have to do with each other, two of different files mostly have not. How similar either kind
//! of pair is under a model says what a similarity is worth there. A calibration looks up the symbols of a language
//! ([`symbols`]), draws pairs of both kinds ([`pairs`]), takes a threshold from their similarities ([`statistics`]) and
//! writes it down ([`run`]); a search asks [`thresholds`] which one holds.

mod pairs;
mod report;
mod run;
mod statistics;
mod symbols;
mod thresholds;

pub use report::{CalibrateReport, CalibrateRequest, LanguageCalibration, Outcome};
pub use statistics::{CalibrateMethod, Measurement};
pub use thresholds::{ThresholdSource, Thresholds};
