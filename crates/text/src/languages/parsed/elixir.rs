//! Elixir, in which definitions are calls of macros.

use super::grammar;
use crate::languages::grammar::{Ends, Grammar, Naming};
use crate::languages::language::{Language, Parsing};

pub(in crate::languages) const LANGUAGE: Language =
    Language::code("elixir", "Elixir", &["ex", "exs"]).parsed(GRAMMAR).interpreters(&["elixir"]);

const GRAMMAR: Parsing = grammar!(
    "elixir",
    Grammar {
        language: || tree_sitter_elixir::LANGUAGE.into(),
        definitions: &[DEFINITIONS],
        references: &[REFERENCES],
        depth: 10,
        naming: Naming { clauses: true, ends: Ends::Line, ..Naming::DOTS },
        rewrite: None,
        title: None,
    }
);

const DEFINITIONS: &str = r#"
; Instead of the grammar's own tags, which take macros for functions.

((call target: (identifier) @keyword (arguments . (alias) @name) (do_block)) @definition.module
  (#eq? @keyword "defmodule"))
((call target: (identifier) @keyword (arguments . (alias) @name) (do_block)) @definition.interface
  (#eq? @keyword "defprotocol"))
((call
  target: (identifier) @keyword
  (arguments (keywords (pair key: (keyword) @key value: (alias) @name)))
  (do_block)) @definition.implementation
  (#eq? @keyword "defimpl")
  (#match? @key "^for:"))

((call
  target: (identifier) @keyword
  (arguments . [
    (identifier) @name
    (call target: (identifier) @name)
    (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "when")])) @definition.function
  (#any-of? @keyword "def" "defp" "defdelegate" "defn" "defnp"))
((call
  target: (identifier) @keyword
  (arguments . [
    (identifier) @name
    (call target: (identifier) @name)
    (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "when")])) @definition.macro
  (#any-of? @keyword "defmacro" "defmacrop" "defguard" "defguardp"))

((unary_operator
  operator: "@"
  operand: (call target: (identifier) @keyword (arguments (binary_operator left: (_) @name operator: "::")))) @definition.alias
  (#any-of? @keyword "type" "typep" "opaque"))

((unary_operator operator: "@" operand: [(identifier) @keyword (call target: (identifier) @keyword)]) @lead
  (#any-of? @keyword "doc" "typedoc" "spec" "impl" "deprecated" "since" "tag" "dialyzer" "decorate"))
(comment) @lead
"#;

const REFERENCES: &str = r#"
; Instead of the grammar's own tags, which take definitions for calls.

((call target: (identifier) @name) @reference.call
  (#not-any-of? @name "def" "defp" "defdelegate" "defn" "defnp" "defmacro" "defmacrop" "defguard" "defguardp" "defmodule"
    "defprotocol" "defimpl" "defstruct" "defexception" "defoverridable" "alias" "import" "require" "use" "case" "cond"
    "for" "if" "unless" "with" "quote" "unquote" "unquote_splicing" "receive" "try" "raise" "reraise" "throw" "super"))
(call target: (dot right: (identifier) @name)) @reference.call
(binary_operator operator: "|>" right: (identifier) @name) @reference.call

((call target: (identifier) @keyword (arguments . (alias) @name)) @reference.implementation
  (#any-of? @keyword "defimpl" "use"))
((unary_operator operator: "@" operand: (call target: (identifier) @keyword (arguments (alias) @name))) @reference.implementation
  (#eq? @keyword "behaviour"))

(alias) @name @reference.type
"#;
