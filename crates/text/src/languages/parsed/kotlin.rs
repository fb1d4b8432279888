//! Kotlin, whose grammar has no tags of its own.

use super::grammar;
use crate::languages::grammar::{Grammar, Naming};
use crate::languages::language::{Language, Parsing};

pub(in crate::languages) const LANGUAGE: Language = Language::code("kotlin", "Kotlin", &["kt", "kts"])
    .parsed(GRAMMAR)
    .interpreters(&["kotlin", "kotlinc"])
    .related_to(&["java"]);

const GRAMMAR: Parsing = grammar!(
    "kotlin",
    Grammar {
        language: || tree_sitter_kotlin_ng::LANGUAGE.into(),
        definitions: &[DEFINITIONS],
        references: &[REFERENCES],
        depth: 12,
        naming: Naming::DOTS,
        rewrite: None,
        title: None,
    }
);

const DEFINITIONS: &str = r#"
; The grammar has no tags of its own.

(class_declaration name: (identifier) @name) @definition.class
(class_declaration "interface" name: (identifier) @name) @definition.interface
(object_declaration name: (identifier) @name) @definition.class
(type_alias type: (identifier) @name) @definition.alias
(function_declaration name: (identifier) @name) @definition.function
(function_declaration (_) @scope . "." . name: (identifier) @name) @definition.method
(secondary_constructor "constructor" @name) @definition.method

; A property that computes is a method; one that only stores belongs to its type.
(property_declaration (variable_declaration (identifier) @name) [(getter) (setter)]) @definition.method
(property_declaration (_) @scope . "." . (variable_declaration (identifier) @name)) @definition.method
(source_file (property_declaration (variable_declaration (identifier) @name)) @definition.constant)

[(line_comment) (block_comment)] @lead
"#;

const REFERENCES: &str = r#"
; The grammar has no tags of its own.

(call_expression . (identifier) @name) @reference.call
(call_expression . (navigation_expression (identifier) @name .)) @reference.call

(delegation_specifier (user_type (identifier) @name . (type_arguments)? .)) @reference.implementation
(delegation_specifier
  (constructor_invocation (user_type (identifier) @name . (type_arguments)? .))) @reference.implementation
(delegation_specifier
  (explicit_delegation (user_type (identifier) @name . (type_arguments)? .))) @reference.implementation

(user_type (identifier) @name . (type_arguments)? .) @reference.type
((navigation_expression . (identifier) @name) @reference.type (#match? @name "^[A-Z]"))
"#;
