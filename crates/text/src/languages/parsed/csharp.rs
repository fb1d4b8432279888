//! C#.

use super::grammar;
use crate::languages::grammar::{Grammar, Naming};
use crate::languages::language::{Language, Parsing};

pub(in crate::languages) const LANGUAGE: Language = Language::code("csharp", "C#", &["cs", "csx", "cake"])
    .parsed(GRAMMAR)
    .interpreters(&["dotnet-script"])
    .aliases(&["dotnet"]);

const GRAMMAR: Parsing = grammar!(
    "csharp",
    Grammar {
        language: || tree_sitter_c_sharp::LANGUAGE.into(),
        definitions: &[tree_sitter_c_sharp::TAGS_QUERY, DEFINITIONS],
        references: &[tree_sitter_c_sharp::TAGS_QUERY, REFERENCES],
        depth: 12,
        naming: Naming::DOTS,
        rewrite: None,
        title: None,
    }
);

const DEFINITIONS: &str = r#"
; What the grammar's own tags leave out.

(struct_declaration name: (identifier) @name) @definition.class
(record_declaration name: (identifier) @name) @definition.class
(enum_declaration name: (identifier) @name) @definition.class
(delegate_declaration name: (identifier) @name) @definition.alias
(constructor_declaration name: (identifier) @name) @definition.method
(destructor_declaration "~" @name name: (identifier) @name) @definition.method
(operator_declaration "operator" @name operator: _ @name) @definition.method
(conversion_operator_declaration "operator" @name type: (_) @name) @definition.method
(indexer_declaration "this" @name) @definition.method
(local_function_statement name: (identifier) @name) @definition.function

; A property that computes is a method; one that only stores belongs to its type.
(property_declaration name: (identifier) @name value: (arrow_expression_clause)) @definition.method
(property_declaration
  name: (identifier) @name
  accessors: (accessor_list (accessor_declaration body: (_)))) @definition.method
(event_declaration name: (identifier) @name accessors: (_)) @definition.method

(namespace_declaration name: (_) @name) @definition.module
(file_scoped_namespace_declaration name: (_) @namespace)

(comment) @lead
"#;

const REFERENCES: &str = r#"
; What the grammar's own tags leave out.

(invocation_expression function: [(identifier) (generic_name)] @name) @reference.call
(invocation_expression function: (member_access_expression name: (_) @name)) @reference.call
(member_binding_expression name: (_) @name) @reference.call
(object_creation_expression type: (_) @name) @reference.call

(base_list [(identifier) (generic_name) (qualified_name)] @name) @reference.implementation

(_ type: [(identifier) (generic_name) (qualified_name)] @name) @reference.type
(_ returns: [(identifier) (generic_name) (qualified_name)] @name) @reference.type
(type_argument_list [(identifier) (generic_name) (qualified_name)] @name) @reference.type
(attribute name: (_) @name) @reference.type
((member_access_expression expression: (identifier) @name) @reference.type (#match? @name "^[A-Z]"))
"#;
