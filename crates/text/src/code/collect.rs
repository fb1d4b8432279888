//! From a syntax tree to the definitions in it, nested and named.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use streaming_iterator::StreamingIterator;
use tree_sitter::{Node, QueryCursor, Tree};

use super::grammar::{Capture, Compiled};
use super::item::{Item, ItemKind};
use crate::document::SYMBOL_SEPARATOR;
use crate::lines::Lines;

/// The definitions of a file in the order of their beginnings, and which lines hold only comments and attributes.
pub(super) struct Collected {
    pub(super) items: Vec<Item>,
    pub(super) leads: Vec<bool>,
}

/// What the query found, before nesting.
struct Found {
    bytes: Range<usize>,
    /// None for a wrapper.
    definition: Option<Definition>,
}

struct Definition {
    kind: ItemKind,
    name: Range<usize>,
    scope: Option<Range<usize>>,
    shape: Shape,
}

/// What else of a definition's node matters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Whole,
    /// Has no body.
    Declaration,
    /// A C declarator: a definition only together with the node around it.
    Declarator,
}

/// Partial matches that the query may keep; a file that needs more loses some definitions, none of its lines.
const MATCH_LIMIT: u32 = 4_096;

/// Smallest definition inside of a function or constant that becomes a passage of its own, in tokens.
const INNER_TOKENS: usize = 40;

pub(super) fn collect(
    cursor: &mut QueryCursor,
    compiled: &Compiled,
    tree: &Tree,
    lines: &Lines<'_>,
    max_tokens: usize,
) -> Collected {
    let (mut found, leads) = search(cursor, compiled, tree, lines);
    // Outer before inner; of equals the wrapper first, then the kind that says most.
    found.sort_by_key(|found| {
        let kind = found.definition.as_ref().map(|definition| definition.kind);
        (found.bytes.start, std::cmp::Reverse(found.bytes.end), kind.is_some(), std::cmp::Reverse(kind))
    });
    let mut nest = Nest { lines, compiled, leads: &leads, max_tokens, items: Vec::new(), open: Vec::new() };
    for found in found {
        nest.add(found);
    }
    Collected { items: nest.items, leads }
}

fn search(cursor: &mut QueryCursor, compiled: &Compiled, tree: &Tree, lines: &Lines<'_>) -> (Vec<Found>, Vec<bool>) {
    cursor.set_match_limit(MATCH_LIMIT);
    cursor.set_max_start_depth(Some(compiled.depth));
    let mut leads = vec![false; lines.count()];
    let mut found: Vec<Found> = Vec::new();
    let mut by_name: HashMap<usize, usize> = HashMap::new();
    let mut matches = cursor.matches(&compiled.query, tree.root_node(), lines.text.as_bytes());
    while let Some(matched) = matches.next() {
        let (mut name, mut scope, mut definition) = (None, None, None);
        for capture in matched.captures() {
            match compiled.captures[capture.index as usize] {
                Capture::Name => name = Some(capture.node.byte_range()),
                Capture::Scope => scope = Some(capture.node.byte_range()),
                Capture::Definition(kind) => definition = Some((kind, capture.node)),
                Capture::Wrap => found.push(Found { bytes: capture.node.byte_range(), definition: None }),
                Capture::Lead => mark_lead(&mut leads, lines, capture.node),
                Capture::Other => {}
            }
        }
        let (Some(name), Some((kind, node))) = (name, definition) else {
            continue;
        };
        let Some((kind, shape)) = shape(kind, node) else {
            continue;
        };
        let next = Found { bytes: node.byte_range(), definition: Some(Definition { kind, name, scope, shape }) };
        keep_best(&mut found, &mut by_name, next);
    }
    (found, leads)
}

/// Of several patterns that match one name the larger kind is kept, with the receiver if any of them knows it.
fn keep_best(found: &mut Vec<Found>, by_name: &mut HashMap<usize, usize>, mut next: Found) {
    let Some(definition) = &mut next.definition else {
        return;
    };
    match by_name.get(&definition.name.start) {
        Some(&index) => {
            let Some(known) = &mut found[index].definition else {
                return;
            };
            let scope = definition.scope.take().or_else(|| known.scope.take());
            if definition.kind > known.kind {
                definition.scope = scope;
                found[index] = next;
            } else {
                known.scope = scope;
            }
        }
        None => {
            by_name.insert(definition.name.start, found.len());
            found.push(next);
        }
    }
}

/// What a captured node is; none for a mere mention such as `class Name;` or `mod name;`.
fn shape(kind: ItemKind, node: Node<'_>) -> Option<(ItemKind, Shape)> {
    let has_body = || node.child_by_field_name("body").is_some();
    match node.kind() {
        "enum_specifier" | "class_specifier" | "struct_specifier" | "union_specifier" if !has_body() => None,
        // `union name variable;` is tagged as a class.
        "declaration" if kind == ItemKind::Type => None,
        "function_declarator" => Some((kind, Shape::Declarator)),
        "function_signature" | "method_signature" | "abstract_method_signature" => Some((kind, Shape::Declaration)),
        "method_declaration" if !has_body() => Some((kind, Shape::Declaration)),
        "type_definition" if node.start_position().row == node.end_position().row => {
            Some((ItemKind::Alias, Shape::Whole))
        }
        _ if kind == ItemKind::Module && !has_body() => None,
        _ => Some((kind, Shape::Whole)),
    }
}

/// Marks the lines that hold nothing but this comment or attribute.
fn mark_lead(leads: &mut [bool], lines: &Lines<'_>, node: Node<'_>) {
    let bytes = node.byte_range();
    let text = &lines.text[bytes.clone()];
    // What documents the file or the enclosing item does not belong to what follows.
    if text.starts_with("//!") || text.starts_with("/*!") || text.starts_with("#!") {
        return;
    }
    let first = node.start_position().row;
    let end = node.end_position();
    // Some comments include their line end.
    let last = if end.column == 0 && end.row > first { end.row - 1 } else { end.row };
    if last >= leads.len() {
        return;
    }
    let before = &lines.text[lines.start(first)..bytes.start];
    let after = if end.row == last { &lines.text[bytes.end..lines.start(last + 1)] } else { "" };
    if (before.trim().is_empty() || leads[first]) && after.trim().is_empty() {
        leads[first..=last].fill(true);
    }
}

/// Builds the nesting in one pass over what was found, outer before inner.
struct Nest<'a> {
    lines: &'a Lines<'a>,
    compiled: &'a Compiled,
    leads: &'a [bool],
    max_tokens: usize,
    items: Vec<Item>,
    open: Vec<Open>,
}

/// What encloses the current place.
struct Open {
    end: usize,
    what: Enclosing,
}

enum Enclosing {
    Item(usize),
    /// A wrapper: its bytes, and whether a definition has taken it.
    Wrap(Range<usize>, bool),
}

impl Nest<'_> {
    fn add(&mut self, found: Found) {
        while self.open.last().is_some_and(|open| open.end <= found.bytes.start) {
            self.open.pop();
        }
        match found.definition {
            None => {
                let end = found.bytes.end;
                self.open.push(Open { end, what: Enclosing::Wrap(found.bytes, false) });
            }
            Some(definition) => self.define(found.bytes, &definition),
        }
    }

    fn define(&mut self, mut bytes: Range<usize>, definition: &Definition) {
        let mut wrapped = None;
        for open in self.open.iter_mut().rev() {
            match &mut open.what {
                Enclosing::Wrap(wrap, taken) if !*taken => {
                    *taken = true;
                    wrapped = Some(wrap.clone());
                }
                _ => break,
            }
        }
        let parent = self.open.iter().rev().find_map(|open| match open.what {
            Enclosing::Item(index) => Some(index),
            Enclosing::Wrap(..) => None,
        });
        let declaration = match definition.shape {
            Shape::Whole => false,
            Shape::Declaration => true,
            Shape::Declarator => match &wrapped {
                None => return,
                Some(wrap) => !self.lines.text[..wrap.end].ends_with('}'),
            },
        };
        if let Some(wrap) = wrapped {
            bytes = wrap;
        }
        let start = self.lines.row_at(bytes.start);
        let end = self.lines.text[..bytes.end].trim_end().len().max(bytes.start + 1);
        let last = self.lines.row_at(end - 1);
        if !self.is_kept(definition.kind, declaration, (start, last), parent) {
            self.share_name(definition, &bytes, parent);
            return;
        }
        let index = self.items.len();
        let first = self.lead(start, parent);
        let small = declaration || matches!(definition.kind, ItemKind::Constant | ItemKind::Alias);
        let test = parent.is_some_and(|parent| self.items[parent].test) || self.is_test(first, start);
        let symbol = self.symbol(definition, parent);
        self.open.push(Open { end: bytes.end, what: Enclosing::Item(index) });
        self.items.push(Item { kind: definition.kind, symbol, bytes, first, start, last, parent, small, test });
    }

    /// `const a = 1, b = 2` is one declaration of two names.
    fn share_name(&mut self, definition: &Definition, bytes: &Range<usize>, parent: Option<usize>) {
        let Some(parent) = parent.map(|index| &mut self.items[index]) else {
            return;
        };
        if parent.kind == definition.kind && parent.bytes == *bytes {
            parent.symbol.push_str(SYMBOL_SEPARATOR);
            parent.symbol.push_str(&bare_name(&self.lines.text[definition.name.clone()]));
        }
    }

    /// Whether a definition inside of another becomes an item of its own.
    fn is_kept(&self, kind: ItemKind, declaration: bool, (start, last): (usize, usize), parent: Option<usize>) -> bool {
        let Some(parent) = parent.map(|index| &self.items[index]) else {
            return true;
        };
        // Lines belong to one item only: what begins on its parent's line stays with it.
        if start <= parent.start {
            return false;
        }
        if parent.kind.is_type_like() {
            return !declaration && !matches!(kind, ItemKind::Constant | ItemKind::Alias);
        }
        if parent.kind == ItemKind::Module {
            return true;
        }
        // A function or constant is one passage; only where it is too large are the functions and types in it told apart.
        kind != ItemKind::Constant
            && self.lines.tokens(parent.start, parent.last) > self.max_tokens
            && self.lines.tokens(start, last) >= INNER_TOKENS
    }

    /// The first of the comment and attribute lines directly above `row`.
    fn lead(&self, row: usize, parent: Option<usize>) -> usize {
        let floor = parent.map_or(0, |parent| self.items[parent].start + 1);
        let floor = self.items.last().map_or(floor, |previous| {
            // The previous item is a sibling's, or the parent's own.
            if Some(self.items.len() - 1) == parent { floor } else { floor.max(previous.last + 1) }
        });
        let mut first = row;
        while first > floor && self.leads[first - 1] {
            first -= 1;
        }
        first
    }

    /// Rust marks tests by attributes.
    fn is_test(&self, first: usize, start: usize) -> bool {
        (first..=start).any(|row| {
            let line = self.lines.line(row).trim_start();
            line.starts_with("#[")
                && (line.contains("test]")
                    || line.contains("test(")
                    || line.contains("(test")
                    || line.contains("bench]"))
                && !line.contains("not(test")
        })
    }

    fn symbol(&self, definition: &Definition, parent: Option<usize>) -> String {
        let text = |range: &Range<usize>| bare_name(&self.lines.text[range.clone()]);
        let separator = self.compiled.separator;
        let mut symbol = String::new();
        if let Some(parent) = parent {
            symbol.push_str(&self.items[parent].symbol);
            symbol.push_str(separator);
        }
        if let Some(scope) = &definition.scope {
            symbol.push_str(&text(scope));
            symbol.push_str(separator);
        }
        if definition.kind == ItemKind::Implementation {
            let name = text(&definition.name);
            symbol.push_str(name.rsplit("::").next().unwrap_or(&name));
        } else {
            symbol.push_str(&text(&definition.name));
        }
        symbol
    }
}

/// A qualified name keeps its qualifiers and loses their arguments: `Matrix::rows` of `Matrix<T, N>::rows`.
fn bare_name(text: &str) -> Cow<'_, str> {
    if !text.contains(">::") {
        return Cow::Borrowed(last_name(text));
    }
    let mut name = String::new();
    let mut depth = 0_usize;
    for character in text.chars() {
        match character {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => name.push(character),
            _ => {}
        }
    }
    Cow::Owned(last_name(&name).to_owned())
}

/// `Store` of `&'a mut Store<T>`, `*Store[K]`, `table[16]` or `"name"`. Operators keep their signs.
fn last_name(text: &str) -> &str {
    let text = text.lines().next().unwrap_or_default();
    if text.contains("operator") {
        return text;
    }
    let mut name = text.trim_start_matches(['&', '*', '(', '"', '\'', '`', ' ', ':']);
    while let Some((before, rest)) = name.split_once(' ') {
        // A lifetime, `mut` or `dyn` before the type.
        if matches!(before, "mut" | "dyn" | "const") || text.starts_with('&') {
            name = rest;
        } else {
            break;
        }
    }
    let end = name.find(['<', '[', '(', '"', '\'', '`', ' ', ')']).filter(|end| *end > 0).unwrap_or(name.len());
    &name[..end]
}

#[cfg(test)]
mod tests {
    use super::bare_name;

    #[test]
    fn names_lose_what_is_not_the_name() {
        for (text, name) in [
            ("Store", "Store"),
            ("Store<'a, T>", "Store"),
            ("&'a mut Store<T>", "Store"),
            ("*Store[K]", "Store"),
            ("table[16]", "table"),
            ("\"fs\"", "fs"),
            ("a::b::Store", "a::b::Store"),
            ("dyn Error", "Error"),
            ("Vec2::operator==", "Vec2::operator=="),
            ("~Store", "~Store"),
            ("Matrix<T, Pair<N>>::rows", "Matrix::rows"),
            ("<T as Trait>::Item", "Item"),
            ("[T]", "[T]"),
        ] {
            assert_eq!(bare_name(text), name, "{text}");
        }
    }
}
