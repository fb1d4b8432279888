//! C.

use super::function_macros;
use super::grammar;
use crate::languages::grammar::{Grammar, Naming};
use crate::languages::language::{Language, Parsing};

pub(in crate::languages) const LANGUAGE: Language =
    Language::code("c", "C", &["c", "h"]).parsed(GRAMMAR).related_to(&["cpp"]);

const GRAMMAR: Parsing = grammar!(
    "c",
    Grammar {
        language: || tree_sitter_c::LANGUAGE.into(),
        definitions: &[tree_sitter_c::TAGS_QUERY, DEFINITIONS],
        references: &[REFERENCES],
        depth: 12,
        naming: Naming { nested: "::", member: "::", ..Naming::DOTS },
        rewrite: Some(function_macros::blanked_c),
        title: None,
    }
);

pub(super) const DEFINITIONS: &str = r"
; What the grammar's own tags leave out.

(union_specifier name: (type_identifier) @name body: (_)) @definition.class
(preproc_def name: (identifier) @name) @definition.constant
(preproc_function_def name: (identifier) @name) @definition.macro
(translation_unit (declaration declarator: (init_declarator declarator: (_) @name)) @definition.constant)
(preproc_ifdef (declaration declarator: (init_declarator declarator: (_) @name)) @definition.constant)
(preproc_if (declaration declarator: (init_declarator declarator: (_) @name)) @definition.constant)
(declaration_list (declaration declarator: (init_declarator declarator: (_) @name)) @definition.constant)

[(function_definition) (declaration)] @wrap
(comment) @lead
";

pub(super) const REFERENCES: &str = r"
; The grammar's own tags have no references.

(call_expression function: (identifier) @name) @reference.call
(call_expression function: (field_expression field: (field_identifier) @name)) @reference.call

(type_identifier) @name @reference.type
";
