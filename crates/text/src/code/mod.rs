//! Source code by its symbols.

use crate::document::{ParseFailure, Passage};
use crate::languages::Grammar;
use crate::lines::Lines;
use crate::read::passage;
use crate::{Kind, Role, by_lines};

/// A parsed file.
pub(crate) struct Code {
    pub(crate) title: Option<String>,
    pub(crate) passages: Vec<Passage>,
    pub(crate) error_lines: usize,
}

pub(crate) fn read(_grammar: Grammar, lines: &Lines<'_>, max_tokens: usize, role: Role) -> Result<Code, ParseFailure> {
    let pieces = by_lines::windows(lines, max_tokens);
    let passages = pieces.iter().map(|piece| passage(lines, piece, Kind::Lines, role)).collect();
    Ok(Code { title: None, passages, error_lines: 0 })
}
