//! The names that a piece of code defines and refers to, and the outline of its symbols.

use std::collections::HashMap;

use tree_sitter::{Node, QueryCursor, Tree};

use super::collect::{Item, ItemKind, bare_name, collect};
use super::parsers::{self, Parsers};
use super::queries::{Capture, Queries};
use super::signature::shown_signature;
use crate::document::named;
use crate::languages::{Grammar, Language};
use crate::lines::{Lines, number};
use crate::{Kind, limits};

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
    within_tree(path_or_language, text, Queries::references, |queries, cursor, tree| {
        // By start of the name: several patterns can match one name.
        let mut found: HashMap<usize, (Node<'_>, ReferenceKind)> = HashMap::new();
        queries.each_match(cursor, None, tree, text, |captures| {
            let (mut name, mut kind) = (None, None);
            for (capture, node) in captures {
                match capture {
                    Capture::Name => name = Some(node),
                    Capture::Reference(found) => kind = Some(found),
                    _ => {}
                }
            }
            // What the parser gathers around an error is no name, such as `-]<T>fn`.
            if let (Some(name), Some(kind)) = (name, kind)
                && !name.has_error()
                && !names_a_definition(name, text)
            {
                let known = found.entry(name.start_byte()).or_insert((name, kind));
                known.1 = known.1.max(kind);
            }
        });
        ordered(&found, text)
    })
}

/// What `work` finds in the tree of a piece of code; nothing without a grammar, or beyond the bound.
fn within_tree<T>(
    path_or_language: &str,
    text: &str,
    queries: fn(&'static Grammar) -> &'static Queries,
    work: impl FnOnce(&'static Queries, &mut QueryCursor, &Tree) -> Vec<T>,
) -> Vec<T> {
    let Some(grammar) = grammar(path_or_language, text) else { return Vec::new() };
    let queries = queries(grammar);
    Parsers::with(|parsers| {
        let Some(tree) = parsers.parse(grammar, text).filter(|tree| parsers::lines(tree).is_some()) else {
            return Vec::new();
        };
        let found = work(queries, &mut parsers.cursor, &tree);
        if limits::is_exceeded() { Vec::new() } else { found }
    })
}

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
    within_items(path_or_language, text, |grammar, items| {
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

/// What `work` makes of the definitions of a text; nothing where they are not found.
fn within_items<T>(
    path_or_language: &str,
    text: &str,
    work: impl FnOnce(&'static Grammar, &[Item]) -> Vec<T>,
) -> Vec<T> {
    within_tree(path_or_language, text, Queries::definitions, |queries, cursor, tree| {
        work(queries.grammar, &collect(cursor, queries, tree, &Lines::new(text), usize::MAX).items)
    })
}

fn grammar(path_or_language: &str, text: &str) -> Option<&'static Grammar> {
    // The first line identifies the language of a path without an extension.
    Language::resolve(path_or_language).or_else(|| Language::of_text(path_or_language, text))?.grammar()
}

// The names that a piece of code defines and refers to.

named! {
    /// The way in which a name is referred to.
    ReferenceKind is a "kind of reference" {
        /// Mentioned in the position of a type: of a parameter, a variable, before a static call.
        Type = "type",
        /// Called: a function, a method, a macro, a constructor, a component.
        Call = "call",
        /// Implemented, extended, mixed in or derived.
        Implementation = "implementation",
    }
}

/// A name that a piece of code refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The last part of the name, without qualifiers and type arguments: `open` of `Store::<T>::open(path)`.
    pub name: String,
    /// The line, counted from 1.
    pub line: u32,
    /// The kind of reference. If a line has several kinds, the most specific one, which is the last in the order of
    /// [`ReferenceKind`].
    pub kind: ReferenceKind,
}

/// A name that a piece of code defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The qualified name as its language writes it, as in [`crate::Passage::symbol`].
    pub name: String,
    /// The kind of definition.
    pub kind: Kind,
    /// The line where the definition itself begins, after its comments, counted from 1.
    pub line: u32,
    /// Its last line, inclusive.
    pub end_line: u32,
}

// Lists the symbols of a piece of code with their signatures.

/// A symbol of an outline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineSymbol {
    /// The qualified name as its language writes it, as in [`crate::Passage::symbol`].
    pub name: String,
    /// The kind of definition.
    pub kind: Kind,
    /// Number of symbols around it.
    pub depth: usize,
    /// The line where the definition itself begins, after its comments, counted from 1.
    pub line: u32,
    /// Its last line, inclusive.
    pub end_line: u32,
    /// The definition up to its body, on one line.
    pub signature: String,
    /// True for an implementation, which contains definitions and is none itself.
    pub is_implementation: bool,
    /// True if it is compiled for tests only.
    pub is_test: bool,
}

/// The symbols of `text` in its order, inner ones after the outer ones.
///
/// Definitions inside a function are part of the function. Arguments and limits are those of [`references`].
///
/// ```
/// use tamis_text::outline;
///
/// let found = outline("src/door.rs", "/// A door.\npub struct Door;\n\nimpl Door {\n    pub fn open(&self) {}\n}\n");
/// let found: Vec<_> = found.iter().map(|one| (one.depth, one.line, one.signature.as_str())).collect();
/// assert_eq!(found, [(0, 2, "pub struct Door"), (0, 4, "impl Door"), (1, 5, "pub fn open(&self)")]);
/// ```
#[must_use]
pub fn outline(path_or_language: &str, text: &str) -> Vec<OutlineSymbol> {
    within_items(path_or_language, text, |grammar, items| {
        // Outer items come before inner ones.
        let mut around: Vec<(usize, bool)> = Vec::with_capacity(items.len());
        let mut symbols: Vec<OutlineSymbol> = Vec::with_capacity(items.len());
        for item in items {
            let parent = item.parent.and_then(|parent| around.get(parent).copied());
            let depth = parent.map_or(0, |(depth, _)| depth + 1);
            let is_test = item.test || parent.is_some_and(|(_, is_test)| is_test);
            around.push((depth, is_test));
            let kind =
                item.passage_kind(item.parent.map(|parent| items[parent].kind), grammar.naming.modules_have_methods);
            let name = item.names.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(", ");
            let signature = shown_signature(&text[item.fingerprint.head..item.bytes.end], grammar.naming.ends);
            let signature = signature.trim_end().to_owned();
            symbols.push(OutlineSymbol {
                signature: if signature.is_empty() { name.clone() } else { signature },
                name,
                kind,
                depth,
                line: number(item.start),
                end_line: number(item.last),
                is_implementation: item.kind == ItemKind::Implementation,
                is_test,
            });
        }
        symbols
    })
}

#[cfg(test)]
mod tests {
    use super::outline;

    #[test]
    fn methods_are_below_their_type_and_tests_are_marked() {
        let text = "class Door:\n    def open(self, key):\n        pass\n\ndef knock() -> None:\n    pass\n";
        let found = outline("python", text);
        let found: Vec<_> = found.iter().map(|it| (it.depth, it.line, it.end_line, it.signature.as_str())).collect();
        let definitions = [(0, 1, 3, "class Door"), (1, 2, 3, "def open(self, key)"), (0, 5, 6, "def knock() -> None")];
        assert_eq!(found, definitions);
        let text = "fn work() {}\n\n#[cfg(test)]\nmod tests {\n    fn helper() {}\n}\n";
        let tests: Vec<_> = outline("rust", text).iter().map(|one| (one.line, one.is_test)).collect();
        assert_eq!(tests, [(1, false), (4, true), (5, true)]);
        assert!(outline("markdown", "# x").is_empty());
        let long = &outline("python", &format!("def f({}):\n    pass\n", "key, ".repeat(99)))[0].signature;
        assert!(long.chars().count() == 161 && long.ends_with('…'), "{long}");
    }
}
