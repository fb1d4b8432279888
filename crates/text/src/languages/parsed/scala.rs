//! Scala 2 and 3.

use super::grammar;
use crate::languages::grammar::{Grammar, Naming};
use crate::languages::language::{Language, Parsing};

pub(in crate::languages) const LANGUAGE: Language = Language::code("scala", "Scala", &["scala", "sc", "sbt", "mill"])
    .parsed(GRAMMAR)
    .interpreters(&["scala", "scala-cli"])
    .related_to(&["java"]);

const GRAMMAR: Parsing = grammar!(
    "scala",
    Grammar {
        language: || tree_sitter_scala::LANGUAGE.into(),
        definitions: &[DEFINITIONS],
        references: &[REFERENCES],
        depth: 12,
        naming: Naming::DOTS,
        rewrite: None,
        title: None,
    }
);

const DEFINITIONS: &str = r"
; Instead of the grammar's own tags, which leave out objects.

(class_definition name: (_) @name) @definition.class
(object_definition name: (_) @name) @definition.class
(enum_definition name: (_) @name) @definition.class
(trait_definition name: (_) @name) @definition.interface
(function_definition name: (_) @name) @definition.function
(function_declaration name: (_) @name) @definition.function
(type_definition name: (_) @name) @definition.alias
(compilation_unit (val_definition pattern: (identifier) @name) @definition.constant)
(given_definition name: (_) @name) @definition.class
(extension_definition parameters: (parameters (parameter type: (_) @name))) @definition.implementation

[(comment) (block_comment)] @lead
";

const REFERENCES: &str = r#"
; Instead of the grammar's own tags, which take what `new` creates for a supertype.

(call_expression function: (identifier) @name) @reference.call
(call_expression function: (field_expression field: (identifier) @name)) @reference.call
(call_expression function: (generic_function function: (identifier) @name)) @reference.call
(call_expression function: (generic_function function: (field_expression field: (identifier) @name))) @reference.call
(instance_expression (type_identifier) @name) @reference.call
(instance_expression (generic_type type: (type_identifier) @name)) @reference.call
(infix_expression operator: (identifier) @name) @reference.call
; A method without parentheses looks like a field.
(field_expression field: (identifier) @name) @reference.call

(extends_clause (type_identifier) @name) @reference.implementation
(extends_clause (generic_type type: (type_identifier) @name)) @reference.implementation
(extends_clause (compound_type (type_identifier) @name)) @reference.implementation
(extends_clause (compound_type (generic_type type: (type_identifier) @name))) @reference.implementation
(extends_clause (applied_constructor_type (type_identifier) @name)) @reference.implementation
(extends_clause (applied_constructor_type (generic_type type: (type_identifier) @name))) @reference.implementation

(type_identifier) @name @reference.type
((field_expression value: (identifier) @name) @reference.type (#match? @name "^[A-Z]"))
"#;
