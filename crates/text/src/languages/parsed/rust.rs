//! Rust.

use super::grammar;
use crate::languages::grammar::{Grammar, Naming};
use crate::languages::language::{Language, Parsing};

pub(in crate::languages) const LANGUAGE: Language =
    Language::code("rust", "Rust", &["rs"]).parsed(GRAMMAR).interpreters(&["rust-script"]);

const GRAMMAR: Parsing = grammar!(
    "rust",
    Grammar {
        language: || tree_sitter_rust::LANGUAGE.into(),
        definitions: &[tree_sitter_rust::TAGS_QUERY, DEFINITIONS],
        references: &[tree_sitter_rust::TAGS_QUERY, REFERENCES],
        depth: 8,
        naming: Naming { nested: "::", member: "::", ..Naming::DOTS },
        rewrite: None,
        title: Some(title),
    }
);

const DEFINITIONS: &str = r"
; What the grammar's own tags leave out.

(impl_item type: (_) @name) @definition.implementation
(type_item name: (type_identifier) @name) @definition.alias
(const_item name: (identifier) @name) @definition.constant
(static_item name: (identifier) @name) @definition.constant

[(line_comment) (block_comment) (attribute_item)] @lead
";

const REFERENCES: &str = r#"
; What the grammar's own tags leave out.

(call_expression function: (scoped_identifier name: (identifier) @name)) @reference.call
(call_expression
  function: (generic_function
    function: [
      (identifier) @name
      (scoped_identifier name: (identifier) @name)
      (field_expression field: (field_identifier) @name)])) @reference.call
(macro_invocation macro: (scoped_identifier name: (identifier) @name)) @reference.call
; Inside of a macro there are only tokens.
(token_tree (identifier) @name . (token_tree "(")) @reference.call

(impl_item trait: (generic_type type: (_) @name)) @reference.implementation
(impl_item trait: (scoped_type_identifier name: (_) @name)) @reference.implementation
((attribute (identifier) @attribute arguments: (token_tree (identifier) @name)) @reference.implementation
  (#eq? @attribute "derive"))

(type_identifier) @name @reference.type
((scoped_identifier path: [(identifier) @name (scoped_identifier name: (identifier) @name)]) @reference.type
  (#match? @name "^[A-Z]"))
"#;

/// The first line of the module's documentation, which begins with `//!`.
fn title<'text>(rows: &[&'text str]) -> Option<&'text str> {
    rows.iter().find_map(|line| line.strip_prefix("//!").map(str::trim).filter(|line| !line.is_empty()))
}
