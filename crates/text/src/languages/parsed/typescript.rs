//! TypeScript and TSX.

use super::grammar;
use super::javascript;
use crate::languages::grammar::{Grammar, Naming};
use crate::languages::language::{Language, Parsing};

pub(in crate::languages) const LANGUAGE: Language = Language::code("typescript", "TypeScript", &["ts", "mts", "cts"])
    .parsed(GRAMMAR)
    .interpreters(&["deno", "ts-node", "tsx"])
    .related_to(&["javascript"]);

pub(in crate::languages) const TSX: Language =
    Language::code("tsx", "TSX", &["tsx"]).parsed(TSX_GRAMMAR).aliases(&["typescriptreact"]).dialect_of("typescript");

const GRAMMAR: Parsing = grammar!(
    "typescript",
    Grammar {
        language: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        definitions: &[
            tree_sitter_javascript::TAGS_QUERY,
            tree_sitter_typescript::TAGS_QUERY,
            javascript::DEFINITIONS,
            DEFINITIONS
        ],
        references: &[tree_sitter_javascript::TAGS_QUERY, javascript::REFERENCES, REFERENCES],
        depth: 12,
        naming: Naming::DOTS,
        rewrite: None,
        title: None,
    }
);

const TSX_GRAMMAR: Parsing = grammar!(
    "typescript",
    Grammar {
        language: || tree_sitter_typescript::LANGUAGE_TSX.into(),
        definitions: &[
            tree_sitter_javascript::TAGS_QUERY,
            tree_sitter_typescript::TAGS_QUERY,
            javascript::DEFINITIONS,
            DEFINITIONS
        ],
        references: &[tree_sitter_javascript::TAGS_QUERY, javascript::REFERENCES, REFERENCES, javascript::ELEMENTS],
        depth: 12,
        naming: Naming::DOTS,
        rewrite: None,
        title: None,
    }
);

pub(super) const DEFINITIONS: &str = r"
; What neither the grammar's own tags nor those of JavaScript have.

(type_alias_declaration name: (type_identifier) @name) @definition.alias
(enum_declaration name: (identifier) @name) @definition.class
(internal_module name: (_) @name) @definition.module
(module name: (_) @name) @definition.module
(public_field_definition name: (_) @name value: [(arrow_function) (function_expression)]) @definition.method
(ambient_declaration (lexical_declaration (variable_declarator name: (identifier) @name)) @definition.constant)

(ambient_declaration) @wrap
";

pub(super) const REFERENCES: &str = r"
; What neither the grammar's own tags nor those of JavaScript have.

(extends_clause value: (_) @name) @reference.implementation
(implements_clause (_) @name) @reference.implementation
(extends_type_clause type: (_) @name) @reference.implementation

(type_identifier) @name @reference.type
";
