//! Answers for the printers' tests, and a page with a width.

use crate::page::Page;
use std::collections::BTreeMap;
use std::io::{self, Write};
use tamis::search::{Copy, FurtherPassage, IndexReport, Nearest, PoolEntry};
use tamis::{Answer, CutReport, Hit};

/// A page of a terminal.
pub struct NarrowPage {
    /// Columns of the terminal.
    pub columns: usize,
    /// The text so far.
    pub text: Vec<u8>,
}

impl Write for NarrowPage {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Page for NarrowPage {
    fn columns(&self) -> Option<usize> {
        Some(self.columns)
    }
}

/// A result with nothing but its place.
pub fn hit(path: &str, start_line: u32, end_line: u32) -> Hit {
    Hit {
        rank: 1,
        id: "0123456789abcdef".into(),
        collection: "code".into(),
        namespace: "sample".into(),
        shared: false,
        path: path.into(),
        start_line,
        end_line,
        title: None,
        symbol: None,
        kind: "function".into(),
        url: None,
        language: Some("rust".into()),
        author: None,
        dated_at: None,
        attributes: BTreeMap::new(),
        bm25: Some(3.2),
        similarity: Some(0.61),
        score: 0.8,
        judged: None,
        judged_relevant: None,
        probability: None,
        snippet: String::new(),
        snippet_line: start_line,
        highlights: Vec::new(),
        entry: format!("sample/{path}"),
        passages: Vec::new(),
        copies: Vec::new(),
    }
}

/// Another passage of a result with nothing but its place.
pub fn further_passage(start_line: u32, end_line: u32) -> FurtherPassage {
    FurtherPassage {
        id: "fedcba9876543210".into(),
        start_line,
        end_line,
        title: None,
        symbol: None,
        kind: "function".into(),
        author: None,
        dated_at: None,
        score: 0.7,
        snippet: String::new(),
        highlights: Vec::new(),
    }
}

/// A near-copy in another document.
pub fn copy(path: &str) -> Copy {
    Copy { id: "0011223344556677".into(), namespace: "sample".into(), path: path.into(), start_line: 8, end_line: 12 }
}

/// An entry below the line with nothing but its place.
pub fn nearest(path: &str, start_line: u32) -> Nearest {
    Nearest {
        id: "8899aabbccddeeff".into(),
        namespace: "sample".into(),
        path: path.into(),
        start_line,
        end_line: start_line + 4,
        title: None,
        symbol: None,
        kind: "function".into(),
        probability: None,
        judged_relevant: None,
    }
}

/// An answer without results.
pub fn answer() -> Answer {
    Answer {
        query: "lock".into(),
        query_id: None,
        language_hint: None,
        mode_used: "hybrid".into(),
        fallback_reason: None,
        pending_model: None,
        warnings: Vec::new(),
        partial: false,
        missing_namespaces: Vec::new(),
        model: Some("static".into()),
        results: Vec::new(),
        cut: CutReport {
            method: "background".into(),
            keep: 0,
            threshold: None,
            reason: "there are no candidates".into(),
            candidates: 0,
            dropped: 0,
            dropped_non_finite: 0,
            diagnostics: BTreeMap::new(),
            probabilities: Vec::new(),
        },
        summary: "Nothing matches.".into(),
        nearest: Vec::new(),
        missing_words: Vec::new(),
        timings_ms: BTreeMap::new(),
        index: IndexReport { passages: 1, embedded: 1, stale: Some(0), namespaces: vec!["sample".into()] },
        pool: None,
    }
}

/// A candidate of a pool.
pub fn entry(path: &str, score: f64, kept: bool) -> PoolEntry {
    PoolEntry {
        kept,
        rank: None,
        namespace: "sample".into(),
        distance_factor: 1.0,
        age_days: None,
        decay: 1.0,
        path: path.into(),
        start_line: 7,
        title: None,
        symbol: None,
        kind: "function".into(),
        collection: "code".into(),
        language: None,
        dated_at: None,
        attributes: BTreeMap::new(),
        passages: 1,
        copies: 0,
        role: "source".into(),
        bm25: Some(4.0 * score),
        similarity: Some(score),
        coverage: Some(0.5),
        score,
        exact: None,
        added: 0.0,
        judged: None,
        probability: None,
        evidence: Vec::new(),
    }
}
