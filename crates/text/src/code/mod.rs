//! Source code by its symbols.
//!
//! `parsers` parses a file. `collect` runs the compiled query of the language (`queries`), and nests, names and fingerprints
//! the definitions that it finds. `segments` gives every line to one of them, and finds where to split those that are too large.
//! Here segments become passages, with a `signature` where they are separate from their beginning. `references` finds the names
//! that a text refers to and lists its symbols.

mod collect;
mod parsers;
mod queries;
mod references;
mod segments;
mod signature;

use std::ops::Range;

use tree_sitter::Tree;

use crate::divide::{Piece, pack};
use crate::document::{ParseFailure, Passage, SYMBOL_SEPARATOR};
use crate::languages::{Grammar, Naming};
use crate::lines::{Lines, non_empty};
use crate::{Kind, Role, limits};
use collect::{Item, ItemKind};
use parsers::Parsers;
use queries::Queries;
use segments::{Boundaries, Segment};
use signature::{combined, signature};

pub use references::{Definition, OutlineSymbol, Reference, ReferenceKind, definitions, outline, references};

/// A parsed file.
pub struct Code {
    pub title: Option<String>,
    pub passages: Vec<Passage>,
    /// Lines in which the parser found an error; 0 for a few.
    pub error_lines: usize,
}

/// Divides a file by its symbols, unless it does not parse.
pub fn read(grammar: &'static Grammar, lines: &Lines<'_>, max_tokens: usize, role: Role) -> Result<Code, ParseFailure> {
    let query = Queries::definitions(grammar);
    Parsers::with(|parsers| {
        let tree = parsers.parse(grammar, lines.text).ok_or(ParseFailure::TooMuchWork)?;
        let error_lines =
            parsers::lines(&tree).filter(|errors| !parsers::are_too_many(*errors, lines)).ok_or_else(|| {
                if limits::is_exceeded() { ParseFailure::TooMuchWork } else { ParseFailure::TooManyErrors }
            })?;
        let collected = collect::collect(&mut parsers.cursor, query, &tree, lines, max_tokens);
        let segments = segments::segments(lines, &collected.items, &grammar.naming);
        let emission = Emission {
            tree: &tree,
            lines,
            items: &collected.items,
            leads: &collected.leads,
            max_tokens,
            role,
            naming: &grammar.naming,
        };
        let error_lines = if parsers::are_notable(error_lines, lines) { error_lines } else { 0 };
        let code = Code { title: title(grammar, lines), passages: emission.passages(&segments), error_lines };
        if limits::is_exceeded() { Err(ParseFailure::TooMuchWork) } else { Ok(code) }
    })
}

// Turns segments into passages.

/// Everything needed to make passages.
struct Emission<'a> {
    tree: &'a Tree,
    lines: &'a Lines<'a>,
    items: &'a [Item],
    leads: &'a [bool],
    max_tokens: usize,
    role: Role,
    naming: &'a Naming,
}

impl Emission<'_> {
    fn passages(&self, segments: &[Segment]) -> Vec<Passage> {
        let large: Vec<Range<usize>> = segments
            .iter()
            .filter(|segment| self.is_large(segment))
            .map(|segment| self.lines.start(segment.first)..self.lines.start(segment.last + 1))
            .collect();
        let boundaries = (!large.is_empty()).then(|| Boundaries::new(self.tree, self.lines, self.leads, &large));
        let mut passages = Vec::with_capacity(segments.len());
        for segment in segments {
            match boundaries.as_ref().filter(|_| self.is_large(segment)) {
                None => {
                    let piece = Piece { first: segment.first, last: segment.last, part: None };
                    passages.push(self.passage(&segment.members(), &piece, &(0..usize::MAX), segment.head));
                }
                Some(boundaries) => {
                    let rows = (segment.first, segment.last);
                    let begin = |row: usize| boundaries.badness(self.lines, row);
                    let pieces = pack(self.lines, rows, self.lines.token_sums(), self.max_tokens, begin);
                    self.pieces(segment, &pieces, &mut passages);
                }
            }
        }
        passages
    }

    /// The passages of a segment that is too large for one. Each is about the definitions of which it holds a part, so that
    /// together they do not repeat names more often than the text.
    fn pieces(&self, segment: &Segment, pieces: &[Piece], passages: &mut Vec<Passage>) {
        let members = segment.members();
        let mut from = 0;
        for (index, piece) in pieces.iter().enumerate() {
            let bytes = self.bytes(piece);
            if members.len() <= 1 {
                let head = segment.head && index == 0;
                passages.push(self.passage(&members, piece, &bytes, head));
                continue;
            }
            // The definitions of a segment follow each other.
            while members.get(from).is_some_and(|member| self.items[*member].bytes.end <= bytes.start) {
                from += 1;
            }
            let rest = members.get(from..).unwrap_or_default();
            let count = rest.iter().take_while(|member| self.items[**member].bytes.start < bytes.end).count();
            let here = &rest[..count];
            let head = here.first().is_some_and(|first| self.items[*first].bytes.start >= bytes.start);
            passages.push(self.passage(here, piece, &bytes, head));
        }
    }

    fn bytes(&self, piece: &Piece) -> Range<usize> {
        piece.part.clone().unwrap_or_else(|| self.lines.start(piece.first)..self.lines.start(piece.last + 1))
    }

    fn is_large(&self, segment: &Segment) -> bool {
        self.lines.tokens(segment.first, segment.last) > self.max_tokens
    }

    /// A passage of these definitions, named after their names within `bytes`. `head`: the first one's own
    /// beginning is in the piece.
    fn passage(&self, members: &[usize], piece: &Piece, bytes: &Range<usize>, head: bool) -> Passage {
        let mut passage = piece.passage(self.lines, Kind::Module, self.role);
        let Some(item) = members.first().map(|first| &self.items[*first]) else {
            return passage;
        };
        passage.kind =
            item.passage_kind(item.parent.map(|parent| self.items[parent].kind), self.naming.modules_have_methods);
        if item.test && self.role == Role::Main {
            passage.role = Role::Test;
        }
        let names = members.iter().flat_map(|member| self.items[*member].names_in(bytes));
        passage.symbol = Some(names.collect::<Vec<_>>().join(SYMBOL_SEPARATOR));
        let signature = match members {
            [_] => item.fingerprint.hash,
            _ => combined(members.iter().map(|member| self.items[*member].fingerprint.hash)),
        };
        passage.signature = Some(format!("{signature:016x}"));
        let around = self.enclosing(item).into_iter().chain((!head).then_some(item));
        let mut context: Vec<String> = around.map(|item| self.signature(item)).collect();
        context.retain(|line| !line.is_empty() && !passage.text.contains(line.as_str()));
        passage.context = non_empty(context.join("\n"));
        passage
    }

    /// The nearest definition around an item that says more than its name: not a module.
    fn enclosing(&self, item: &Item) -> Option<&Item> {
        let around = |item: &Item| item.parent.map(|parent| &self.items[parent]);
        std::iter::successors(around(item), |item| around(item)).find(|item| item.kind != ItemKind::Module)
    }

    fn signature(&self, item: &Item) -> String {
        signature(&self.lines.text[item.fingerprint.head..item.bytes.end], self.naming.ends)
    }
}

// The title of a source file, from its first words.

/// Rows at the start of a file in which its documentation begins.
const REACH: usize = 60;
/// Longest title, in characters.
const LENGTH: usize = 160;

/// The first line of the module's documentation, in languages with a convention for it.
fn title(grammar: &Grammar, lines: &Lines<'_>) -> Option<String> {
    let rows: Vec<&str> = (0..lines.count().min(REACH)).map(|row| lines.line(row).trim()).collect();
    let line = grammar.title?(&rows)?.trim_start_matches('#').trim();
    non_empty(line.chars().take(LENGTH).collect())
}

#[cfg(all(test, feature = "grammars"))]
mod tests {
    use super::*;
    use crate::Language;

    #[test]
    fn reads_each_convention() {
        let title = |language, text: &str| {
            let grammar = Language::from_name(language).and_then(Language::grammar).expect("a language with a grammar");
            title(grammar, &Lines::new(text))
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(title("rust", "// licence\n\n//! # The store\n//! more\n"), some("The store"));
        assert_eq!(title("python", "#!/usr/bin/python\n\"\"\"Store things.\"\"\"\n"), some("Store things."));
        assert_eq!(title("python", "\"\"\"\nStore things.\n\"\"\"\n"), some("Store things."));
        assert_eq!(title("python", "import os\n"), None);
        let licensed = "// licence\n\n// Package store keeps.\n// More.\npackage store\n";
        assert_eq!(title("go", licensed), some("Package store keeps."));
        assert_eq!(title("go", "// licence\n\npackage store\n"), None);
        assert_eq!(title("c", "/* x */\n"), None);
    }
}
