//! Finds the names that a piece of code defines and refers to.

use std::collections::HashMap;

use streaming_iterator::StreamingIterator;
use tree_sitter::{Node, QueryCursorOptions, QueryCursorState};

use super::collect::{bare_name, collect};
use super::errors;
use super::item::ItemKind;
use super::parsers::Parsers;
use super::queries::{Definitions, ReferenceCapture, References};
use super::symbols::{Definition, Reference, ReferenceKind};
use crate::bound;
use crate::languages::{Grammar, Language};
use crate::lines::Lines;

/// The names that `text` refers to, in the order of the text, each once a line.
///
/// `path_or_language` is a file's path or a name that [`Language::resolve`] knows. The result is empty for a language
/// without symbols (see [`Language::has_symbols`]) and for a text that its parser gives up on; errors in the text
/// affect only the part they touch. Names are found by the shape of the syntax alone: a call of an unknown function is
/// a reference like any other, and the name of a definition is not a reference. Deterministic, and linear in the length
/// of the text.
///
/// ```
/// use tamis_text::{ReferenceKind, references};
///
/// let found = references("src/door.rs", "fn open(door: &Door) {\n    unlock(door.key())\n}\n");
/// let found: Vec<_> = found.iter().map(|reference| (reference.name.as_str(), reference.line, reference.kind)).collect();
/// assert_eq!(
///     found,
///     [("Door", 1, ReferenceKind::Type), ("unlock", 2, ReferenceKind::Call), ("key", 2, ReferenceKind::Call)]
/// );
/// ```
#[must_use]
pub fn references(path_or_language: &str, text: &str) -> Vec<Reference> {
    let Some(grammar) = grammar(path_or_language, text) else {
        return Vec::new();
    };
    let References { query, captures } = References::get(grammar);
    Parsers::with(|parsers| {
        let Some(tree) = parsers.parse(grammar, text).filter(|tree| errors::lines(tree).is_some()) else {
            return Vec::new();
        };
        // By start of the name: several patterns can match one name.
        let mut found: HashMap<usize, (Node<'_>, ReferenceKind)> = HashMap::new();
        parsers.cursor.set_match_limit(MATCH_LIMIT);
        parsers.cursor.set_max_start_depth(None);
        let mut progress = |_: &QueryCursorState| bound::progress();
        let options = QueryCursorOptions::new().progress_callback(&mut progress);
        let mut matches = parsers.cursor.matches_with_options(query, tree.root_node(), text.as_bytes(), options);
        while let Some(matched) = matches.next() {
            if bound::is_exceeded() {
                break;
            }
            let (mut name, mut kind) = (None, None);
            for capture in matched.captures() {
                match captures[capture.index as usize] {
                    ReferenceCapture::Name => name = Some(capture.node),
                    ReferenceCapture::Reference(found) => kind = Some(found),
                    ReferenceCapture::Other => {}
                }
            }
            if let (Some(name), Some(kind)) = (name, kind)
                && !names_a_definition(name, text)
            {
                let known = found.entry(name.start_byte()).or_insert((name, kind));
                known.1 = known.1.max(kind);
            }
        }
        if bound::is_exceeded() { Vec::new() } else { ordered(&found, text) }
    })
}

/// Partial matches that the query may keep; a file that needs more loses some references.
const MATCH_LIMIT: u32 = 4_096;

fn ordered(found: &HashMap<usize, (Node<'_>, ReferenceKind)>, text: &str) -> Vec<Reference> {
    let mut starts: Vec<usize> = found.keys().copied().collect();
    starts.sort_unstable();
    let mut references: Vec<Reference> = Vec::new();
    // By name, if the line being read has it.
    let mut on_line: HashMap<String, usize> = HashMap::new();
    for (node, kind) in starts.iter().filter_map(|start| found.get(start)) {
        let name = last_part(&text[node.byte_range()]);
        if name.is_empty() {
            continue;
        }
        let line = number(node.start_position().row);
        if references.last().is_some_and(|last| last.line != line) {
            on_line.clear();
        }
        match on_line.get(&name).and_then(|known| references.get_mut(*known)) {
            Some(known) => known.kind = known.kind.max(*kind),
            None => {
                on_line.insert(name.clone(), references.len());
                references.push(Reference { name, line, kind: *kind });
            }
        }
    }
    references
}

/// `open` of `Store::<T>::open`, `System.IO.File.open` or `App\open<T>`.
fn last_part(text: &str) -> String {
    let name = bare_name(text);
    name.rsplit(['.', ':', '\\']).next().unwrap_or_default().to_owned()
}

/// Returns `true` if a node names a definition rather than mentioning it.
fn names_a_definition(node: Node<'_>, text: &str) -> bool {
    let Some(parent) = node.parent() else {
        return false;
    };
    if matches!(node.kind(), "identifier" | "alias") && names_in_a_call(node, parent, text) {
        return true;
    }
    let is = |field: &str| parent.child_by_field_name(field) == Some(node);
    match parent.kind() {
        // `struct point p;` mentions the definition `struct point { … };`.
        "struct_specifier" | "class_specifier" | "union_specifier" | "enum_specifier" => {
            is("name") && parent.child_by_field_name("body").is_some()
        }
        // The constants and classes of Ruby have one kind of name.
        "assignment" => is("left"),
        "class" | "module" | "type_spec" | "type_alias" => is("name"),
        "type_definition" => is("declarator") || is("name"),
        // Haskell.
        "data_type"
        | "newtype"
        | "type_synonym"
        | "type_family"
        | "data_constructor"
        | "prefix"
        | "newtype_constructor" => is("name"),
        "record" if node.kind() == "constructor" => {
            is("name") && parent.parent().is_some_and(|around| around.kind() == "data_constructor")
        }
        "type_parameter" | "type_parameter_declaration" => is("name") || parent.named_child(0) == Some(node),
        "scope_resolution" => {
            is("name")
                && parent.parent().is_some_and(|around| {
                    matches!(around.kind(), "class" | "module") && around.child_by_field_name("name") == Some(parent)
                })
        }
        kind => {
            (kind.ends_with("_item") || kind.ends_with("_declaration") || kind.ends_with("_definition")) && is("name")
        }
    }
}

/// Elixir defines by calls: `def open(path)`, `defmodule Shelf`, `@limit 40`.
fn names_in_a_call(node: Node<'_>, parent: Node<'_>, text: &str) -> bool {
    let target = |call: Node<'_>| {
        call.child_by_field_name("target").filter(|_| call.kind() == "call").map_or("", |name| &text[name.byte_range()])
    };
    let is_target = parent.child_by_field_name("target") == Some(node) && parent.kind() == "call";
    if is_target
        && parent
            .parent()
            .is_some_and(|around| around.kind() == "unary_operator" && text[around.byte_range()].starts_with('@'))
    {
        return true;
    }
    let whole = if is_target { parent } else { node };
    let mut around = whole.parent();
    // A guard: `def open(path) when is_binary(path)`.
    if let Some(guarded) = around.filter(|around| around.kind() == "binary_operator") {
        if guarded.child_by_field_name("left") != Some(whole) {
            return false;
        }
        around = guarded.parent();
    }
    let Some(arguments) = around.filter(|around| around.kind() == "arguments") else { return false };
    if arguments.named_child(0).is_none_or(|first| !first.byte_range().contains(&node.start_byte())) {
        return false;
    }
    let keyword = arguments.parent().map_or("", target);
    match node.kind() {
        "alias" => matches!(keyword, "defmodule" | "defprotocol"),
        _ => keyword.starts_with("def"),
    }
}

/// The names that `text` defines, in its order, inner ones after the outer ones.
///
/// Declarations without a body are part of their type, and definitions inside a function are part of the
/// function. Arguments and limits are those of [`references`].
///
/// ```
/// use tamis_text::{Kind, definitions};
///
/// let found = definitions("java", "class Door {\n    void open() {}\n}\n");
/// let found: Vec<_> = found.iter().map(|found| (found.name.as_str(), found.kind, found.line, found.end_line)).collect();
/// assert_eq!(found, [("Door", Kind::Type, 1, 3), ("Door.open", Kind::Method, 2, 2)]);
/// ```
#[must_use]
pub fn definitions(path_or_language: &str, text: &str) -> Vec<Definition> {
    let Some(grammar) = grammar(path_or_language, text) else {
        return Vec::new();
    };
    let query = Definitions::get(grammar);
    let lines = Lines::new(text);
    Parsers::with(|parsers| {
        let Some(tree) = parsers.parse(grammar, text).filter(|tree| errors::lines(tree).is_some()) else {
            return Vec::new();
        };
        let items = collect(&mut parsers.cursor, query, &tree, &lines, usize::MAX).items;
        if bound::is_exceeded() {
            return Vec::new();
        }
        // An implementation defines its functions, not the type.
        let defining = items.iter().filter(|item| item.kind != ItemKind::Implementation);
        let each = defining.flat_map(|item| {
            let parent = item.parent.map(|parent| items[parent].kind);
            let kind = item.passage_kind(parent, grammar.naming.modules_have_methods);
            item.names.iter().map(move |(_, name)| Definition {
                name: name.clone(),
                kind,
                line: number(item.start),
                end_line: number(item.last),
            })
        });
        each.collect()
    })
}

pub(super) fn number(row: usize) -> u32 {
    u32::try_from(row + 1).unwrap_or(u32::MAX)
}

pub(super) fn grammar(path_or_language: &str, text: &str) -> Option<&'static Grammar> {
    // The first line identifies the language of a path without an extension.
    Language::resolve(path_or_language).or_else(|| Language::of_text(path_or_language, text))?.grammar()
}
