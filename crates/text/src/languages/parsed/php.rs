//! PHP.

use super::grammar;
use crate::languages::grammar::{Grammar, Naming};
use crate::languages::language::{Language, Parsing};

pub(in crate::languages) const LANGUAGE: Language =
    Language::code("php", "PHP", &["php", "phtml", "php3", "php4", "php5", "php7", "php8", "pht"])
        .parsed(GRAMMAR)
        .interpreters(&["php", "php-cgi"]);

const GRAMMAR: Parsing = grammar!(
    "php",
    Grammar {
        language: || tree_sitter_php::LANGUAGE_PHP.into(),
        definitions: &[tree_sitter_php::TAGS_QUERY, DEFINITIONS],
        references: &[REFERENCES],
        depth: 12,
        naming: Naming { nested: "\\", member: "::", ..Naming::DOTS },
        rewrite: None,
        title: None,
    }
);

const DEFINITIONS: &str = r#"
; What the grammar's own tags leave out.

(enum_declaration name: (name) @name) @definition.class
(program (const_declaration (const_element . (name) @name)) @definition.constant)
((expression_statement
  (function_call_expression function: (name) @function arguments: (arguments . (argument (string) @name))))
  @definition.constant
  (#eq? @function "define"))

(namespace_definition name: (namespace_name) @namespace !body)

(comment) @lead
"#;

const REFERENCES: &str = r#"
; Instead of the grammar's own tags, which take variables for what they hold.

(function_call_expression function: [(name) (qualified_name)] @name) @reference.call
(member_call_expression name: (name) @name) @reference.call
(nullsafe_member_call_expression name: (name) @name) @reference.call
(scoped_call_expression name: (name) @name) @reference.call
(object_creation_expression [(name) (qualified_name)] @name) @reference.call

(base_clause [(name) (qualified_name)] @name) @reference.implementation
(class_interface_clause [(name) (qualified_name)] @name) @reference.implementation
(use_declaration [(name) (qualified_name)] @name) @reference.implementation

(named_type [(name) (qualified_name)] @name) @reference.type
(scoped_call_expression scope: [(name) (qualified_name)] @name) @reference.type
(class_constant_access_expression . [(name) (qualified_name)] @name) @reference.type
(attribute [(name) (qualified_name)] @name) @reference.type
(binary_expression operator: "instanceof" right: [(name) (qualified_name)] @name) @reference.type
"#;
