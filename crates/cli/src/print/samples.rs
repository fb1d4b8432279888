//! Answers for the printers' tests, and a page with a width.

use crate::layout::Page;
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
        path: path.into(),
        start_line,
        end_line,
        kind: "function".into(),
        language: Some("rust".into()),
        bm25: Some(3.2),
        similarity: Some(0.61),
        score: 0.8,
        snippet_line: start_line,
        entry: format!("sample/{path}"),
        ..Hit::default()
    }
}

/// Another passage of a result with nothing but its place.
pub fn further_passage(start_line: u32, end_line: u32) -> FurtherPassage {
    FurtherPassage {
        id: "fedcba9876543210".into(),
        start_line,
        end_line,
        kind: "function".into(),
        score: 0.7,
        ..FurtherPassage::default()
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
        kind: "function".into(),
        ..Nearest::default()
    }
}

/// An answer without results.
pub fn answer() -> Answer {
    Answer {
        query: "lock".into(),
        mode_used: "hybrid".into(),
        model: Some("static".into()),
        cut: CutReport {
            method: "background".into(),
            reason: "there are no candidates".into(),
            ..CutReport::default()
        },
        summary: "Nothing matches.".into(),
        index: IndexReport { passages: 1, embedded: 1, stale: Some(0), namespaces: vec!["sample".into()] },
        ..Answer::default()
    }
}

/// A candidate of a pool.
pub fn entry(path: &str, score: f64, kept: bool) -> PoolEntry {
    PoolEntry {
        kept,
        namespace: "sample".into(),
        distance_factor: 1.0,
        decay: 1.0,
        path: path.into(),
        start_line: 7,
        kind: "function".into(),
        collection: "code".into(),
        passages: 1,
        role: "source".into(),
        bm25: Some(4.0 * score),
        similarity: Some(score),
        coverage: Some(0.5),
        score,
        ..PoolEntry::default()
    }
}
