//! C++.

use super::c;
use super::function_macros;
use super::grammar;
use crate::languages::grammar::{Grammar, Naming};
use crate::languages::language::{Language, Parsing};

pub(in crate::languages) const LANGUAGE: Language = Language::code(
    "cpp",
    "C++",
    &[
        "cpp", "cc", "cxx", "c++", "hpp", "hh", "hxx", "h++", "ipp", "inl", "tpp", "cu", "cuh", "tcc", "txx", "ixx",
        "cppm", "ino", "hip",
    ],
)
.parsed(GRAMMAR)
.aliases(&["cplusplus", "cuda"])
.related_to(&["c"]);

const GRAMMAR: Parsing = grammar!(
    "cpp",
    Grammar {
        language: || tree_sitter_cpp::LANGUAGE.into(),
        definitions: &[tree_sitter_cpp::TAGS_QUERY, c::DEFINITIONS, DEFINITIONS],
        references: &[c::REFERENCES, REFERENCES],
        depth: 16,
        naming: Naming { nested: "::", member: "::", ..Naming::DOTS },
        rewrite: Some(function_macros::blanked_cpp),
        title: None,
    }
);

const DEFINITIONS: &str = r"
; What neither the grammar's own tags nor the additions for C have.

(namespace_definition name: (_) @name) @definition.module
(alias_declaration name: (type_identifier) @name) @definition.alias
(concept_definition name: (identifier) @name) @definition.interface
(function_declarator declarator: (qualified_identifier) @name) @definition.method
(function_declarator declarator: [(destructor_name) (operator_name) (template_function)] @name) @definition.function
(function_definition declarator: (operator_cast) @name) @definition.method
(struct_specifier name: (template_type) @name body: (_)) @definition.class
(class_specifier name: (template_type) @name body: (_)) @definition.class
(struct_specifier name: (qualified_identifier) @name body: (_)) @definition.class
(class_specifier name: (qualified_identifier) @name body: (_)) @definition.class

(template_declaration) @wrap
";

const REFERENCES: &str = r#"
; What C has not.

(call_expression function: (qualified_identifier name: (_) @name)) @reference.call
(call_expression function: (template_function name: (_) @name)) @reference.call
(call_expression function: (field_expression field: (template_method name: (_) @name))) @reference.call
(new_expression type: (_) @name) @reference.call

(base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @name) @reference.implementation
((qualified_identifier scope: (namespace_identifier) @name) @reference.type (#match? @name "^[A-Z]"))
"#;
