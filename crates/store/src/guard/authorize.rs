//! The names that a statement may use.

use std::sync::Arc;

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use super::allowed::{TABLE_FUNCTIONS, is_allowed};
use super::watch::{Denied, Watch};
use crate::sql_tables::SQL_TABLES;

/// Answers SQLite's question about a name in a statement.
pub(super) fn decide(context: AuthContext<'_>, watch: &Arc<Watch>) -> Authorization {
    if !watch.is_untrusted() {
        return Authorization::Allow;
    }
    match refusal(context) {
        None => Authorization::Allow,
        Some(denied) => {
            watch.deny(denied);
            Authorization::Deny
        }
    }
}

fn refusal(context: AuthContext<'_>) -> Option<Denied> {
    match context.action {
        AuthAction::Select | AuthAction::Recursive => None,
        AuthAction::Read { table_name, .. } => {
            let allowed = match context.database_name {
                Some(_) => is_visible(table_name) || is_one_of(TABLE_FUNCTIONS, table_name),
                // No column is read, as in `SELECT count(*) FROM x`: it may be a table expression of the statement.
                None => !is_reserved(table_name),
            };
            (!allowed).then(|| Denied::Table(table_name.to_owned()))
        }
        AuthAction::Function { function_name } if is_allowed(function_name) => None,
        AuthAction::Function { function_name } => Some(Denied::Function(function_name.to_owned())),
        other => Some(Denied::Action(name_of(other))),
    }
}

fn is_visible(table: &str) -> bool {
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
