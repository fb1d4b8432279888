//! SQL. The grammar knows PostgreSQL best; what it does not know of other dialects is divided by lines.

use super::grammar;
use super::sql_procedures;
use crate::languages::grammar::{Grammar, Naming};
use crate::languages::language::{Language, Parsing};

pub(in crate::languages) const LANGUAGE: Language =
    Language::code("sql", "SQL", &["sql", "ddl", "psql", "pgsql", "mysql", "plsql", "pls", "hql"])
        .parsed(GRAMMAR)
        .aliases(&["postgresql", "mysql", "sqlite"]);

const GRAMMAR: Parsing = grammar!(
    "sql",
    Grammar {
        language: || tree_sitter_sequel::LANGUAGE.into(),
        definitions: &[DEFINITIONS],
        references: &[REFERENCES],
        depth: 6,
        naming: Naming::DOTS,
        rewrite: Some(sql_procedures::blanked),
        title: None,
    }
);

const DEFINITIONS: &str = r"
; The grammar has no tags of its own. The name follows the kind or `IF NOT EXISTS`; other names in a statement do not.

(create_table [(keyword_table) (keyword_exists)] . (object_reference) @name) @definition.class
(create_view [(keyword_view) (keyword_exists)] . (object_reference) @name) @definition.class
(create_materialized_view [(keyword_view) (keyword_exists)] . (object_reference) @name) @definition.class
(create_type (keyword_type) . (object_reference) @name) @definition.class
(create_function (keyword_function) . (object_reference) @name) @definition.function
(create_trigger (keyword_trigger) . (object_reference) @name) @definition.function
(create_index column: (identifier) @name) @definition.constant
(create_sequence [(keyword_sequence) (keyword_exists)] . (object_reference) @name) @definition.constant

[(comment) (marginalia)] @lead
";

const REFERENCES: &str = r"
; The grammar has no tags of its own.

(invocation (object_reference name: (identifier) @name)) @reference.call
(create_trigger (keyword_function) . (object_reference name: (identifier) @name)) @reference.call

(relation (object_reference name: (identifier) @name)) @reference.type
(from (object_reference name: (identifier) @name)) @reference.type
(insert (object_reference name: (identifier) @name)) @reference.type
(update (object_reference name: (identifier) @name)) @reference.type
(column_definition (object_reference name: (identifier) @name)) @reference.type
(constraint (object_reference name: (identifier) @name)) @reference.type
(create_index (object_reference name: (identifier) @name)) @reference.type
(alter_table (object_reference name: (identifier) @name)) @reference.type
";
