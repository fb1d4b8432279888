//! JavaScript and JSX.

use super::grammar;
use crate::languages::grammar::{Grammar, Naming};
use crate::languages::language::{Language, Parsing};

pub(in crate::languages) const LANGUAGE: Language =
    Language::code("javascript", "JavaScript", &["js", "mjs", "cjs", "es6", "jsm"])
        .parsed(GRAMMAR)
        .files(&["jakefile"])
        .interpreters(&["node", "nodejs", "bun", "qjs"])
        .aliases(&["node", "nodejs", "ecmascript"])
        .related_to(&["typescript"]);

pub(in crate::languages) const JSX: Language =
    Language::code("jsx", "JSX", &["jsx"]).parsed(GRAMMAR).aliases(&["javascriptreact"]).dialect_of("javascript");

const GRAMMAR: Parsing = grammar!(
    "javascript",
    Grammar {
        language: || tree_sitter_javascript::LANGUAGE.into(),
        definitions: &[tree_sitter_javascript::TAGS_QUERY, DEFINITIONS, FIELDS],
        references: &[tree_sitter_javascript::TAGS_QUERY, REFERENCES, CLASSES, ELEMENTS],
        depth: 12,
        naming: Naming::DOTS,
        rewrite: None,
        title: None,
    }
);

pub(super) const DEFINITIONS: &str = r#"
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

const FIELDS: &str = r"
(field_definition property: (_) @name value: [(arrow_function) (function_expression)]) @definition.method
";

pub(super) const REFERENCES: &str = r#"
; What the grammar's own tags leave out.

(new_expression constructor: (_) @name) @reference.call
(decorator [(identifier) @name (member_expression property: (_) @name)]) @reference.call
((member_expression object: (identifier) @name) @reference.type (#match? @name "^[A-Z][a-z]"))
"#;

const CLASSES: &str = r"
(class_heritage [(identifier) @name (member_expression property: (_) @name)]) @reference.implementation
";

pub(super) const ELEMENTS: &str = r#"
; A component is called by its tag; small letters are elements of the page.

((jsx_opening_element name: (identifier) @name) @reference.call (#match? @name "^[A-Z]"))
((jsx_self_closing_element name: (identifier) @name) @reference.call (#match? @name "^[A-Z]"))
"#;
