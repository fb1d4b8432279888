//! The grammars, and the queries that find the definitions in their trees.

use std::cell::RefCell;
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
        Grammar::Rust => ("::", 12),
        Grammar::Cpp => ("::", 20),
        Grammar::C => ("::", 16),
        Grammar::Java => (".", 14),
        Grammar::Python => (".", 14),
        Grammar::Go => (".", 8),
        Grammar::JavaScript | Grammar::TypeScript | Grammar::Tsx => (".", 16),
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
        let parser = self.parsers[grammar as usize].get_or_insert_with(Parser::new);
        if parser.language().is_none() {
            parser.set_language(&language(grammar)).ok()?;
        }
        let mut left = CALLS + text.len() / BYTES_A_CALL;
        let mut progress = |_: &tree_sitter::ParseState| match left.checked_sub(1) {
            Some(rest) => {
                left = rest;
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(()),
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let bytes = text.as_bytes();
        let tree =
            parser.parse_with_options(&mut |offset, _| bytes.get(offset..).unwrap_or_default(), None, Some(options));
        if tree.is_none() {
            // A parser that was stopped would go on where it was.
            parser.reset();
        }
        tree
    }
}

/// The parser reports every 100 of its steps. Ordinary source takes a step every one to three bytes; error recovery on
/// text that is not source at all takes hundreds a byte.
const CALLS: usize = 2_000;
const BYTES_A_CALL: usize = 10;

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
            let hostile = "if(a){[(<".repeat(40_000);
            assert!(workshop.parse(Grammar::Cpp, &hostile).is_none());
            let tree = workshop.parse(Grammar::Cpp, "int main() {}").map(|tree| tree.root_node().has_error());
            assert_eq!(tree, Some(false));
        });
    }
}
