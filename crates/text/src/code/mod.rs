//! Source code by its symbols.
//!
//! `parsers` parses a file. `collect` runs the compiled query of the language (`queries`), and nests, names and fingerprints
//! the definitions that it finds. `segments` gives every line to one of them. `emit` turns segments into passages, split at
//! `boundaries` where they are too large, and with a `signature` where they are separate from their beginning.
//! `references` finds the names that a text refers to, `outline` lists its symbols.

mod boundaries;
mod collect;
mod emit;
mod errors;
mod fingerprint;
mod item;
mod outline;
mod parsers;
mod queries;
mod references;
mod segments;
mod signature;
mod symbols;
mod title;

pub use outline::{OutlineSymbol, outline};
pub use references::{definitions, references};
pub use symbols::{Definition, Reference, ReferenceKind};

use crate::Role;
use crate::bound;
use crate::document::{ParseFailure, Passage};
use crate::languages::Grammar;
use crate::lines::Lines;
use parsers::Parsers;
use queries::Definitions;

/// A parsed file.
pub(crate) struct Code {
    pub(crate) title: Option<String>,
    pub(crate) passages: Vec<Passage>,
    /// Lines in which the parser found an error; 0 for a few.
    pub(crate) error_lines: usize,
}

/// Divides a file by its symbols, unless it does not parse.
pub(crate) fn read(
    grammar: &'static Grammar,
    lines: &Lines<'_>,
    max_tokens: usize,
    role: Role,
) -> Result<Code, ParseFailure> {
    let query = Definitions::get(grammar);
    Parsers::with(|parsers| {
        let tree = parsers.parse(grammar, lines.text).ok_or(ParseFailure::TooMuchWork)?;
        let error_lines =
            errors::lines(&tree).filter(|errors| !errors::are_too_many(*errors, lines)).ok_or_else(|| {
                if bound::is_exceeded() { ParseFailure::TooMuchWork } else { ParseFailure::TooManyErrors }
            })?;
        let collected = collect::collect(&mut parsers.cursor, query, &tree, lines, max_tokens);
        let segments = segments::segments(lines, &collected.items);
        let emission = emit::Emission {
            tree: &tree,
            lines,
            items: &collected.items,
            leads: &collected.leads,
            max_tokens,
            role,
            naming: &grammar.naming,
        };
        let error_lines = if errors::are_notable(error_lines, lines) { error_lines } else { 0 };
        let code = Code { title: title::title(grammar, lines), passages: emission.passages(&segments), error_lines };
        if bound::is_exceeded() { Err(ParseFailure::TooMuchWork) } else { Ok(code) }
    })
}
