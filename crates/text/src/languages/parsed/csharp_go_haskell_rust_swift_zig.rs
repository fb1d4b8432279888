//! Other compiled languages: C#, Go, Haskell, Rust, Swift, Zig.

use super::{Ends, Naming};
use crate::languages::{Language, code};

/// C#.
#[rustfmt::skip]
pub const CSHARP: Language = code("csharp", "C#", "cs csx cake")
    .interpreters("dotnet-script")
    .aliases("dotnet")
    .parsed(grammar!(
        "csharp",
        tree_sitter_c_sharp::LANGUAGE,
        [
        tree_sitter_c_sharp::TAGS_QUERY,
         r#"
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
"#
        ],
        [
        tree_sitter_c_sharp::TAGS_QUERY,
         r#"
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
"#
        ]
    ));

/// Go.
#[rustfmt::skip]
pub const GO: Language =
    code("go", "Go", "go").interpreters("gorun").aliases("golang").parsed(grammar!(
        "go",
        tree_sitter_go::LANGUAGE,
        [tree_sitter_go::TAGS_QUERY, r#"
; What the grammar's own tags leave out.

(method_declaration
  receiver: (parameter_list (parameter_declaration type: (_) @scope))
  name: (field_identifier) @name) @definition.method

(type_spec name: (type_identifier) @name type: (interface_type)) @definition.interface
(type_alias name: (type_identifier) @name) @definition.alias
; The blank identifier is no name.
(source_file (const_declaration (const_spec name: (identifier) @name)) @definition.constant (#not-eq? @name "_"))
(source_file (var_declaration (var_spec name: (identifier) @name)) @definition.constant (#not-eq? @name "_"))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name))) @definition.constant
  (#not-eq? @name "_"))

(comment) @lead
"#],
        [tree_sitter_go::TAGS_QUERY, r"
; What the grammar's own tags leave out: what a type is made of by embedding.

(field_declaration !name type: (_) @name) @reference.implementation
(interface_type (type_elem (_) @name)) @reference.implementation
"],
        depth: 4,
        title: Some(go_title)
    ));

/// The first line of the comment above `package`.
fn go_title<'text>(rows: &[&'text str]) -> Option<&'text str> {
    let mut comment = None;
    for &line in rows {
        if line.starts_with("package ") {
            return comment;
        }
        match line.strip_prefix("//") {
            Some(text) if !text.starts_with("go:") => comment = comment.or(Some(text.trim())),
            _ => comment = None,
        }
    }
    None
}

/// Haskell, whose grammar has no tags of its own.
#[rustfmt::skip]
pub const HASKELL: Language = code("haskell", "Haskell", "hs lhs hsc c2hs cpphs")
    .interpreters("runhaskell stack runghc")
    .parsed(grammar!(
        "haskell",
        tree_sitter_haskell::LANGUAGE,
        [r"
; The grammar has no tags of its own.

(data_type name: (_) @name) @definition.class
(newtype name: (_) @name) @definition.class
(class name: (_) @name) @definition.interface
(type_synonym name: (_) @name) @definition.alias
(type_family name: (_) @name) @definition.alias
(instance patterns: (type_patterns . (_) @name)) @definition.implementation

; A signature and the equations after it are one definition.
(signature name: (variable) @name) @definition.function
(signature name: (prefix_id (_) @name)) @definition.function
(function name: (variable) @name) @definition.function
(function name: (prefix_id (_) @name)) @definition.function
(function (infix operator: [(operator) (infix_id (variable))] @name)) @definition.function
(bind name: (variable) @name) @definition.function

[(comment) (haddock) (pragma)] @lead
"],
        [r"
; The grammar has no tags of its own.

(apply function: [(variable) @name (qualified id: (variable) @name)]) @reference.call
(infix operator: (infix_id [(variable) @name (qualified id: (variable) @name)])) @reference.call
; A name that stands alone, such as an argument or a value without parameters.
(apply argument: [(variable) @name (qualified id: (variable) @name)]) @reference.call
(infix left_operand: (variable) @name) @reference.call
(infix right_operand: (variable) @name) @reference.call
(match expression: [(variable) @name (qualified id: (variable) @name)]) @reference.call

(instance name: [(name) @name (qualified id: (name) @name)]) @reference.implementation
(deriving classes: [(name) @name (qualified id: (name) @name)]) @reference.implementation
(deriving classes: (tuple [(name) @name (qualified id: (name) @name)])) @reference.implementation

[(name) (constructor)] @name @reference.type
"],
        depth: 6,
        naming: Naming { clauses: true, ends: Ends::Line, ..Naming::DOTS },
        title: Some(title)
    ));

/// The first line of the comment before the `module`.
fn title<'text>(rows: &[&'text str]) -> Option<&'text str> {
    let head = rows.iter().take_while(|line| !line.starts_with("module ") && !line.starts_with("import "));
    head.filter_map(|line| line.strip_prefix("-- |").or_else(|| line.strip_prefix("{-|")))
        .map(str::trim)
        .find(|line| !line.is_empty())
}

/// Rust.
#[rustfmt::skip]
pub const RUST: Language = code("rust", "Rust", "rs").interpreters("rust-script").parsed(grammar!(
        "rust",
        tree_sitter_rust::LANGUAGE,
        [tree_sitter_rust::TAGS_QUERY, r"
; What the grammar's own tags leave out.

(impl_item type: (_) @name) @definition.implementation
(type_item name: (type_identifier) @name) @definition.alias
(const_item name: (identifier) @name) @definition.constant
(static_item name: (identifier) @name) @definition.constant

[(line_comment) (block_comment) (attribute_item)] @lead
"],
        [tree_sitter_rust::TAGS_QUERY, r#"
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
"#],
        depth: 8,
        naming: Naming::COLONS,
        title: Some(rust_title)
    ));

/// The first line of the module's documentation, which begins with `//!`.
fn rust_title<'text>(rows: &[&'text str]) -> Option<&'text str> {
    rows.iter().find_map(|line| line.strip_prefix("//!").map(str::trim).filter(|line| !line.is_empty()))
}

/// Swift. The tags of its grammar take the whole class for each of its methods, so they are not used.
#[rustfmt::skip]
pub const SWIFT: Language = code("swift", "Swift", "swift swiftinterface").interpreters("swift")
    .parsed(grammar!(
        "swift",
        tree_sitter_swift::LANGUAGE,
        [r#"
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
"#],
        [r#"
; Instead of the grammar's own tags, which have no references.

(call_expression . (simple_identifier) @name) @reference.call
(call_expression . (navigation_expression suffix: (navigation_suffix suffix: (simple_identifier) @name))) @reference.call
(macro_invocation (simple_identifier) @name) @reference.call

(inheritance_specifier inherits_from: (user_type (type_identifier) @name)) @reference.implementation

(user_type (type_identifier) @name) @reference.type
((navigation_expression target: (simple_identifier) @name) @reference.type (#match? @name "^[A-Z]"))
"#]
    ));

/// Zig, whose grammar has no tags of its own.
#[rustfmt::skip]
pub const ZIG: Language = code("zig", "Zig", "zig zon").parsed(grammar!(
        "zig",
        tree_sitter_zig::LANGUAGE,
        [r#"
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
"#],
        [r#"
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
"#],
        depth: 8,
        title: Some(zig_title)
    ));

/// The first line of the module's documentation, which begins with `//!`.
fn zig_title<'text>(rows: &[&'text str]) -> Option<&'text str> {
    rows.iter().find_map(|line| line.strip_prefix("//!").map(str::trim).filter(|line| !line.is_empty()))
}
