//! Java.

use super::grammar;
use crate::languages::grammar::{Grammar, Naming};
use crate::languages::language::{Language, Parsing};

pub(in crate::languages) const LANGUAGE: Language =
    Language::code("java", "Java", &["java", "jsh"]).parsed(GRAMMAR).interpreters(&["java", "jbang"]);

const GRAMMAR: Parsing = grammar!(
    "java",
    Grammar {
        language: || tree_sitter_java::LANGUAGE.into(),
        definitions: &[tree_sitter_java::TAGS_QUERY, DEFINITIONS],
        references: &[tree_sitter_java::TAGS_QUERY, REFERENCES],
        depth: 10,
        naming: Naming::DOTS,
        rewrite: None,
        title: None,
    }
);

const DEFINITIONS: &str = r"
; What the grammar's own tags leave out.

(enum_declaration name: (identifier) @name) @definition.class
(record_declaration name: (identifier) @name) @definition.class
(annotation_type_declaration name: (identifier) @name) @definition.interface
(constructor_declaration name: (identifier) @name) @definition.method
(compact_constructor_declaration name: (identifier) @name) @definition.method

[(line_comment) (block_comment)] @lead
";

const REFERENCES: &str = r#"
; What the grammar's own tags leave out.

(object_creation_expression type: (_) @name) @reference.call
(method_reference (identifier) @name .) @reference.call

(superclass (_) @name) @reference.implementation
(type_list (generic_type (type_identifier) @name)) @reference.implementation

(type_identifier) @name @reference.type
(marker_annotation name: (_) @name) @reference.type
(annotation name: (_) @name) @reference.type
((method_invocation object: (identifier) @name) @reference.type (#match? @name "^[A-Z]"))
"#;
