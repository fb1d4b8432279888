//! Lua.

use super::grammar;
use crate::languages::grammar::{Ends, Grammar, Naming};
use crate::languages::language::{Language, Parsing};

pub(in crate::languages) const LANGUAGE: Language = Language::code("lua", "Lua", &["lua", "luau", "rockspec"])
    .parsed(GRAMMAR)
    .files(&[".luacheckrc"])
    .interpreters(&["lua", "luajit"]);

const GRAMMAR: Parsing = grammar!(
    "lua",
    Grammar {
        language: || tree_sitter_lua::LANGUAGE.into(),
        definitions: &[DEFINITIONS],
        references: &[REFERENCES],
        depth: 8,
        naming: Naming { member: ":", ends: Ends::Line, ..Naming::DOTS },
        rewrite: None,
        title: None,
    }
);

const DEFINITIONS: &str = r"
; Instead of the grammar's own tags, which drop the table of a function.

(function_declaration name: [(identifier) (dot_index_expression)] @name) @definition.function
(function_declaration
  name: (method_index_expression table: (_) @scope method: (identifier) @name)) @definition.method
(assignment_statement
  (variable_list . name: [(identifier) (dot_index_expression)] @name)
  (expression_list . value: (function_definition))) @definition.function

; Modules and classes are tables.
(chunk (variable_declaration
  (assignment_statement
    (variable_list . name: (identifier) @name)
    (expression_list . value: [(table_constructor) (number) (string)])) @definition.constant))

(variable_declaration) @wrap
(comment) @lead
";

const REFERENCES: &str = r"
(function_call name: (identifier) @name) @reference.call
(function_call name: (dot_index_expression field: (identifier) @name)) @reference.call
(function_call name: (method_index_expression method: (identifier) @name)) @reference.call
";
