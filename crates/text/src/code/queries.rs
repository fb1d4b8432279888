//! The compiled queries of each grammar, which find definitions and references in its trees.

use std::sync::{LazyLock, OnceLock};

use tree_sitter::{CaptureQuantifier, Query};

use super::item::ItemKind;
use super::symbols::ReferenceKind;
use crate::bound;
use crate::languages::{Grammar, LANGUAGES};

/// The meaning of a capture in a query for definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Capture {
    /// The name of the definition.
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
    /// Nothing of interest here.
    Other,
}

/// The compiled queries of one grammar.
struct Compiled {
    grammar: &'static Grammar,
    definitions: OnceLock<Definitions>,
    references: OnceLock<References>,
}

/// Every grammar. A query takes long to compile, so each is compiled on first use.
static COMPILED: LazyLock<Vec<Compiled>> = LazyLock::new(|| {
    bound::count_memory();
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

/// The query for definitions.
pub(super) struct Definitions {
    pub(super) query: Query,
    /// By capture index.
    pub(super) captures: Vec<Capture>,
    pub(super) grammar: &'static Grammar,
}

impl Definitions {
    pub(super) fn get(grammar: &'static Grammar) -> &'static Self {
        compiled(grammar).definitions.get_or_init(|| {
            use Capture::{Definition, Lead, Namespace, Wrap};
            let matters = |capture| matches!(capture, Definition(_) | Wrap | Lead | Namespace);
            let (query, captures) = query(grammar, grammar.definitions, capture, matters);
            Self { query, captures, grammar }
        })
    }
}

/// The query for references.
pub(super) struct References {
    pub(super) query: Query,
    /// By capture index.
    pub(super) captures: Vec<ReferenceCapture>,
}

/// The meaning of a capture in a query for references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReferenceCapture {
    /// The name that is referred to.
    Name,
    /// The whole reference.
    Reference(ReferenceKind),
    /// Nothing of interest here.
    Other,
}

impl References {
    pub(super) fn get(grammar: &'static Grammar) -> &'static Self {
        compiled(grammar).references.get_or_init(|| {
            let matters = |capture| matches!(capture, ReferenceCapture::Reference(_));
            let (query, captures) = query(grammar, grammar.references, reference_capture, matters);
            Self { query, captures }
        })
    }
}

fn reference_capture(name: &str) -> ReferenceCapture {
    match name {
        "name" => ReferenceCapture::Name,
        "reference.call" | "reference.send" => ReferenceCapture::Reference(ReferenceKind::Call),
        "reference.implementation" | "reference.interface" => {
            ReferenceCapture::Reference(ReferenceKind::Implementation)
        }
        "reference.type" | "reference.class" => ReferenceCapture::Reference(ReferenceKind::Type),
        _ => ReferenceCapture::Other,
    }
}

/// A query with the meaning of its captures, by index. Patterns without a capture that matters are switched off, since they
/// cost time and find nothing.
fn query<Meaning: Copy>(
    grammar: &Grammar,
    sources: &[&str],
    meaning: impl Fn(&str) -> Meaning,
    matters: impl Fn(Meaning) -> bool,
) -> (Query, Vec<Meaning>) {
    // The queries are part of this program, and a test compiles each of them.
    let source = without_documentation(&sources.join("\n"));
    let mut query = Query::new(&(grammar.language)(), &source).expect("the query is valid for its grammar");
    let captures: Vec<Meaning> = query.capture_names().iter().map(|name| meaning(name)).collect();
    for pattern in 0..query.pattern_count() {
        let quantifiers = query.capture_quantifiers(pattern).iter();
        let mut occurring =
            quantifiers.zip(&captures).filter(|(quantifier, _)| **quantifier != CaptureQuantifier::Zero);
        if !occurring.any(|(_, capture)| matters(*capture)) {
            query.disable_pattern(pattern);
        }
    }
    (query, captures)
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
            let captures = &Definitions::get(grammar).captures;
            assert!(captures.contains(&Capture::Name), "{}", language.name);
            assert!(captures.contains(&Capture::Lead), "{}", language.name);
            for source in [grammar.definitions, grammar.references] {
                assert!(!without_documentation(&source.join("\n")).contains("@doc"), "{}", language.name);
            }
            let functions = [ItemKind::Function, ItemKind::Method].map(Capture::Definition);
            let has_functions = functions.iter().any(|function| captures.contains(function));
            assert!(has_functions || language.name == "hcl", "{}", language.name);
            let calls = ReferenceCapture::Reference(ReferenceKind::Call);
            let has_calls = References::get(grammar).captures.contains(&calls);
            assert!(has_calls || language.name == "protobuf", "{}", language.name);
        }
    }
}
