//! Haskell, whose grammar has no tags of its own.

use super::grammar;
use crate::languages::grammar::{Ends, Grammar, Naming};
use crate::languages::language::{Language, Parsing};

pub(in crate::languages) const LANGUAGE: Language =
    Language::code("haskell", "Haskell", &["hs", "lhs", "hsc", "c2hs", "cpphs"])
        .parsed(GRAMMAR)
        .interpreters(&["runhaskell", "stack", "runghc"]);

const GRAMMAR: Parsing = grammar!(
    "haskell",
    Grammar {
        language: || tree_sitter_haskell::LANGUAGE.into(),
        definitions: &[DEFINITIONS],
        references: &[REFERENCES],
        depth: 6,
        naming: Naming { clauses: true, ends: Ends::Line, ..Naming::DOTS },
        rewrite: None,
        title: Some(title),
    }
);

const DEFINITIONS: &str = r"
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
";

const REFERENCES: &str = r"
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
";

/// The first line of the comment before the `module`.
fn title<'text>(rows: &[&'text str]) -> Option<&'text str> {
    let head = rows.iter().take_while(|line| !line.starts_with("module ") && !line.starts_with("import "));
    head.filter_map(|line| line.strip_prefix("-- |").or_else(|| line.strip_prefix("{-|")))
        .map(str::trim)
        .find(|line| !line.is_empty())
}
