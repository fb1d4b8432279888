//! Languages of one field each: user interfaces (Dart), administration (PowerShell), statistics (R), contracts (Solidity), and
//! interfaces over the web (GraphQL).

use super::Naming;
use crate::languages::{Language, code};

/// Dart.
#[rustfmt::skip]
pub const DART: Language = code("dart", "Dart", "dart").interpreters("dart").parsed(grammar!(
        "dart",
        tree_sitter_dart::LANGUAGE,
        [r"
; Instead of the grammar's own tags, which take the signature of a method for the whole.

(class_declaration name: (identifier) @name) @definition.class
(mixin_declaration name: (identifier) @name) @definition.class
(extension_declaration name: (identifier) @name) @definition.class
(extension_type_declaration name: (extension_type_name (identifier) @name)) @definition.class
(enum_declaration name: (identifier) @name) @definition.class
(type_alias . (type_identifier) @name) @definition.alias

(function_declaration signature: (function_signature name: (identifier) @name)) @definition.function
(getter_declaration signature: (getter_signature name: (identifier) @name)) @definition.function
(setter_declaration signature: (setter_signature name: (identifier) @name)) @definition.function

(member_declaration (method_declaration signature: (method_signature
  (function_signature name: (identifier) @name)))) @definition.method
(member_declaration (method_declaration signature: (method_signature
  (getter_signature name: (identifier) @name)))) @definition.method
(member_declaration (method_declaration signature: (method_signature
  (setter_signature name: (identifier) @name)))) @definition.method
(member_declaration (method_declaration signature: (method_signature
  (operator_signature operator: _ @name)))) @definition.method
; A constructor that is named bears the name after its type's.
(member_declaration (method_declaration signature: (method_signature
  (constructor_signature name: (identifier) @name .  parameters: (_))))) @definition.method
(member_declaration (method_declaration signature: (method_signature
  (factory_constructor_signature name: (identifier) @name . parameters: (_))))) @definition.method
(member_declaration (declaration (function_signature name: (identifier) @name))) @definition.method

(source_file (top_level_variable_declaration
  (static_final_declaration_list . (static_final_declaration name: (identifier) @name))) @definition.constant)
(source_file (top_level_variable_declaration
  (initialized_identifier_list . (initialized_identifier name: (identifier) @name))) @definition.constant)

[(comment) (documentation_comment) (annotation)] @lead
"],
        [r#"
; Instead of the grammar's own tags, which miss types.

(call_expression function: (identifier) @name) @reference.call
(call_expression function: (member_expression property: (identifier) @name)) @reference.call
(call_expression function: (null_aware_member_expression property: (identifier) @name)) @reference.call
(cascade_call_expression property: (identifier) @name) @reference.call

(superclass type: (type . (type_identifier) @name)) @reference.implementation
(mixins (type . (type_identifier) @name)) @reference.implementation
(interfaces (type . (type_identifier) @name)) @reference.implementation

(type_identifier) @name @reference.type
((member_expression object: (identifier) @name) @reference.type (#match? @name "^[A-Z]"))
"#]
    ));

/// PowerShell.
#[rustfmt::skip]
pub const POWERSHELL: Language = code("powershell", "PowerShell", "ps1 psm1 psd1 ps1xml")
    .interpreters("pwsh powershell")
    .aliases("ps")
    .parsed(grammar!(
        "powershell",
        tree_sitter_powershell::LANGUAGE,
        [r"
; The grammar has no tags of its own.

(function_statement (function_name) @name) @definition.function
(class_statement . (simple_name) @name) @definition.class
(enum_statement . (simple_name) @name) @definition.class
(class_method_definition (simple_name) @name) @definition.method

(comment) @lead
"],
        [r"
; The grammar has no tags of its own.

(command command_name: (command_name) @name) @reference.call
(invokation_expression (member_name (simple_name) @name)) @reference.call
(class_statement . (simple_name) . (simple_name) @name @reference.implementation)
(type_literal (type_spec (type_name (type_identifier) @name))) @reference.type
"],
        depth: 8
    ));

/// R, whose classes are calls.
#[rustfmt::skip]
pub const R: Language = code("r", "R", "r")
    .files(".rprofile")
    .interpreters("rscript r")
    .parsed(grammar!(
        "r",
        tree_sitter_r::LANGUAGE,
        [r#"
; Instead of the grammar's own tags, which miss methods and classes.

(program (binary_operator
  lhs: [(identifier) (string) (extract_operator)] @name
  operator: ["<-" "<<-" "="]
  rhs: (function_definition)) @definition.function)
((program (call
  function: (identifier) @function
  arguments: (arguments . (argument value: (string (string_content) @name)))) @definition.class)
  (#any-of? @function "setClass" "setRefClass" "setClassUnion"))
((program (call
  function: (identifier) @function
  arguments: (arguments . (argument value: (string (string_content) @name)))) @definition.function)
  (#any-of? @function "setGeneric" "setMethod" "setValidity"))
((program (binary_operator
  lhs: (identifier) @name
  rhs: (call function: [(identifier) @function (namespace_operator rhs: (identifier) @function)])) @definition.class)
  (#any-of? @function "R6Class" "setRefClass" "setClass" "new_class" "ggproto"))
((call
  function: (identifier) @function
  arguments: (arguments (argument name: (identifier) @name value: (function_definition)) @definition.method))
  (#eq? @function "list"))
(program (binary_operator
  lhs: (identifier) @name
  operator: ["<-" "="]
  rhs: [(float) (integer) (string) (true) (false)]) @definition.constant)

(comment) @lead
"#],
        [r"
(call function: (identifier) @name) @reference.call
(call function: (namespace_operator rhs: (identifier) @name)) @reference.call
(call function: (extract_operator rhs: (identifier) @name)) @reference.call
"],
        depth: 10,
        naming: Naming { member: "$", ..Naming::DOTS }
    ));

/// Solidity.
#[rustfmt::skip]
pub const SOLIDITY: Language = code("solidity", "Solidity", "sol").parsed(grammar!(
        "solidity",
        tree_sitter_solidity::LANGUAGE,
        [r#"
; Instead of the grammar's own tags, which take libraries for interfaces and miss modifiers.

(contract_declaration name: (identifier) @name) @definition.class
(library_declaration name: (identifier) @name) @definition.class
(interface_declaration name: (identifier) @name) @definition.interface
(struct_declaration name: (identifier) @name) @definition.class
(enum_declaration name: (identifier) @name) @definition.class
(user_defined_type_definition name: (identifier) @name) @definition.alias
(event_definition name: (identifier) @name) @definition.class
(error_declaration name: (identifier) @name) @definition.class

(source_file (function_definition name: (identifier) @name) @definition.function)
(contract_body (function_definition name: (identifier) @name) @definition.method)
(contract_body (modifier_definition name: (identifier) @name) @definition.method)
(contract_body (constructor_definition "constructor" @name) @definition.method)
(contract_body (fallback_receive_definition ["receive" "fallback"] @name) @definition.method)
(source_file (constant_variable_declaration name: (identifier) @name) @definition.constant)

(comment) @lead
"#],
        [r"
; Instead of the grammar's own tags, which miss types.

(call_expression function: (expression (identifier) @name)) @reference.call
(call_expression function: (expression (member_expression property: (identifier) @name))) @reference.call
(emit_statement name: (expression (identifier) @name)) @reference.call
(revert_statement error: (expression (identifier) @name)) @reference.call
(modifier_invocation . (identifier) @name) @reference.call
(inheritance_specifier ancestor: (user_defined_type (identifier) @name .)) @reference.implementation
(user_defined_type (identifier) @name .) @reference.type
"]
    ));

/// GraphQL.
#[rustfmt::skip]
pub const GRAPHQL: Language = code("graphql", "GraphQL", "graphql gql graphqls").parsed(grammar!(
        "graphql",
        tree_sitter_graphql::LANGUAGE,
        [r"
; The grammar has no tags of its own.

(object_type_definition (name) @name) @definition.class
(object_type_extension (name) @name) @definition.class
(interface_type_definition (name) @name) @definition.interface
(interface_type_extension (name) @name) @definition.interface
(input_object_type_definition (name) @name) @definition.class
(input_object_type_extension (name) @name) @definition.class
(enum_type_definition (name) @name) @definition.class
(enum_type_extension (name) @name) @definition.class
(union_type_definition (name) @name) @definition.class
(union_type_extension (name) @name) @definition.class
(scalar_type_definition (name) @name) @definition.alias
(directive_definition (name) @name) @definition.function
(operation_definition (name) @name) @definition.function
(fragment_definition (fragment_name (name) @name)) @definition.function

(comment) @lead
"],
        [r"
; The grammar has no tags of its own.

(fragment_spread (fragment_name (name) @name)) @reference.call
(directive (name) @name) @reference.call
(implements_interfaces (named_type (name) @name)) @reference.implementation
(named_type (name) @name) @reference.type
"],
        depth: 10
    ));
