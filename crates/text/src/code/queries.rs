//! The compiled queries of each grammar, which find definitions and references in its trees.

use std::sync::{LazyLock, OnceLock};

use streaming_iterator::StreamingIterator;
use tree_sitter::{CaptureQuantifier, Node, Query, QueryCursor, QueryCursorOptions, QueryCursorState, Tree};

use super::collect::ItemKind;
use super::references::ReferenceKind;
use crate::languages::{Grammar, LANGUAGES};
use crate::limits;

/// The meaning of a capture in a query for definitions or for references.
#[derive(Clone, Copy, PartialEq)]
pub enum Capture {
    /// The name that is defined or referred to.
    Name,
    /// The owner of the name that does not enclose it: a receiver.
    Scope,
    /// The namespace of everything that follows.
    Namespace,
    /// The whole definition.
    Definition(ItemKind),
    /// A node around a definition that is part of it: its decorators, its `export`.
    Wrap,
    /// A comment or an attribute, which belongs to the definition directly below it.
    Lead,
    /// The whole reference to the name.
    Reference(ReferenceKind),
    /// Nothing of interest here.
    Other,
}

/// The compiled queries of one grammar.
struct Compiled {
    grammar: &'static Grammar,
    definitions: OnceLock<Queries>,
    references: OnceLock<Queries>,
}

/// Every grammar. A query takes long to compile, so each is compiled on first use.
static COMPILED: LazyLock<Vec<Compiled>> = LazyLock::new(|| {
    limits::count_memory();
    let mut compiled: Vec<Compiled> = Vec::new();
    for grammar in LANGUAGES.iter().filter_map(|language| language.grammar()) {
        if !compiled.iter().any(|known| known.grammar == grammar) {
            compiled.push(Compiled { grammar, definitions: OnceLock::new(), references: OnceLock::new() });
        }
    }
    compiled
});

fn compiled(grammar: &Grammar) -> &'static Compiled {
    COMPILED.iter().find(|known| known.grammar == grammar).expect("a grammar belongs to a language of the table")
}

/// The queries of one purpose as one.
pub struct Queries {
    pub query: Query,
    /// By capture index.
    pub captures: Vec<Capture>,
    pub grammar: &'static Grammar,
}

/// Partial matches that the query may keep. A file that needs more loses some definitions, but no lines.
const MATCH_LIMIT: u32 = 4_096;

impl Queries {
    pub fn definitions(grammar: &'static Grammar) -> &'static Self {
        compiled(grammar).definitions.get_or_init(|| {
            use Capture::{Definition, Lead, Namespace, Wrap};
            let matters = |capture| matches!(capture, Definition(_) | Wrap | Lead | Namespace);
            Self::new(grammar, grammar.definitions, matters)
        })
    }

    pub fn references(grammar: &'static Grammar) -> &'static Self {
        let matters = |capture| matches!(capture, Capture::Reference(_));
        compiled(grammar).references.get_or_init(|| Self::new(grammar, grammar.references, matters))
    }

    /// Patterns without a capture that matters are switched off, since they cost time and find nothing.
    /// Calls `each` with the captures of every match, up to the bound.
    pub fn each_match<'tree>(
        &self,
        cursor: &mut QueryCursor,
        depth: Option<u32>,
        tree: &'tree Tree,
        text: &str,
        mut each: impl FnMut(&mut dyn Iterator<Item = (Capture, Node<'tree>)>),
    ) {
        cursor.set_match_limit(MATCH_LIMIT);
        cursor.set_max_start_depth(depth);
        let mut progress = |_: &QueryCursorState| limits::progress();
        let options = QueryCursorOptions::new().progress_callback(&mut progress);
        let mut matches = cursor.matches_with_options(&self.query, tree.root_node(), text.as_bytes(), options);
        while let Some(matched) = matches.next() {
            if limits::is_exceeded() {
                break;
            }
            let captures = matched.captures().iter();
            each(&mut captures.map(|capture| (self.captures[capture.index as usize], capture.node)));
        }
    }

    fn new(grammar: &'static Grammar, sources: &[&str], matters: impl Fn(Capture) -> bool) -> Self {
        // The queries are part of this program, and a test compiles each of them.
        let source = without_documentation(&sources.join("\n"));
        let mut query = Query::new(&(grammar.language)(), &source).expect("the query is valid for its grammar");
        let captures: Vec<Capture> = query.capture_names().iter().map(|name| capture(name)).collect();
        for pattern in 0..query.pattern_count() {
            let quantifiers = query.capture_quantifiers(pattern).iter();
            let mut occurring =
                quantifiers.zip(&captures).filter(|(quantifier, _)| **quantifier != CaptureQuantifier::Zero);
            if !occurring.any(|(_, capture)| matters(*capture)) {
                query.disable_pattern(pattern);
            }
        }
        Self { query, captures, grammar }
    }
}

/// Removes the patterns that gather the comments above a definition, which take time quadratic in the number of consecutive
/// comments. Comments have a pattern of their own here.
fn without_documentation(source: &str) -> String {
    let mut kept = String::with_capacity(source.len());
    let mut after_comments = false;
    for line in source.lines() {
        let text = line.trim();
        let gathers = text == "(comment)* @doc";
        let of_documentation = text.starts_with("(#") && text.contains(" @doc ");
        let anchors = after_comments && text == ".";
        if !(gathers || of_documentation || anchors) {
            kept.push_str(line);
            kept.push('\n');
        }
        after_comments = gathers;
    }
    kept
}

fn capture(name: &str) -> Capture {
    match name {
        "name" => Capture::Name,
        "scope" => Capture::Scope,
        "namespace" => Capture::Namespace,
        "wrap" => Capture::Wrap,
        "lead" => Capture::Lead,
        "reference.call" | "reference.send" => Capture::Reference(ReferenceKind::Call),
        "reference.implementation" | "reference.interface" => Capture::Reference(ReferenceKind::Implementation),
        "reference.type" | "reference.class" => Capture::Reference(ReferenceKind::Type),
        _ => match name.strip_prefix("definition.").and_then(ItemKind::of_tag) {
            Some(kind) => Capture::Definition(kind),
            None => Capture::Other,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_query_compiles_and_finds_names_and_comments() {
        for language in LANGUAGES {
            let Some(grammar) = language.grammar() else { continue };
            let captures = &Queries::definitions(grammar).captures;
            assert!(captures.contains(&Capture::Name), "{}", language.name);
            assert!(captures.contains(&Capture::Lead), "{}", language.name);
            for source in [grammar.definitions, grammar.references] {
                assert!(!without_documentation(&source.join("\n")).contains("@doc"), "{}", language.name);
            }
            let functions = [ItemKind::Function, ItemKind::Method].map(Capture::Definition);
            let has_functions = functions.iter().any(|function| captures.contains(function));
            assert!(has_functions || language.name == "hcl", "{}", language.name);
            let calls = Capture::Reference(ReferenceKind::Call);
            let has_calls = Queries::references(grammar).captures.contains(&calls);
            assert!(has_calls || language.name == "protobuf", "{}", language.name);
        }
    }
}
