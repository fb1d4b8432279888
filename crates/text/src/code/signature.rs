//! The signature of a definition: its first line, as context for passages separate from it, and from its syntax tree, without
//! attributes, comments and body.

use tree_sitter::Node;

use crate::languages::Ends;
use crate::limits;
use crate::lines::has_word;

/// Longest signature, in characters.
const LENGTH: usize = 160;
/// Bytes of the text that a signature may span.
const REACH: usize = 2_000;

/// The text of a definition up to its body, in one line.
///
/// Ends before an opening brace, `=` or `;` outside brackets, type arguments and maps such as `%{}`, and before the character that
/// `ends` it in its language. Lines of a preprocessor and of comments that begin with `#` are left out.
pub fn signature(text: &str, ends: Ends) -> String {
    whole_signature(text, ends).chars().take(LENGTH).collect()
}

/// A signature with a mark at its end if it is longer.
pub fn shown_signature(text: &str, ends: Ends) -> String {
    let whole = whole_signature(text, ends);
    match whole.char_indices().nth(LENGTH) {
        Some((end, _)) => format!("{}…", &whole[..end]),
        None => whole,
    }
}

fn whole_signature(text: &str, ends: Ends) -> String {
    let mut depth = 0_i32;
    let mut signature = String::new();
    let mut space = false;
    // The end of type arguments, or of a map; `None` after one without an end.
    let mut inside = Some(0);
    let mut characters = text.char_indices().peekable();
    while let Some((offset, character)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        let is_outside = inside.is_some_and(|end| offset >= end);
        match character {
            '#' if begins_remark(text, offset) => {
                while characters.next_if(|(_, character)| *character != '\n').is_some() {}
                continue;
            }
            '<' if is_outside && begins_arguments(&text[..offset], next) => {
                inside = closing(text, offset, ['<', '>']);
            }
            '{' if is_outside && text[..offset].ends_with('%') => inside = closing(text, offset, ['{', '}']),
            _ if inside.is_some_and(|end| offset < end) => {}
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '{' | ';' if depth <= 0 => break,
            ':' if ends == Ends::Colon && depth <= 0 => break,
            '\n' if ends == Ends::Line && depth <= 0 => break,
            '=' if depth <= 0 && !matches!(next, Some('=' | '>')) && !after_operator(text, offset) => {
                break;
            }
            _ => {}
        }
        if offset > REACH {
            break;
        }
        if character.is_whitespace() {
            space = !signature.is_empty();
            continue;
        }
        if std::mem::take(&mut space) {
            signature.push(' ');
        }
        signature.push(character);
    }
    signature
}

/// Returns `true` for the `#` of a line of a preprocessor or of a comment, and not for that of `#define`, of a private name or of
/// an attribute.
fn begins_remark(text: &str, offset: usize) -> bool {
    let before = text[..offset].trim_end_matches([' ', '\t']);
    let line = &text[offset..];
    if before.is_empty() { line.starts_with("#if ") } else { before.ends_with('\n') && !line.starts_with("#[") }
}

/// Returns `true` for the `<` of `template <class T>` and `Store<T>`, and not for that of a comparison or an operator.
fn begins_arguments(before: &str, next: Option<char>) -> bool {
    let named = before.ends_with(|last: char| last.is_alphanumeric() || last == '_') && !before.ends_with("operator");
    (named || before.ends_with("template ")) && next.is_some_and(|next| !next.is_whitespace() && !"<=-".contains(next))
}

/// The place of the bracket that closes the one at `start`, in the same statement.
fn closing(text: &str, start: usize, [open, close]: [char; 2]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (offset, character) in text[start..].char_indices().take(REACH) {
        match character {
            ';' => return None,
            _ if character == open => depth += 1,
            // Not an arrow.
            _ if character == close && !"-=".contains(before) => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(start + offset);
        }
        before = character;
    }
    None
}

/// `==`, `<=` and `operator=` do not begin a value.
fn after_operator(text: &str, offset: usize) -> bool {
    text[..offset].ends_with(['=', '<', '>', '!']) || text[..offset].ends_with("operator")
}

// The signature of a definition, from its syntax tree without attributes, comments and body.

/// The identity of a definition among those of its name.
#[derive(Clone, Copy, PartialEq)]
pub struct Fingerprint {
    /// A hash of the tokens of the signature.
    pub hash: u64,
    /// Start of the signature in the file, in bytes: after the attributes, decorators and annotations.
    pub head: usize,
}

/// Most tokens of a signature. Otherwise a table without names for its rows would be read to its end.
const TOKENS: usize = 512;

/// The fingerprint of the definition at `node`.
///
/// Two definitions have the same hash if their signatures differ only in white space, comments, attributes and a
/// trailing comma. Text after a `=` is body, except in the defaults of parameters.
pub fn fingerprint(node: Node<'_>, text: &str) -> Fingerprint {
    let mut tokens: Vec<&str> = Vec::new();
    let mut head = None;
    let mut cursor = node.walk();
    // A node finds its parent only from the root of the tree down.
    let mut around: Vec<Node<'_>> = Vec::new();
    'walk: loop {
        let here = cursor.node();
        let left_out = around.last().is_some_and(|parent| is_left_out(here, *parent, cursor.field_name()));
        if !left_out && cursor.goto_first_child() {
            around.push(here);
            continue;
        }
        if left_out && limits::is_exceeded() {
            break;
        }
        if !left_out {
            let token = text[here.byte_range()].trim();
            // A signature that is broken into lines gets a comma after its last parameter.
            if matches!(token, ")" | "]" | ">" | "}") && tokens.last() == Some(&",") {
                tokens.pop();
            }
            if !token.is_empty() {
                head.get_or_insert(here.start_byte());
                tokens.push(token);
            }
            if tokens.len() >= TOKENS {
                break;
            }
        }
        loop {
            if cursor.goto_next_sibling() {
                break;
            }
            around.pop();
            if around.is_empty() || !cursor.goto_parent() {
                break 'walk;
            }
        }
    }
    while tokens.last().is_some_and(|token| matches!(*token, "=" | ";" | ":" | "{" | "}" | "then")) {
        tokens.pop();
    }
    let mut hasher = blake3::Hasher::new();
    for token in tokens {
        hasher.update(token.as_bytes());
        hasher.update(&[0]);
    }
    Fingerprint { hash: leading(hasher), head: head.unwrap_or(node.start_byte()) }
}

/// One hash of several, which depends on their order.
pub fn combined(hashes: impl IntoIterator<Item = u64>) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for hash in hashes {
        hasher.update(&hash.to_le_bytes());
    }
    leading(hasher)
}

/// The first 64 bits of the hash.
fn leading(hasher: blake3::Hasher) -> u64 {
    let mut bytes = [0; 8];
    hasher.finalize_xof().fill(&mut bytes);
    u64::from_be_bytes(bytes)
}

fn is_left_out(node: Node<'_>, parent: Node<'_>, field: Option<&str>) -> bool {
    is_remark(node, parent) || is_body(node, field) || is_value(node, parent, field)
}

/// Kinds of annotations, besides comments.
const REMARKS: &str = "\
    attribute_item inner_attribute_item attribute_list attribute_declaration attribute_specifier annotation \
    marker_annotation decorator";

/// Kinds of bodies, besides those whose names say so.
const BODIES: &str = "\
    block statement_block compound_statement do_block declaration_list field_declaration_list \
    ordered_field_declaration_list enum_variant_list enumerator_list enum_declaration_list field_initializer_list \
    constructor_initializer constructor_delegation_call computed_property body_statement getter setter macro_rule";

/// Comments and annotations of the definition.
fn is_remark(node: Node<'_>, parent: Node<'_>) -> bool {
    let kind = node.kind();
    kind.ends_with("comment")
        || has_word(REMARKS, kind)
        // In Python an attribute is `a.b`.
        || (kind == "attribute" && parent.kind() == "modifiers")
}

fn is_body(node: Node<'_>, field: Option<&str>) -> bool {
    if matches!(field, Some("body" | "accessors" | "computed_value")) {
        return true;
    }
    let kind = node.kind();
    kind.ends_with("_body") || has_word(BODIES, kind)
}

/// The value of a name: that of a constant, or the type of an alias.
fn is_value(node: Node<'_>, parent: Node<'_>, field: Option<&str>) -> bool {
    // A function that is assigned to a name has its parameters there.
    if matches!(node.kind(), "arrow_function" | "function_expression" | "generator_function" | "lambda" | "class") {
        return false;
    }
    match parent.kind() {
        "variable_declarator"
        | "const_item"
        | "static_item"
        | "const_spec"
        | "var_spec"
        | "init_declarator"
        | "field_definition"
        | "public_field_definition"
        | "variable_assignment"
        | "type_alias_declaration"
        | "preproc_def"
        | "preproc_function_def" => field == Some("value"),
        "property_declaration" => field == Some("value") || follows_equals(node),
        "type_alias" if parent.child_by_field_name("name").is_none() => follows_equals(node),
        "type_item" | "type_spec" | "type_alias" | "alias_declaration" => field == Some("type"),
        "typealias_declaration" | "type_alias_statement" => follows_equals(node),
        "assignment" | "assignment_expression" => field == Some("right"),
        "const_element" => node.prev_named_sibling().is_some(),
        _ => false,
    }
}

fn follows_equals(node: Node<'_>) -> bool {
    let mut before = node.prev_sibling();
    while let Some(sibling) = before.filter(|_| !limits::is_exceeded()) {
        if matches!(sibling.kind(), "=" | "property_delegate") {
            return true;
        }
        before = sibling.prev_sibling();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{Ends, signature};

    #[test]
    fn ends_before_the_body_and_is_never_long() {
        for (definition, ends, expected) in [
            ("fn open(\n    path: &Path,\n) -> Self {\n body }", Ends::Brace, "fn open( path: &Path, ) -> Self"),
            ("def get(self, key: str = ':') -> int:\n    pass", Ends::Colon, "def get(self, key: str = ':') -> int"),
            ("class Store extends Base {", Ends::Brace, "class Store extends Base"),
            ("def open(path,\n         mode)\n  File.new(path)", Ends::Line, "def open(path, mode)"),
            ("const open = ({ path }) => {", Ends::Brace, "const open"),
            ("bool operator==(const A& b) const { }", Ends::Brace, "bool operator==(const A& b) const"),
            ("A& operator=(const A& b) {", Ends::Brace, "A& operator=(const A& b)"),
            (
                "template <class T, class C = char>\nstruct x : y {",
                Ends::Brace,
                "template <class T, class C = char> struct x : y",
            ),
            ("def a(b) when b == %{} do", Ends::Line, "def a(b) when b == %{} do"),
            ("#if !A\n[B]\n#endif\nclass A\n#pragma warning disable // B.\n    : C\n{", Ends::Brace, "[B] class A : C"),
            ("func a(b chan<- c, d e) { g <- 1 }", Ends::Brace, "func a(b chan<- c, d e)"),
            ("bool a = b < c;", Ends::Brace, "bool a"),
            ("impl<T: Fn(u8) -> u8> R for T\nwhere T: A {", Ends::Brace, "impl<T: Fn(u8) -> u8> R for T where T: A"),
        ] {
            assert_eq!(signature(definition, ends), expected);
        }
        assert_eq!(signature(&"é".repeat(5_000), Ends::Brace).chars().count(), 160);
        assert_eq!(signature("", Ends::Brace), "");
    }
}
