//! Source code by its symbols.
//!
//! A file's way: `workshop` parses it, `collect` runs the query that `grammar` has for the language and nests, names and
//! fingerprints the definitions that it finds, `segments` gives every line to one of them, `emit` makes passages of the segments, cut at
//! `boundaries` where they are too large and with a `signature` where they stand apart from their beginning.
//! `references` asks a text, at any time, what it refers to.

mod boundaries;
mod collect;
mod emit;
mod errors;
mod fingerprint;
mod grammar;
mod item;
mod references;
mod segments;
mod signature;
mod title;
mod workshop;

pub use references::{Definition, Reference, ReferenceKind, definitions, references};

use crate::Role;
use crate::document::{ParseFailure, Passage};
use crate::languages::Grammar;
use crate::lines::Lines;
use grammar::Compiled;
use workshop::Workshop;

/// A parsed file.
pub(crate) struct Code {
    pub(crate) title: Option<String>,
    pub(crate) passages: Vec<Passage>,
    /// Lines in which the parser found an error, where they are more than a few.
    pub(crate) error_lines: usize,
}

/// Divides a file by its symbols, unless it does not parse.
pub(crate) fn read(grammar: Grammar, lines: &Lines<'_>, max_tokens: usize, role: Role) -> Result<Code, ParseFailure> {
    let compiled = Compiled::get(grammar);
    Workshop::with(|workshop| {
        let tree = workshop.parse(grammar, lines.text).ok_or(ParseFailure::TooMuchWork)?;
        let error_lines = errors::lines(&tree)
            .filter(|errors| !errors::are_too_many(*errors, lines))
            .ok_or(ParseFailure::TooManyErrors)?;
        let collected = collect::collect(&mut workshop.cursor, compiled, &tree, lines, max_tokens);
        let segments = segments::segments(lines, &collected.items);
        let emission = emit::Emission {
            tree: &tree,
            lines,
            items: &collected.items,
            leads: &collected.leads,
            max_tokens,
            role,
            naming: &compiled.naming,
        };
        let error_lines = if errors::are_notable(error_lines, lines) { error_lines } else { 0 };
        Ok(Code { title: title::title(grammar, lines), passages: emission.passages(&segments), error_lines })
    })
}
