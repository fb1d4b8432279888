//! Go.

use super::grammar;
use crate::languages::grammar::{Grammar, Naming};
use crate::languages::language::{Language, Parsing};

pub(in crate::languages) const LANGUAGE: Language =
    Language::code("go", "Go", &["go"]).parsed(GRAMMAR).interpreters(&["gorun"]).aliases(&["golang"]);

const GRAMMAR: Parsing = grammar!(
    "go",
    Grammar {
        language: || tree_sitter_go::LANGUAGE.into(),
        definitions: &[tree_sitter_go::TAGS_QUERY, DEFINITIONS],
        references: &[tree_sitter_go::TAGS_QUERY, REFERENCES],
        depth: 4,
        naming: Naming::DOTS,
        rewrite: None,
        title: Some(title),
    }
);

const DEFINITIONS: &str = r"
; What the grammar's own tags leave out.

(method_declaration
  receiver: (parameter_list (parameter_declaration type: (_) @scope))
  name: (field_identifier) @name) @definition.method

(type_spec name: (type_identifier) @name type: (interface_type)) @definition.interface
(type_alias name: (type_identifier) @name) @definition.alias
(source_file (const_declaration (const_spec name: (identifier) @name)) @definition.constant)
(source_file (var_declaration (var_spec name: (identifier) @name)) @definition.constant)
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name))) @definition.constant)

(comment) @lead
";

const REFERENCES: &str = r"
; What the grammar's own tags leave out: what a type is made of by embedding.

(field_declaration !name type: (_) @name) @reference.implementation
(interface_type (type_elem (_) @name)) @reference.implementation
";

/// The first line of the comment above `package`.
fn title<'text>(rows: &[&'text str]) -> Option<&'text str> {
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
