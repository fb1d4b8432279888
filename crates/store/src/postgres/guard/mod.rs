//! The guard for untrusted SQL statements. It limits their view, their rights, their time and their memory.
//!
//! **Text.** The server never sees the text of a statement. A [`parser`] that knows nothing but SELECT, the visible tables and a
//! list of [`functions`] reads it and writes a statement of its own, so whatever else the server can do has no form in which it
//! could be asked for. The grammar is that of the embedded store, where it has a meaning here.
//!
//! **View.** The statement reads views of the schema `tamis_sql`, each of one namespace. The namespace is a setting, sealed with
//! a secret that only the owner of the tables can read, for one transaction of one connection.
//!
//! **Rights.** The statement runs as the role `tamis_reader`, which may read those views and nothing else, in a transaction that
//! only reads and is always rolled back. It runs within a function that this role owns, because there a role cannot be changed.
//!
//! **Time and memory.** The server ends the statement at its time limit, and the caller waits only a little longer. Sorting and
//! grouping spill to bounded temporary files, values have a greatest length, and slots bound the number that run.

mod errors;
mod expression;
mod functions;
mod parser;
mod run;
mod statement;
mod tokens;
mod values;

#[cfg(test)]
mod tests;

use std::time::Instant;

use super::connection::Connections;
use crate::error::Result;
use crate::sql::{SqlQuery, SqlRows};
use crate::sqlite::guard::check;
use crate::sqlite::guard::slots::Slot;

/// Runs a statement on the evidence of a namespace.
pub(super) fn query(
    connections: &Connections,
    namespace: &str,
    query: &SqlQuery,
    cancelled: &dyn Fn() -> bool,
) -> Result<SqlRows> {
    check(namespace, query)?;
    let translated = parser::translate(query)?;
    let slot = Slot::take(&format!("{}\n{namespace}", connections.address()), cancelled)?;
    let started = Instant::now();
    let mut rows = connections.wait(run::run(connections, namespace, query, translated, slot, cancelled))?;
    rows.elapsed_ms = started.elapsed().as_secs_f64() * 1e3;
    Ok(rows)
}
