//! Row-level security: a second wall behind the filters of searches. A transaction that concerns some namespaces runs under the role
//! `tamis_searcher`, to which the server shows no row of another namespace, whatever a statement asks for.

use deadpool_postgres::{GenericClient, Transaction};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use super::error::Failure;
use super::faults;
use super::nodes::{self, HERE_ALONE};

/// Makes the role and its policies.
pub(super) const ROLE: &str = include_str!("schema/row_security.sql");

/// Confines a transaction. The namespaces come first, since the role may not change them back. Where the settings of a user or a
/// database switch the policies off, the server would refuse what the role reads.
const CONFINE: &str = "SELECT set_config('tamis.namespaces', $1::text[]::text, true), set_config('row_security', 'on', true), \
     set_config('role', 'tamis_searcher', true)";

/// True if the role is there, may be taken on, reads through the policies and cannot go round them.
const IS_READY: &str = "SELECT coalesce((SELECT NOT r.rolsuper AND NOT r.rolbypassrls AND pg_has_role(r.oid, 'SET') \
      AND has_schema_privilege(r.oid, 'tamis', 'USAGE') \
      AND NOT EXISTS (SELECT 1 FROM pg_extension e WHERE e.extname IN ('vector', 'pg_textsearch') \
        AND NOT has_schema_privilege(r.oid, e.extnamespace, 'USAGE')) \
      AND NOT EXISTS (SELECT 1 FROM pg_class c WHERE c.relnamespace = 'tamis'::regnamespace AND c.relkind IN ('r', 'p') \
        AND has_table_privilege(r.oid, c.oid, 'SELECT') AND c.relname <> 'models' \
        AND (NOT c.relrowsecurity OR pg_has_role(r.oid, c.relowner, 'USAGE'))) \
      AND has_table_privilege(r.oid, 'passages', 'SELECT') \
      AND has_function_privilege(r.oid, 'words_with_each(bigint[], bigint[], bigint[], bigint[])', 'EXECUTE') \
    FROM pg_roles r WHERE r.rolname = 'tamis_searcher'), false)";

/// Finds out whether transactions can be confined to namespaces, and makes the role if it is missing and the user may. Distributed tables
/// have no policies: Citus passes a restrictive one on as a permissive one, which keeps nothing back.
pub(super) async fn prepare(client: &impl GenericClient) -> Result<bool, Failure> {
    let ready = async || Ok::<bool, Failure>(client.query_one(IS_READY, &[]).await?.get(0));
    if ready().await? {
        return Ok(true);
    }
    if nodes::are_distributed(client).await? {
        return Ok(false);
    }
    match client.batch_execute(&format!("{HERE_ALONE};\n{ROLE}")).await {
        Ok(()) => ready().await,
        Err(error) if is_refusal(&error) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// True if the user may not make the role, or the server takes no writes.
fn is_refusal(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) || error.as_db_error().is_some_and(faults::is_read_only)
}

/// Runs work in a transaction that reads these namespaces alone, to its end. Its first statement follows without waiting for the
/// answer, so that being confined costs no exchange of messages; if the server refuses, it runs nothing that follows either.
pub(super) async fn confined<T>(
    transaction: &Transaction<'_>,
    namespaces: &[&str],
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    // A name with a zero byte cannot be stored, and the server refuses it.
    let names: Vec<&str> = namespaces.iter().copied().filter(|name| !name.contains('\0')).collect();
    let confine = async { Ok::<_, Failure>(transaction.query_typed(CONFINE, &[(&names, Type::TEXT_ARRAY)]).await?) };
    let (_, result) = tokio::try_join!(biased; confine, work)?;
    Ok(result)
}
