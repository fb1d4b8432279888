//! What a statement may name.
//!
//! This is the second line. The first is that nothing else can be named at all (see [`super`]).

use std::collections::BTreeSet;
use std::sync::Arc;

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use super::watch::{Denied, Watch};
use crate::sql_tables::SQL_TABLES;

/// Functions whose result depends on their arguments alone (and, for dates, on the day), and aggregates and window functions
/// of that kind. `json_patch`, `json_pretty` and what else edits JSON are left out: they can take time and memory beyond any
/// relation to what they are given, and nobody needs them to read.
pub(super) const FUNCTIONS: &[&str] = &[
    "->",
    "->>",
    "abs",
    "avg",
    "ceil",
    "ceiling",
    "char",
    "coalesce",
    "concat",
    "concat_ws",
    "count",
    "cume_dist",
    "date",
    "datetime",
    "dense_rank",
    "exp",
    "first_value",
    "floor",
    "format",
    "glob",
    "group_concat",
    "hex",
    "if",
    "ifnull",
    "iif",
    "instr",
    "json",
    "json_array",
    "json_array_length",
    "json_extract",
    "json_group_array",
    "json_group_object",
    "json_object",
    "json_quote",
    "json_type",
    "json_valid",
    "julianday",
    "lag",
    "last_value",
    "lead",
    "length",
    "like",
    "ln",
    "log",
    "log10",
    "log2",
    "lower",
    "ltrim",
    "max",
    "min",
    "mod",
    "nth_value",
    "ntile",
    "nullif",
    "octet_length",
    "percent_rank",
    "pow",
    "power",
    "printf",
    "quote",
    "rank",
    "replace",
    "round",
    "row_number",
    "rtrim",
    "sign",
    "soundex",
    "sqrt",
    "strftime",
    "string_agg",
    "substr",
    "substring",
    "sum",
    "time",
    "timediff",
    "total",
    "trim",
    "typeof",
    "unhex",
    "unicode",
    "unixepoch",
    "upper",
];

/// Functions that give rows and read nothing but their arguments.
const TABLE_FUNCTIONS: &[&str] = &["json_each", "json_tree"];

/// The function that the views over hidden names call. It is on no list, so naming one of them ends there.
pub(super) const HIDING: &str = "load_extension";

/// The rules of one connection.
pub(super) struct Rules {
    /// The name of the schema that holds the index.
    pub(super) schema: String,
    /// Tables of the index that the visible ones are made of.
    pub(super) sources: BTreeSet<String>,
    /// Names that are hidden.
    pub(super) hidden: BTreeSet<String>,
}

impl Rules {
    /// What SQLite is to do about something that a statement names.
    pub(super) fn decide(&self, context: AuthContext<'_>, watch: &Arc<Watch>) -> Authorization {
        if !watch.is_foreign() {
            return Authorization::Allow;
        }
        match self.refusal(context) {
            None => Authorization::Allow,
            Some(denied) => {
                watch.deny(denied);
                Authorization::Deny
            }
        }
    }

    fn refusal(&self, context: AuthContext<'_>) -> Option<Denied> {
        match context.action {
            AuthAction::Select | AuthAction::Recursive => None,
            AuthAction::Read { table_name, .. } => {
                let allowed = match context.database_name {
                    Some(name) if name == self.schema => {
                        self.sources.contains(table_name) && context.accessor.is_some_and(is_visible)
                    }
                    Some(name) if name.eq_ignore_ascii_case("temp") => is_visible(table_name),
                    Some(name) => name.eq_ignore_ascii_case("main") && is_one_of(TABLE_FUNCTIONS, table_name),
                    // A table that no column is read of, `SELECT count(*) FROM x`: one that is visible, a table expression of
                    // the statement, or a table that SQLite itself provides. What is hidden is stopped by its view.
                    None => !is_reserved(table_name),
                };
                (!allowed).then(|| Denied::Table(table_name.to_owned()))
            }
            AuthAction::Function { function_name } if is_one_of(FUNCTIONS, function_name) => None,
            AuthAction::Function { function_name } => Some(match context.accessor {
                Some(hidden) if function_name == HIDING && self.hidden.contains(hidden) => {
                    Denied::Table(hidden.to_owned())
                }
                _ => Denied::Function(function_name.to_owned()),
            }),
            other => Some(Denied::Action(name_of(other))),
        }
    }
}

pub(super) fn is_visible(table: &str) -> bool {
    SQL_TABLES.iter().any(|visible| visible.name.eq_ignore_ascii_case(table))
}

/// Names under which SQLite shows itself.
fn is_reserved(table: &str) -> bool {
    ["sqlite_", "pragma_"].iter().any(|prefix| {
        table.as_bytes().get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
    })
}

fn is_one_of(names: &[&str], name: &str) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// What a statement wanted to do, as it says it.
fn name_of(action: AuthAction<'_>) -> &'static str {
    match action {
        AuthAction::Insert { table_name }
        | AuthAction::Update { table_name, .. }
        | AuthAction::Delete { table_name }
            if is_reserved(table_name) =>
        {
            "changing the schema"
        }
        AuthAction::Insert { .. } => "INSERT",
        AuthAction::Update { .. } => "UPDATE",
        AuthAction::Delete { .. } => "DELETE",
        AuthAction::Pragma { .. } => "PRAGMA",
        AuthAction::Attach { .. } => "ATTACH",
        AuthAction::Detach { .. } => "DETACH",
        AuthAction::Transaction { .. } => "BEGIN, COMMIT or ROLLBACK",
        AuthAction::Savepoint { .. } => "SAVEPOINT",
        AuthAction::AlterTable { .. } => "ALTER TABLE",
        AuthAction::Reindex { .. } => "REINDEX",
        AuthAction::Analyze { .. } => "ANALYZE",
        AuthAction::DropTable { .. }
        | AuthAction::DropTempTable { .. }
        | AuthAction::DropIndex { .. }
        | AuthAction::DropTempIndex { .. }
        | AuthAction::DropView { .. }
        | AuthAction::DropTempView { .. }
        | AuthAction::DropTrigger { .. }
        | AuthAction::DropTempTrigger { .. }
        | AuthAction::DropVtable { .. } => "DROP",
        AuthAction::CreateTable { .. }
        | AuthAction::CreateTempTable { .. }
        | AuthAction::CreateIndex { .. }
        | AuthAction::CreateTempIndex { .. }
        | AuthAction::CreateView { .. }
        | AuthAction::CreateTempView { .. }
        | AuthAction::CreateTrigger { .. }
        | AuthAction::CreateTempTrigger { .. }
        | AuthAction::CreateVtable { .. } => "CREATE",
        _ => "what this statement does",
    }
}
