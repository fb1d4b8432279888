//! JavaScript, JSX, TypeScript, TSX, and components of Vue and Svelte.

use crate::languages::{Language, Parsing, code};

const JAVASCRIPT_GRAMMAR: Parsing = grammar!(
    "javascript",
    tree_sitter_javascript::LANGUAGE,
    [
        tree_sitter_javascript::TAGS_QUERY,
        JAVASCRIPT_DEFINITIONS,
        r"
(field_definition property: (_) @name value: [(arrow_function) (function_expression)]) @definition.method
"
    ],
    [
        tree_sitter_javascript::TAGS_QUERY,
        JAVASCRIPT_REFERENCES,
        r"
(class_heritage [(identifier) @name (member_expression property: (_) @name)]) @reference.implementation
",
        ELEMENTS
    ]
);

const JAVASCRIPT_DEFINITIONS: &str = r#"
; What the grammar's own tags leave out.

(method_definition name: (_) @name) @definition.method
(program (lexical_declaration (variable_declarator name: (identifier) @name)) @definition.constant)
(program (variable_declaration (variable_declarator name: (identifier) @name)) @definition.constant)
(program (export_statement declaration: (lexical_declaration (variable_declarator name: (identifier) @name)) @definition.constant))

((assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @scope property: (property_identifier) @prototype)
    property: (property_identifier) @name)
  right: [(function_expression) (arrow_function)]) @definition.method
  (#eq? @prototype "prototype"))

(export_statement "default" @name value: [(arrow_function) (class) (function_expression)]) @definition.function

(export_statement declaration: (_)) @wrap
[(comment) (decorator)] @lead
"#;

const JAVASCRIPT_REFERENCES: &str = r#"
; What the grammar's own tags leave out.

(new_expression constructor: (_) @name) @reference.call
(decorator [(identifier) @name (member_expression property: (_) @name)]) @reference.call
((member_expression object: (identifier) @name) @reference.type (#match? @name "^[A-Z][a-z]"))
"#;

const ELEMENTS: &str = r#"
; A component is called by its tag; small letters are elements of the page.

((jsx_opening_element name: (identifier) @name) @reference.call (#match? @name "^[A-Z]"))
((jsx_self_closing_element name: (identifier) @name) @reference.call (#match? @name "^[A-Z]"))
"#;

/// JavaScript and JSX.
pub const JAVASCRIPT: Language = code("javascript", "JavaScript", "js mjs cjs es6 jsm")
    .files("jakefile")
    .interpreters("node nodejs bun qjs")
    .aliases("node nodejs ecmascript")
    .related_to("typescript")
    .parsed(JAVASCRIPT_GRAMMAR);

pub const JSX: Language =
    code("jsx", "JSX", "jsx").aliases("javascriptreact").dialect_of("javascript").parsed(JAVASCRIPT_GRAMMAR);

const TYPESCRIPT_DEFINITIONS: &str = r"
; What neither the grammar's own tags nor those of JavaScript have.

(type_alias_declaration name: (type_identifier) @name) @definition.alias
(enum_declaration name: (identifier) @name) @definition.class
(internal_module name: (_) @name) @definition.module
(module name: (_) @name) @definition.module
(public_field_definition name: (_) @name value: [(arrow_function) (function_expression)]) @definition.method
(ambient_declaration (lexical_declaration (variable_declarator name: (identifier) @name)) @definition.constant)

(ambient_declaration) @wrap
";

const TYPESCRIPT_REFERENCES: &str = r"
; What neither the grammar's own tags nor those of JavaScript have.

(extends_clause value: (_) @name) @reference.implementation
(implements_clause (_) @name) @reference.implementation
(extends_type_clause type: (_) @name) @reference.implementation

(type_identifier) @name @reference.type
";

/// TypeScript and TSX.
#[rustfmt::skip]
pub const TYPESCRIPT: Language = code("typescript", "TypeScript", "ts mts cts")
    .interpreters("deno ts-node tsx")
    .related_to("javascript")
    .parsed(grammar!(
        "typescript",
        tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
        [
        tree_sitter_javascript::TAGS_QUERY,
        tree_sitter_typescript::TAGS_QUERY,
        JAVASCRIPT_DEFINITIONS,
        TYPESCRIPT_DEFINITIONS
        ],
        [tree_sitter_javascript::TAGS_QUERY, JAVASCRIPT_REFERENCES, TYPESCRIPT_REFERENCES]
    ));

#[rustfmt::skip]
pub const TSX: Language =
    code("tsx", "TSX", "tsx").aliases("typescriptreact").dialect_of("typescript").parsed(grammar!(
        "typescript",
        tree_sitter_typescript::LANGUAGE_TSX,
        [
        tree_sitter_javascript::TAGS_QUERY,
        tree_sitter_typescript::TAGS_QUERY,
        JAVASCRIPT_DEFINITIONS,
        TYPESCRIPT_DEFINITIONS
        ],
        [tree_sitter_javascript::TAGS_QUERY, JAVASCRIPT_REFERENCES, TYPESCRIPT_REFERENCES, ELEMENTS]
    ));

const COMPONENTS_GRAMMAR: Parsing = grammar!(
    "typescript",
    tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
    [tree_sitter_javascript::TAGS_QUERY, tree_sitter_typescript::TAGS_QUERY, JAVASCRIPT_DEFINITIONS, TYPESCRIPT_DEFINITIONS],
    [tree_sitter_javascript::TAGS_QUERY, JAVASCRIPT_REFERENCES, TYPESCRIPT_REFERENCES],
    rewrite: Some(scripts)
);

/// Components of Vue and Svelte: files with a template, whose scripts are read as TypeScript.
pub const VUE: Language = code("vue", "Vue", "vue").related_to("typescript javascript").parsed(COMPONENTS_GRAMMAR);

pub const SVELTE: Language =
    code("svelte", "Svelte", "svelte").related_to("typescript javascript").parsed(COMPONENTS_GRAMMAR);

/// The text with everything but its scripts blanked out, so that all places stay the same.
fn scripts(text: &str) -> Option<String> {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = find_tag(rest, "<script") {
        // Attributes of Svelte and Vue have no `>` in them outside of expressions, which scripts do not take.
        let Some(open) = rest[start..].find('>').map(|end| start + end + 1) else { break };
        blank(&rest[..open], &mut kept);
        rest = &rest[open..];
        let end = find_tag(rest, "</script").unwrap_or(rest.len());
        kept.push_str(&rest[..end]);
        rest = &rest[end..];
    }
    blank(rest, &mut kept);
    Some(kept)
}

/// The start of a tag, in any case: `<script` followed by white space or `>`.
fn find_tag(text: &str, tag: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(start) = text[from..].find('<').map(|at| from + at) {
        let end = start + tag.len();
        let name = bytes.get(start..end).is_some_and(|found| found.eq_ignore_ascii_case(tag.as_bytes()));
        if name && bytes.get(end).is_none_or(|next| next.is_ascii_whitespace() || *next == b'>') {
            return Some(start);
        }
        from = start + 1;
    }
    None
}

/// Replaces every byte by a space, except line ends.
fn blank(text: &str, kept: &mut String) {
    kept.extend(text.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_scripts_are_read_and_every_place_stays() {
        let text =
            "<p>é {x > 1}</p>\n<SCRIPT lang=\"ts\">\nlet a = '<p>';\n</script>\n<scripted>b</scripted>\n<script>c()";
        let read = scripts(text).unwrap_or_default();
        assert_eq!(read.len(), text.len());
        let words: Vec<_> = read.lines().map(str::trim).collect();
        assert_eq!(words, ["", "", "let a = '<p>';", "", "", "c()"]);
        assert_eq!(scripts("<script").unwrap_or_default(), "       ");
    }
}
