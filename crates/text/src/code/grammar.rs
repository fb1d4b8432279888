//! The grammars, and the queries that find the definitions in their trees.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::sync::OnceLock;

use tree_sitter::{CaptureQuantifier, ParseOptions, Parser, Query, QueryCursor, Tree};

use super::item::ItemKind;
use crate::languages::Grammar;

/// What a capture of a query stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Capture {
    /// The name of the definition.
    Name,
    /// What the name belongs to although it does not enclose it: a receiver.
    Scope,
    /// The whole definition.
    Definition(ItemKind),
    /// A node around a definition that belongs to it: its decorators, its `export`.
    Wrap,
    /// A comment or an attribute: what stands directly above a definition belongs to it.
    Lead,
    /// Nothing of interest here.
    Other,
}

/// One grammar with its compiled query.
pub(super) struct Compiled {
    pub(super) query: Query,
    /// By capture index.
    pub(super) captures: Vec<Capture>,
    /// Between the parts of a qualified name.
    pub(super) separator: &'static str,
    /// How deep in the tree definitions are looked for.
    pub(super) depth: u32,
}

impl Compiled {
    pub(super) fn get(grammar: Grammar) -> &'static Self {
        static COMPILED: [OnceLock<Compiled>; GRAMMARS] = [const { OnceLock::new() }; GRAMMARS];
        COMPILED[grammar as usize].get_or_init(|| compile(grammar))
    }
}

/// The number of variants of [`Grammar`].
const GRAMMARS: usize = Grammar::Cpp as usize + 1;

fn language(grammar: Grammar) -> tree_sitter::Language {
    match grammar {
        Grammar::Rust => tree_sitter_rust::LANGUAGE,
        Grammar::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
        Grammar::Tsx => tree_sitter_typescript::LANGUAGE_TSX,
        Grammar::JavaScript => tree_sitter_javascript::LANGUAGE,
        Grammar::Python => tree_sitter_python::LANGUAGE,
        Grammar::Go => tree_sitter_go::LANGUAGE,
        Grammar::Java => tree_sitter_java::LANGUAGE,
        Grammar::C => tree_sitter_c::LANGUAGE,
        Grammar::Cpp => tree_sitter_cpp::LANGUAGE,
    }
    .into()
}

/// The grammar's own tags and the additions to them.
fn sources(grammar: Grammar) -> &'static [&'static str] {
    macro_rules! own {
        ($name:literal) => {
            include_str!(concat!("../../queries/", $name, ".scm"))
        };
    }
    match grammar {
        Grammar::Rust => &[tree_sitter_rust::TAGS_QUERY, own!("rust")],
        Grammar::Python => &[tree_sitter_python::TAGS_QUERY, own!("python")],
        Grammar::Go => &[tree_sitter_go::TAGS_QUERY, own!("go")],
        Grammar::Java => &[tree_sitter_java::TAGS_QUERY, own!("java")],
        Grammar::C => &[tree_sitter_c::TAGS_QUERY, own!("c")],
        Grammar::Cpp => &[tree_sitter_cpp::TAGS_QUERY, own!("c"), own!("cpp")],
        Grammar::JavaScript => &[tree_sitter_javascript::TAGS_QUERY, own!("javascript"), own!("javascript_fields")],
        Grammar::TypeScript | Grammar::Tsx => &[
            tree_sitter_javascript::TAGS_QUERY,
            tree_sitter_typescript::TAGS_QUERY,
            own!("javascript"),
            own!("typescript"),
        ],
    }
}

fn compile(grammar: Grammar) -> Compiled {
    let source = sources(grammar).join("\n");
    // The queries are part of this program: a test compiles each of them.
    let mut query = Query::new(&language(grammar), &source).expect("the query is valid for its grammar");
    let captures: Vec<Capture> = query.capture_names().iter().map(|name| capture(name)).collect();
    // Tags are for references, too; those patterns cost time and give nothing here.
    let useful = |pattern: usize, query: &Query| {
        let quantifiers = query.capture_quantifiers(pattern);
        quantifiers.iter().zip(&captures).any(|(quantifier, capture)| {
            *quantifier != CaptureQuantifier::Zero
                && matches!(capture, Capture::Definition(_) | Capture::Wrap | Capture::Lead)
        })
    };
    for pattern in 0..query.pattern_count() {
        if !useful(pattern, &query) {
            query.disable_pattern(pattern);
        }
    }
    let (separator, depth) = match grammar {
        Grammar::Rust => ("::", 8),
        Grammar::Cpp => ("::", 16),
        Grammar::C => ("::", 12),
        Grammar::Java | Grammar::Python => (".", 10),
        Grammar::Go => (".", 4),
        Grammar::JavaScript | Grammar::TypeScript | Grammar::Tsx => (".", 12),
    };
    Compiled { query, captures, separator, depth }
}

fn capture(name: &str) -> Capture {
    match name {
        "name" => Capture::Name,
        "scope" => Capture::Scope,
        "wrap" => Capture::Wrap,
        "lead" => Capture::Lead,
        _ => match name.strip_prefix("definition.").and_then(ItemKind::of_tag) {
            Some(kind) => Capture::Definition(kind),
            None => Capture::Other,
        },
    }
}

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

    const ALL: [Grammar; GRAMMARS] = [
        Grammar::Rust,
        Grammar::TypeScript,
        Grammar::Tsx,
        Grammar::JavaScript,
        Grammar::Python,
        Grammar::Go,
        Grammar::Java,
        Grammar::C,
        Grammar::Cpp,
    ];

    #[test]
    fn every_query_compiles_and_finds_names_and_comments() {
        for grammar in ALL {
            let compiled = Compiled::get(grammar);
            assert!(compiled.captures.contains(&Capture::Name), "{grammar:?}");
            assert!(compiled.captures.contains(&Capture::Lead), "{grammar:?}");
            assert!(compiled.captures.contains(&Capture::Definition(ItemKind::Type)), "{grammar:?}");
        }
    }

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
