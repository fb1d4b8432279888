//! Zig, whose grammar has no tags of its own.

use super::grammar;
use crate::languages::grammar::{Grammar, Naming};
use crate::languages::language::{Language, Parsing};

pub(in crate::languages) const LANGUAGE: Language = Language::code("zig", "Zig", &["zig", "zon"]).parsed(GRAMMAR);

const GRAMMAR: Parsing = grammar!(
    "zig",
    Grammar {
        language: || tree_sitter_zig::LANGUAGE.into(),
        definitions: &[DEFINITIONS],
        references: &[REFERENCES],
        depth: 8,
        naming: Naming::DOTS,
        rewrite: None,
        title: Some(title),
    }
);

const DEFINITIONS: &str = r#"
; The grammar has no tags of its own.

(function_declaration name: (identifier) @name) @definition.function
(variable_declaration . (identifier) @name [
  (struct_declaration)
  (union_declaration)
  (enum_declaration)
  (opaque_declaration)
  (error_set_declaration)
]) @definition.class
((source_file (variable_declaration . (identifier) @name (_) @value) @definition.constant)
  (#not-match? @value "^@import"))
; The names of tests are sentences.
(test_declaration "test" @name) @definition.function

(comment) @lead
"#;

const REFERENCES: &str = r#"
; The grammar has no tags of its own.

(call_expression function: (identifier) @name) @reference.call
(call_expression function: (field_expression member: (identifier) @name)) @reference.call

(parameter type: (identifier) @name) @reference.type
(container_field type: (identifier) @name) @reference.type
(function_declaration type: (identifier) @name) @reference.type
(variable_declaration type: (identifier) @name) @reference.type
(pointer_type (identifier) @name) @reference.type
(slice_type (identifier) @name) @reference.type
(nullable_type (identifier) @name) @reference.type
(error_union_type ok: (identifier) @name) @reference.type
(error_union_type error: (identifier) @name) @reference.type
(struct_initializer . (identifier) @name) @reference.type
((field_expression object: (identifier) @name) @reference.type (#match? @name "^[A-Z]"))
"#;

/// The first line of the module's documentation, which begins with `//!`.
fn title<'text>(rows: &[&'text str]) -> Option<&'text str> {
    rows.iter().find_map(|line| line.strip_prefix("//!").map(str::trim).filter(|line| !line.is_empty()))
}
