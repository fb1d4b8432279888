//! Collects the definitions of a syntax tree, nested and named.

use std::collections::HashMap;
use std::ops::Range;

use tree_sitter::{Node, QueryCursor, Tree};

use super::queries::{Capture, Queries};
use super::signature::{Fingerprint, combined, fingerprint};
use crate::lines::Lines;
use crate::{Kind, limits};

/// The definitions of a file in the order of their beginnings, and a mark for each line of only comments and attributes.
pub struct Collected {
    pub items: Vec<Item>,
    pub leads: Vec<bool>,
}

/// A match of the query, before nesting.
struct Found<'tree> {
    node: Node<'tree>,
    /// None for a wrapper.
    definition: Option<Definition>,
}

struct Definition {
    kind: ItemKind,
    name: Range<usize>,
    scope: Option<Range<usize>>,
    shape: Shape,
    /// Belongs to the class rather than to its instances, if the name says so.
    singleton: bool,
}

/// The form of a definition's node.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Whole,
    /// Has no body.
    Declaration,
    /// A C declarator: a definition only together with the node around it.
    Declarator,
}

/// Smallest definition inside of a function or constant that becomes a passage of its own, in tokens.
const INNER_TOKENS: usize = 40;

/// Longest name, in bytes. Every passage of a definition and of its inner definitions carries it.
const NAME_LENGTH: usize = 256;

/// Bytes of a line searched for an attribute.
const ATTRIBUTE_LENGTH: usize = 256;

/// Ends early, and misses definitions, where the bound of a file is exceeded.
pub fn collect(
    cursor: &mut QueryCursor,
    query: &Queries,
    tree: &Tree,
    lines: &Lines<'_>,
    max_tokens: usize,
) -> Collected {
    let (mut found, mut namespaces, leads) = search(cursor, query, tree, lines);
    namespaces.sort_by_key(|name| name.start);
    // Outer before inner; of equals the wrapper first, then the most specific kind.
    found.sort_by_key(|found| {
        let kind = found.definition.as_ref().map(|definition| definition.kind);
        let bytes = found.node.byte_range();
        (bytes.start, std::cmp::Reverse(bytes.end), kind.is_some(), std::cmp::Reverse(kind))
    });
    let (items, open) = (Vec::new(), Vec::new());
    let mut nest = Nest { lines, query, namespaces: &namespaces, leads: &leads, max_tokens, items, open };
    for found in found {
        if limits::is_exceeded() {
            break;
        }
        nest.add(found);
    }
    Collected { items: nest.items, leads }
}

/// The matches of the query in a tree, the names of the namespaces that enclose the code after them, and the marks of lines.
fn search<'tree>(
    cursor: &mut QueryCursor,
    query: &Queries,
    tree: &'tree Tree,
    lines: &Lines<'_>,
) -> (Vec<Found<'tree>>, Vec<Range<usize>>, Vec<bool>) {
    let mut leads = vec![false; lines.count()];
    let mut found = Vec::new();
    let mut namespaces = Vec::new();
    let mut by_name: HashMap<usize, usize> = HashMap::new();
    query.each_match(cursor, Some(query.grammar.depth), tree, lines.text, |captures| {
        let (mut name, mut scope, mut definition): (Option<Range<usize>>, _, _) = (None, None, None);
        for (capture, node) in captures {
            match capture {
                // A name of two tokens, `operator` and `+`, reaches from the first to the second.
                Capture::Name => {
                    let start = name.map_or(node.start_byte(), |name| name.start);
                    name = Some(start..node.end_byte());
                }
                Capture::Scope => scope = Some(node.byte_range()),
                Capture::Definition(kind) => definition = Some((kind, node)),
                Capture::Namespace => namespaces.push(node.byte_range()),
                Capture::Wrap => found.push(Found { node, definition: None }),
                Capture::Lead => mark_lead(&mut leads, lines, node),
                Capture::Reference(_) | Capture::Other => {}
            }
        }
        let (Some(name), Some((kind, node))) = (name, definition) else {
            return;
        };
        let Some((kind, shape)) = shape(kind, node) else {
            return;
        };
        let definition = Definition { kind, name, scope, shape, singleton: is_singleton(node) };
        let next = Found { node, definition: Some(definition) };
        keep_best(&mut found, &mut by_name, next);
    });
    (found, namespaces, leads)
}

/// Keeps the most specific kind of several patterns that match one name, with the receiver if any of them knows it.
fn keep_best<'tree>(found: &mut Vec<Found<'tree>>, by_name: &mut HashMap<usize, usize>, mut next: Found<'tree>) {
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

/// The kind and form of a captured node; none for a mere mention such as `class Name;` or `mod name;`.
fn shape(kind: ItemKind, node: Node<'_>) -> Option<(ItemKind, Shape)> {
    let has_body = || node.child_by_field_name("body").is_some();
    match node.kind() {
        "enum_specifier" | "class_specifier" | "struct_specifier" | "union_specifier" if !has_body() => None,
        // `union name variable;` is tagged as a class.
        "declaration" if kind == ItemKind::Type => None,
        "function_declarator" => Some((kind, Shape::Declarator)),
        "function_signature" | "method_signature" | "abstract_method_signature" => Some((kind, Shape::Declaration)),
        "method_declaration" if !has_body() => Some((kind, Shape::Declaration)),
        "function_declaration" if !has_body() && !has_child(node, "function_body") => Some((kind, Shape::Declaration)),
        "type_definition" if node.start_position().row == node.end_position().row => {
            Some((ItemKind::Alias, Shape::Whole))
        }
        // Haskell: what a class requires.
        "signature" if node.parent().is_some_and(|parent| parent.kind() == "class_declarations") => {
            Some((kind, Shape::Declaration))
        }
        // Elixir: a function without `do`, as in a protocol.
        "call" if node.child_by_field_name("target").is_some() && !has_do(node) => Some((kind, Shape::Declaration)),
        _ if kind == ItemKind::Module && !has_body() && !has_child(node, "do_block") => None,
        _ => Some((kind, Shape::Whole)),
    }
}

fn has_child(node: Node<'_>, kind: &str) -> bool {
    node.named_children(&mut node.walk()).any(|child| child.kind() == kind)
}

/// Returns `true` if a call of Elixir has a block, or the keyword `do:` for a short one.
fn has_do(node: Node<'_>) -> bool {
    let keywords = || {
        let arguments = node.named_children(&mut node.walk()).find(|child| child.kind() == "arguments")?;
        arguments.named_children(&mut arguments.walk()).find(|child| child.kind() == "keywords")
    };
    has_child(node, "do_block") || keywords().is_some()
}

/// Ruby's `def self.name`, and a method inside of `class << self`.
fn is_singleton(node: Node<'_>) -> bool {
    let around = || node.parent().and_then(|body| body.parent());
    node.kind() == "singleton_method"
        || (node.kind() == "method" && around().is_some_and(|around| around.kind() == "singleton_class"))
}

/// Marks the lines that hold only this comment or attribute.
fn mark_lead(leads: &mut [bool], lines: &Lines<'_>, node: Node<'_>) {
    let bytes = node.byte_range();
    let text = &lines.text[bytes.clone()];
    // Documentation of the file or the enclosing item does not belong to the next item.
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
    // Checked from the comment's side, since a line of many comments is checked once for each of them.
    if (before.trim_end().is_empty() || leads[first]) && after.trim_start().is_empty() {
        leads[first..=last].fill(true);
    }
}

/// Builds the nesting in one pass over the matches, outer before inner.
struct Nest<'a> {
    lines: &'a Lines<'a>,
    query: &'a Queries,
    namespaces: &'a [Range<usize>],
    leads: &'a [bool],
    max_tokens: usize,
    items: Vec<Item>,
    open: Vec<Open<'a>>,
}

/// A construct around the current position.
struct Open<'tree> {
    end: usize,
    what: Enclosing<'tree>,
}

enum Enclosing<'tree> {
    Item(usize),
    /// A wrapper; true once a definition has taken it.
    Wrap(Node<'tree>, bool),
}

impl<'a> Nest<'a> {
    fn add(&mut self, found: Found<'a>) {
        while self.open.last().is_some_and(|open| open.end <= found.node.start_byte()) {
            self.open.pop();
        }
        match found.definition {
            None => {
                let end = found.node.end_byte();
                self.open.push(Open { end, what: Enclosing::Wrap(found.node, false) });
            }
            Some(definition) => self.define(found.node, &definition),
        }
    }

    fn define(&mut self, node: Node<'a>, definition: &Definition) {
        let mut wrapped = None;
        for open in self.open.iter_mut().rev() {
            match &mut open.what {
                Enclosing::Wrap(wrap, taken) if !*taken => {
                    *taken = true;
                    wrapped = Some(*wrap);
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
                Some(wrap) => !self.lines.text[..wrap.end_byte()].ends_with('}'),
            },
        };
        let node = wrapped.unwrap_or(node);
        let bytes = node.byte_range();
        let start = self.lines.row_at(bytes.start);
        let end = self.lines.text[..bytes.end].trim_end().len().max(bytes.start + 1);
        let last = self.lines.row_at(end - 1);
        if !self.is_kept(definition.kind, declaration, (start, last), parent) {
            self.share_name(definition, &bytes, parent);
            return;
        }
        if self.query.grammar.naming.clauses && self.continues(definition, &bytes, (start, last), parent) {
            return;
        }
        let index = self.items.len();
        let first = self.lead(start, parent);
        let small = declaration || matches!(definition.kind, ItemKind::Constant | ItemKind::Alias);
        let test = parent.is_some_and(|parent| self.items[parent].test)
            || node.kind() == "test_declaration"
            || self.is_test(first, start);
        let names = vec![(definition.name.start, self.symbol(definition, parent))];
        let mut fingerprint = fingerprint(node, self.lines.text);
        // Two traits of one type may require methods of one name.
        if let Some(parent) = parent.map(|parent| &self.items[parent])
            && parent.kind == ItemKind::Implementation
        {
            fingerprint.hash = combined([parent.fingerprint.hash, fingerprint.hash]);
        }
        self.open.push(Open { end: bytes.end, what: Enclosing::Item(index) });
        let qualified =
            definition.scope.is_some() || bare_name(&self.lines.text[definition.name.clone()]).contains("::");
        self.items.push(Item {
            kind: definition.kind,
            names,
            qualified,
            bytes,
            fingerprint,
            first,
            start,
            last,
            parent,
            small,
            test,
        });
    }

    /// Returns `true` if a definition is a further clause of the function before it, which then reaches to its end: a signature
    /// and its equations, as long as they fit into one passage.
    fn continues(
        &mut self,
        definition: &Definition,
        bytes: &Range<usize>,
        (start, last): (usize, usize),
        parent: Option<usize>,
    ) -> bool {
        let mut before = self.items.len().checked_sub(1);
        while let Some(index) = before.filter(|index| self.items[*index].parent != parent) {
            before = self.items[index].parent;
        }
        let Some(index) = before.filter(|index| Some(*index) != parent) else { return false };
        let symbol = self.symbol(definition, parent);
        let item = &self.items[index];
        let one = item.kind == definition.kind && item.names.first().is_some_and(|(_, name)| *name == symbol);
        let adjoins = item.last < start && (item.last + 1..start).all(|row| self.lines.is_blank(row));
        if !one || !adjoins || self.lines.tokens(item.first, last) > self.max_tokens {
            return false;
        }
        let item = &mut self.items[index];
        item.bytes.end = bytes.end;
        item.last = last;
        item.small = false;
        self.open.push(Open { end: bytes.end, what: Enclosing::Item(index) });
        true
    }

    /// `const a = 1, b = 2` is one declaration of two names.
    fn share_name(&mut self, definition: &Definition, bytes: &Range<usize>, parent: Option<usize>) {
        let Some(parent) = parent.map(|index| &mut self.items[index]) else {
            return;
        };
        if parent.kind == definition.kind && parent.bytes == *bytes {
            let name = bare_name(&self.lines.text[definition.name.clone()]);
            parent.names.push((definition.name.start, shortened(&name).to_owned()));
        }
    }

    /// Returns `true` if a definition inside another becomes an item of its own.
    fn is_kept(&self, kind: ItemKind, declaration: bool, (start, last): (usize, usize), parent: Option<usize>) -> bool {
        let Some(parent) = parent.map(|index| &self.items[index]) else {
            return true;
        };
        // Lines belong to one item only, so an item that begins on its parent's line stays part of it.
        if start <= parent.start {
            return false;
        }
        if parent.kind.is_type_like() {
            return !declaration && !matches!(kind, ItemKind::Constant | ItemKind::Alias);
        }
        if parent.kind == ItemKind::Module {
            return true;
        }
        // A function or constant is one passage; its inner functions and types count only if it is too large.
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
            // The limit keeps a line of many definitions cheap, since it is checked once for each of them.
            let line = &line[..line.floor_char_boundary(ATTRIBUTE_LENGTH)];
            line.starts_with("#[")
                && (line.contains("test]")
                    || line.contains("test(")
                    || line.contains("(test")
                    || line.contains("bench]"))
                && !line.contains("not(test")
        })
    }

    fn symbol(&self, definition: &Definition, parent: Option<usize>) -> String {
        let text = |range: &Range<usize>| shortened(&bare_name(&self.lines.text[range.clone()])).to_owned();
        let naming = &self.query.grammar.naming;
        let before_name = match definition.kind {
            ItemKind::Function | ItemKind::Method if definition.singleton => ".",
            ItemKind::Function | ItemKind::Method => naming.member,
            _ => naming.nested,
        };
        let mut symbol = String::new();
        match parent.map(|parent| &self.items[parent]) {
            Some(parent) => {
                symbol.push_str(parent.name_at(definition.name.start));
                let module = parent.kind == ItemKind::Module && !naming.modules_have_methods;
                symbol.push_str(if module || definition.scope.is_some() { naming.nested } else { before_name });
            }
            None => {
                let before = self.namespaces.partition_point(|name| name.start < definition.name.start);
                if let Some(namespace) = before.checked_sub(1).and_then(|last| self.namespaces.get(last)) {
                    symbol.push_str(shortened(&self.lines.text[namespace.clone()]));
                    symbol.push_str(naming.nested);
                }
            }
        }
        if let Some(scope) = &definition.scope {
            // Kotlin extends types that can be absent: `String?`.
            symbol.push_str(text(scope).trim_end_matches('?'));
            symbol.push_str(before_name);
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

fn shortened(name: &str) -> &str {
    &name[..name.floor_char_boundary(NAME_LENGTH)]
}

/// A qualified name keeps its qualifiers and loses their arguments: `Matrix::rows` of `Matrix<T, N>::rows`.
pub fn bare_name(text: &str) -> String {
    // The fixture and the name of a test, which a macro takes as arguments.
    if let Some((fixture, name)) = text.split_once(", ")
        && [fixture, name].iter().all(|part| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
    {
        return format!("{fixture}::{name}");
    }
    if !text.contains(">::") {
        return last_name(text).to_owned();
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
    last_name(&name).to_owned()
}

/// `Store` of `&'a mut Store<T>`, `*Store[K]`, `table[16]` or `"name"`. Operators keep their signs.
fn last_name(text: &str) -> &str {
    let text = text.lines().next().unwrap_or_default();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_punctuation() && !matches!(byte, b'_' | b'"')) {
        return text;
    }
    if let Some((_, operator)) = text.split_once("operator") {
        // A conversion has its empty parameters in its name: `operator bool() const`.
        let conversion = operator.starts_with(' ').then(|| operator.find('(')).flatten();
        return &text[..conversion.map_or(text.len(), |end| text.len() - operator.len() + end)];
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

// A definition found in a syntax tree.

/// The kind of a definition, as far as dividing a file needs it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ItemKind {
    // From general to specific: if two patterns match one name, the more specific kind is kept.
    Constant,
    Module,
    Macro,
    Type,
    Trait,
    Alias,
    Function,
    Method,
    Implementation,
}

impl ItemKind {
    /// The kind of a tag `definition.TAG`.
    pub fn of_tag(tag: &str) -> Option<Self> {
        Some(match tag {
            "constant" => Self::Constant,
            "module" => Self::Module,
            "macro" => Self::Macro,
            "class" | "type" | "struct" | "enum" | "union" => Self::Type,
            "interface" => Self::Trait,
            "alias" => Self::Alias,
            "function" => Self::Function,
            "method" => Self::Method,
            "implementation" => Self::Implementation,
            _ => return None,
        })
    }

    pub fn is_type_like(self) -> bool {
        matches!(self, Self::Type | Self::Trait | Self::Implementation)
    }
}

/// One definition, after nesting is known.
pub struct Item {
    pub kind: ItemKind,
    /// The qualified name, and further names of the same declaration, each with the byte at which it begins. In
    /// order, and never empty.
    pub names: Vec<(usize, String)>,
    /// True if the definition itself names its owner.
    pub qualified: bool,
    /// The node, in bytes.
    pub bytes: Range<usize>,
    /// That of its signature, with that of the implementation around it.
    pub fingerprint: Fingerprint,
    /// First line, with the comments and attributes directly above.
    pub first: usize,
    /// The line where the node itself begins.
    pub start: usize,
    pub last: usize,
    /// Index of the definition around it.
    pub parent: Option<usize>,
    /// A declaration without a body, a constant or an alias: small enough to share a passage with its neighbours.
    pub small: bool,
    /// Compiled for tests only.
    pub test: bool,
}

impl Item {
    /// The name in force at an offset: the last one before it, or the first.
    pub fn name_at(&self, offset: usize) -> &str {
        let before = self.names.partition_point(|(start, _)| *start < offset);
        self.names.get(before.saturating_sub(1)).map_or("", |(_, name)| name.as_str())
    }

    /// The names of a piece of the text: the one in force where it begins, and those that begin in it.
    pub fn names_in(&self, piece: &Range<usize>) -> impl Iterator<Item = &str> {
        let first = self.names.partition_point(|(start, _)| *start <= piece.start).saturating_sub(1);
        let end = self.names.partition_point(|(start, _)| *start < piece.end).max(first + 1);
        self.names[first..end.min(self.names.len())].iter().map(|(_, name)| name.as_str())
    }

    /// The kind of its passages, inside of a definition of kind `parent`.
    pub fn passage_kind(&self, parent: Option<ItemKind>, modules_have_methods: bool) -> Kind {
        match self.kind {
            ItemKind::Constant => Kind::Constant,
            ItemKind::Module => Kind::Module,
            ItemKind::Macro => Kind::Macro,
            ItemKind::Type | ItemKind::Alias | ItemKind::Implementation => Kind::Type,
            ItemKind::Trait => Kind::Trait,
            ItemKind::Function | ItemKind::Method => match parent {
                Some(parent) if parent.is_type_like() => Kind::Method,
                Some(ItemKind::Module) if modules_have_methods => Kind::Method,
                // A method outside its type has a qualified name.
                _ if self.kind == ItemKind::Method && self.qualified => Kind::Method,
                _ => Kind::Function,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::bare_name;

    #[test]
    fn names_lose_what_is_not_the_name() {
        for line in [
            "Store => Store", "Store<'a, T> => Store", "&'a mut Store<T> => Store", "*Store[K] => Store",
            "table[16] => table", "\"fs\" => fs", "a::b::Store => a::b::Store", "dyn Error => Error",
            "Vec2::operator== => Vec2::operator==", "Vec2::operator() => Vec2::operator()",
            "operator bool() const => operator bool", "~Store => ~Store", "Grid<T, Pair<N>>::rows => Grid::rows",
            "<T as Trait>::Item => Item", "[T] => [T]", "WeirTest, Opens => WeirTest::Opens",
        ] {
            let (text, name) = line.split_once(" => ").expect("a name");
            assert_eq!(bare_name(text), name, "{text}");
        }
    }
}
