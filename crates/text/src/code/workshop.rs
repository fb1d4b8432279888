//! Parsers, kept from file to file and held to a budget.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, Parser, QueryCursor, Tree};

use super::grammar::{GRAMMARS, language};
use crate::languages::Grammar;

/// What a thread keeps between files.
pub(super) struct Workshop {
    parsers: [Option<Parser>; GRAMMARS],
    pub(super) cursor: QueryCursor,
}

thread_local! {
    static WORKSHOP: RefCell<Workshop> =
        RefCell::new(Workshop { parsers: [const { None }; GRAMMARS], cursor: QueryCursor::new() });
}

impl Workshop {
    pub(super) fn with<Result>(work: impl FnOnce(&mut Workshop) -> Result) -> Result {
        WORKSHOP.with_borrow_mut(work)
    }

    /// The tree of `text`, or none when the parser's budget does not suffice.
    ///
    /// The budget counts the parser's own steps rather than time, so that the same file always gives the same answer.
    pub(super) fn parse(&mut self, grammar: Grammar, text: &str) -> Option<Tree> {
        self.parse_within(grammar, text, Budget::of(text))
    }

    fn parse_within(&mut self, grammar: Grammar, text: &str, budget: Budget) -> Option<Tree> {
        let parser = self.parsers[grammar as usize].get_or_insert_with(Parser::new);
        if parser.language().is_none() {
            parser.set_language(&language(grammar)).ok()?;
        }
        let mut reports = 0;
        let reads = Cell::new(0);
        let mut progress = |_: &tree_sitter::ParseState| {
            reports += 1;
            let exhausted = reports > budget.reports || reads.get() > budget.reads;
            if exhausted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let bytes = text.as_bytes();
        let mut read = |offset: usize, _| {
            reads.set(reads.get() + 1);
            // An early end makes the lexer return, so that the next report can stop the parser.
            let end = if reads.get() > budget.reads { offset } else { (offset + CHUNK).min(bytes.len()) };
            bytes.get(offset..end).unwrap_or_default()
        };
        let tree = parser.parse_with_options(&mut read, None, Some(options)).filter(|_| reads.get() <= budget.reads);
        // A parser that was stopped would go on where it was.
        parser.reset();
        tree
    }
}

/// How much work a parser may do: the reports it makes, one every 100 steps, and the chunks of text it asks for. The
/// second catches what the first does not see, a lexer that reads to the end of the file again and again, looking for
/// the end of a comment that has none.
struct Budget {
    reports: usize,
    reads: usize,
}

/// Bytes that a parser gets at a time.
const CHUNK: usize = 4 << 10;

impl Budget {
    /// Source takes one to two steps a byte (measured: at most 2.0 over the files of 400 packages), text that is no
    /// source at all up to 5.3; this allows 10. Source is read about once, and this allows it 16 times.
    fn of(text: &str) -> Self {
        Self { reports: 2_000 + text.len() / 10, reads: 64 + 16 * (text.len() / CHUNK + 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_stops_the_parser_and_leaves_it_usable() {
        Workshop::with(|workshop| {
            let long = "int a = (1 + 2) * b;\n".repeat(1_000);
            for budget in [Budget { reports: 10, reads: 1_000 }, Budget { reports: 1_000_000, reads: 3 }] {
                assert!(workshop.parse_within(Grammar::Cpp, &long, budget).is_none());
                let tree = workshop.parse(Grammar::Cpp, "int main() {}").map(|tree| tree.root_node().has_error());
                assert_eq!(tree, Some(false));
            }
            assert!(workshop.parse(Grammar::Cpp, &long).is_some());
        });
    }

    #[test]
    fn characters_across_chunks_are_read_whole() {
        Workshop::with(|workshop| {
            for shift in 0..4 {
                let text = format!("// {}{}\nfn f() {{}}\n", "x".repeat(shift), "語".repeat(3_000));
                let tree = workshop.parse(Grammar::Rust, &text).map(|tree| tree.root_node().to_sexp());
                let tree = tree.unwrap_or_default();
                assert!(
                    tree.starts_with("(source_file (line_comment) (function_item") && !tree.contains("ERROR"),
                    "{tree}"
                );
            }
        });
    }

    #[test]
    fn a_comment_without_an_end_takes_no_quadratic_time() {
        Workshop::with(|workshop| assert!(workshop.parse(Grammar::C, &"/* ".repeat(100_000)).is_none()));
    }
}
