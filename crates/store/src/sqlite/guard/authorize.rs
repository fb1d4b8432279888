//! The names that a statement may use.
//!
//! This is the second line of defence. The first is that nothing else can be named at all (see [`super`]).

use std::collections::BTreeSet;
use std::sync::Arc;

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use super::allowed::{TABLE_FUNCTIONS, is_allowed};
use super::watch::{Denied, Watch};
use crate::sql_tables::SQL_TABLES;

/// Tables of the index that a view joins by row identifier alone. SQLite does not count that as a column, and when it
/// merges the view into the statement it asks about the table as if the statement had named it.
const JOINED_BY_ROWID: &[&str] = &["models"];

/// The function that the views of hidden names call. It is not allowed, so using such a view fails.
pub(super) const HIDING: &str = "load_extension";

/// The rules of one connection.
pub(super) struct Rules {
    /// The name of the schema that holds the index.
    pub(super) schema: String,
    /// Tables of the index behind the visible ones.
    pub(super) sources: BTreeSet<String>,
    /// Hidden names.
    pub(super) hidden: BTreeSet<String>,
}

impl Rules {
    /// Answers SQLite's question about a name in a statement.
    pub(super) fn decide(&self, context: AuthContext<'_>, watch: &Arc<Watch>) -> Authorization {
        if !watch.is_untrusted() {
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
            AuthAction::Read { table_name, column_name } => {
                let allowed = match context.database_name {
                    Some(name) if name == self.schema => {
                        self.sources.contains(table_name) && context.accessor.is_some_and(is_visible)
                            || column_name.is_empty() && is_one_of(JOINED_BY_ROWID, table_name)
                    }
                    Some(name) if name.eq_ignore_ascii_case("temp") => is_visible(table_name),
                    Some(name) => name.eq_ignore_ascii_case("main") && is_one_of(TABLE_FUNCTIONS, table_name),
                    // No column is read, as in `SELECT count(*) FROM x`: a visible table, a table expression of the statement, or
                    // a table that SQLite itself provides. A hidden name is stopped by its view.
                    None => !is_reserved(table_name),
                };
                (!allowed).then(|| Denied::Table(table_name.to_owned()))
            }
            AuthAction::Function { function_name } if is_allowed(function_name) => None,
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

/// Names of SQLite's own tables.
fn is_reserved(table: &str) -> bool {
    ["sqlite_", "pragma_"].iter().any(|prefix| {
        table.as_bytes().get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
    })
}

fn is_one_of(names: &[&str], name: &str) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// The action in the words of SQL.
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
