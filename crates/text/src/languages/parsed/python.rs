//! Python.

use super::grammar;
use super::magics;
use crate::languages::grammar::{Ends, Grammar, Naming};
use crate::languages::language::{Language, Parsing};

pub(in crate::languages) const LANGUAGE: Language =
    Language::code("python", "Python", &["py", "pyi", "pyw", "wsgi", "gyp", "gypi"])
        .parsed(GRAMMAR)
        .files(&["sconstruct", "sconscript", "wscript"])
        .interpreters(&["python", "pypy", "uv", "ipython"])
        .aliases(&["python3"]);

const GRAMMAR: Parsing = grammar!(
    "python",
    Grammar {
        language: || tree_sitter_python::LANGUAGE.into(),
        definitions: &[tree_sitter_python::TAGS_QUERY, DEFINITIONS],
        references: &[tree_sitter_python::TAGS_QUERY, REFERENCES],
        depth: 10,
        naming: Naming { ends: Ends::Colon, ..Naming::DOTS },
        rewrite: Some(magics::blanked),
        title: Some(title),
    }
);

const DEFINITIONS: &str = r"
; What the grammar's own tags leave out.

(module (expression_statement (assignment left: (identifier) @name)) @definition.constant)
(module (type_alias_statement left: (type (identifier) @name)) @definition.alias)

(decorated_definition) @wrap
(comment) @lead
";

const REFERENCES: &str = r"
; What the grammar's own tags leave out.

(decorator [(identifier) @name (attribute attribute: (identifier) @name)]) @reference.call

(class_definition
  superclasses: (argument_list [
    (identifier) @name
    (attribute attribute: (identifier) @name)
    (subscript value: (identifier) @name)])) @reference.implementation

(type [
  (identifier) @name
  (attribute attribute: (identifier) @name)
  (subscript value: (identifier) @name)
  (generic_type (identifier) @name)
  (binary_operator (identifier) @name)]) @reference.type
(type (binary_operator (subscript value: (identifier) @name))) @reference.type
";

/// The first line of the docstring.
fn title<'text>(rows: &[&'text str]) -> Option<&'text str> {
    let mut rows = rows.iter().copied();
    let first = rows.find(|line| !line.is_empty() && !line.starts_with('#'))?;
    let body = first.trim_start_matches(['r', 'R', 'u', 'U']);
    let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| body.starts_with(quote))?;
    let text = body[quote.len()..].trim();
    let text = if text.is_empty() { rows.find(|line| !line.is_empty())? } else { text };
    Some(text.trim_end_matches(quote))
}
