//! A thread's parsers, kept from file to file, and the budget of each parse.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, Parser, QueryCursor, Tree};

use crate::languages::Grammar;
use crate::limits;
use crate::lines::Lines;

/// The parsers and the query cursor that a thread keeps between files.
pub struct Parsers {
    parsers: Vec<(&'static Grammar, Parser)>,
    pub cursor: QueryCursor,
}

thread_local! {
    static PARSERS: RefCell<Parsers> = RefCell::new(Parsers::new());
}

impl Parsers {
    fn new() -> Self {
        limits::count_memory();
        Self { parsers: Vec::new(), cursor: QueryCursor::new() }
    }

    /// Works on a file with the parsers of this thread, within the bound of a file.
    pub fn with<Result>(work: impl FnOnce(&mut Parsers) -> Result) -> Result {
        PARSERS.with_borrow_mut(|parsers| {
            let result = limits::bounded(|| work(parsers));
            if limits::keeps_much() {
                *parsers = Self::new();
            }
            result
        })
    }

    /// The tree of `text`, or `None` if the budget runs out.
    ///
    /// The budget counts the parser's steps, so that the same file always gives the same tree. Where few steps take long or much
    /// memory, the bound of a file stops it.
    pub fn parse(&mut self, grammar: &'static Grammar, text: &str) -> Option<Tree> {
        self.parse_within(grammar, text, Budget::for_text(text))
    }

    fn parse_within(&mut self, grammar: &'static Grammar, text: &str, budget: Budget) -> Option<Tree> {
        let known = self.parsers.iter().position(|(known, _)| *known == grammar);
        let index = match known {
            Some(index) => index,
            None => {
                let mut parser = Parser::new();
                parser.set_language(&(grammar.language)()).ok()?;
                self.parsers.push((grammar, parser));
                self.parsers.len() - 1
            }
        };
        let parser = &mut self.parsers[index].1;
        let parsed = grammar.parsed_text(text);
        let tree = limits::on_large_stack(text.len(), || parse(parser, parsed.as_bytes(), &budget)).flatten();
        if tree.is_none() {
            // It keeps much memory.
            self.parsers.swap_remove(index);
        }
        tree
    }
}

fn parse(parser: &mut Parser, bytes: &[u8], budget: &Budget) -> Option<Tree> {
    let mut reports = 0;
    let reads = Cell::new(0);
    let mut progress = |_: &tree_sitter::ParseState| {
        reports += 1;
        let exhausted = reports > budget.reports || reads.get() > budget.reads;
        if exhausted { ControlFlow::Break(()) } else { limits::progress() }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let mut read = |offset: usize, _| {
        reads.set(reads.get() + 1);
        // An early end makes the lexer return, so that the next report can stop the parser.
        let end = if reads.get() > budget.reads { offset } else { (offset + CHUNK).min(bytes.len()) };
        bytes.get(offset..end).unwrap_or_default()
    };
    let tree = parser.parse_with_options(&mut read, None, Some(options)).filter(|_| reads.get() <= budget.reads);
    // A stopped parser would resume. What it kept needs the large stack.
    parser.reset();
    tree
}

/// The work that a parser may do: progress reports, one every 100 steps, and chunks of text read. The second limit
/// catches a lexer that reads to the end of the file again and again, looking for the end of an unclosed comment.
struct Budget {
    reports: usize,
    reads: usize,
}

/// Bytes that a parser gets at a time.
const CHUNK: usize = 4 << 10;

impl Budget {
    /// Source code takes one to two steps a byte (measured: at most 2.0 over the files of 400 packages), other text up to
    /// 5.3; this allows 10. Source code is read about once, and this allows 16 times.
    fn for_text(text: &str) -> Self {
        Self { reports: 2_000 + text.len() / 10, reads: 64 + 16 * (text.len() / CHUNK + 1) }
    }
}

// The part of a file that the parser could not read.

/// Share of lines with errors above which a file is not in the language of its name.
const SHARE: f64 = 0.4;
/// Share of lines with errors that macros and dialects leave in many C files.
const NOTED_SHARE: f64 = 0.05;

/// A single error of more parts than this takes a query time that is quadratic in their number: it looks for a named
/// sibling after each of them.
const PARTS: u32 = 2_000;

/// The number of lines with errors; `None` if a query of the tree, or counting them, would take too long.
pub fn lines(tree: &Tree) -> Option<usize> {
    let root = tree.root_node();
    if !root.has_error() {
        return Some(0);
    }
    let mut cursor = tree.walk();
    let mut count = 0;
    // Errors come in the order of the text: the line up to which they are counted.
    let mut counted = 0;
    loop {
        let node = cursor.node();
        if (node.is_error() && node.child_count() > PARTS) || limits::is_exceeded() {
            return None;
        }
        if (node.is_error() && node.id() != root.id()) || node.is_missing() {
            let first = node.start_position().row.max(counted);
            let after = node.end_position().row + 1;
            count += after.saturating_sub(first);
            counted = counted.max(after);
        } else if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Some(count);
            }
        }
    }
}

/// Returns `true` if too many lines have errors for the tree to be of use.
pub fn are_too_many(errors: usize, lines: &Lines<'_>) -> bool {
    errors > 1 && share(errors, lines) > SHARE
}

/// Returns `true` if the errors are worth a note.
pub fn are_notable(errors: usize, lines: &Lines<'_>) -> bool {
    share(errors, lines) >= NOTED_SHARE
}

fn share(errors: usize, lines: &Lines<'_>) -> f64 {
    let filled = (0..lines.count()).filter(|row| !lines.is_blank(*row)).count();
    errors as f64 / filled.max(1) as f64
}

#[cfg(all(test, feature = "grammars"))]
mod tests {
    use super::*;
    use crate::Language;

    fn grammar(language: &str) -> &'static Grammar {
        Language::from_name(language).and_then(Language::grammar).expect("a language with a grammar")
    }

    #[test]
    fn a_budget_stops_the_parser_and_leaves_it_usable() {
        Parsers::with(|parsers| {
            let long = "int a = (1 + 2) * b;\n".repeat(1_000);
            for budget in [Budget { reports: 10, reads: 1_000 }, Budget { reports: 1_000_000, reads: 3 }] {
                assert!(parsers.parse_within(grammar("cpp"), &long, budget).is_none());
                let tree = parsers.parse(grammar("cpp"), "int main() {}").map(|tree| tree.root_node().has_error());
                assert_eq!(tree, Some(false));
            }
            assert!(parsers.parse(grammar("cpp"), &long).is_some());
        });
    }

    #[test]
    fn characters_across_chunks_are_read_whole() {
        Parsers::with(|parsers| {
            for shift in 0..4 {
                let text = format!("// {}{}\nfn f() {{}}\n", "x".repeat(shift), "語".repeat(3_000));
                let tree = parsers.parse(grammar("rust"), &text).map(|tree| tree.root_node().to_sexp());
                let tree = tree.unwrap_or_default();
                let is_whole =
                    tree.starts_with("(source_file (line_comment) (function_item") && !tree.contains("ERROR");
                assert!(is_whole, "{tree}");
            }
        });
    }

    #[test]
    fn a_comment_without_an_end_takes_no_quadratic_time() {
        Parsers::with(|parsers| assert!(parsers.parse(grammar("c"), &"/* ".repeat(100_000)).is_none()));
    }
}
