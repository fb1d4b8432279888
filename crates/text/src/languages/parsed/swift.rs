//! Swift. The tags of its grammar take the whole class for each of its methods, so they are not used.

use super::grammar;
use crate::languages::grammar::{Grammar, Naming};
use crate::languages::language::{Language, Parsing};

pub(in crate::languages) const LANGUAGE: Language =
    Language::code("swift", "Swift", &["swift", "swiftinterface"]).parsed(GRAMMAR).interpreters(&["swift"]);

const GRAMMAR: Parsing = grammar!(
    "swift",
    Grammar {
        language: || tree_sitter_swift::LANGUAGE.into(),
        definitions: &[DEFINITIONS],
        references: &[REFERENCES],
        depth: 12,
        naming: Naming::DOTS,
        rewrite: None,
        title: None,
    }
);

const DEFINITIONS: &str = r#"
; Instead of the grammar's own tags, which take the whole class for each of its methods.

(class_declaration name: (_) @name) @definition.class
(class_declaration declaration_kind: "extension" name: (_) @name) @definition.implementation
(protocol_declaration name: (type_identifier) @name) @definition.interface
(typealias_declaration name: (type_identifier) @name) @definition.alias
(function_declaration name: (simple_identifier) @name) @definition.function
(function_declaration
  name: [
    (custom_operator) (bang)
    "!=" "!==" "%" "%=" "&" "*" "*=" "+" "++" "+=" "-" "--" "-=" "/" "/=" "<" "<<" "<=" "=" "==" "===" ">" ">=" ">>"
    "^" "|" "~"
  ] @name) @definition.function
(init_declaration "init" @name) @definition.method
(deinit_declaration "deinit" @name) @definition.method
(subscript_declaration "subscript" @name) @definition.method
(macro_declaration (simple_identifier) @name) @definition.macro

; A property that computes is a method; one that only stores belongs to its type.
(property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)
  computed_value: (_)) @definition.method
(source_file
  (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @definition.constant)

[(comment) (multiline_comment)] @lead
"#;

const REFERENCES: &str = r#"
; Instead of the grammar's own tags, which have no references.

(call_expression . (simple_identifier) @name) @reference.call
(call_expression . (navigation_expression suffix: (navigation_suffix suffix: (simple_identifier) @name))) @reference.call
(macro_invocation (simple_identifier) @name) @reference.call

(inheritance_specifier inherits_from: (user_type (type_identifier) @name)) @reference.implementation

(user_type (type_identifier) @name) @reference.type
((navigation_expression target: (simple_identifier) @name) @reference.type (#match? @name "^[A-Z]"))
"#;
