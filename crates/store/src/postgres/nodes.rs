//! The nodes of Citus, over which tables can be distributed.
//!
//! Each namespace lies on one node. What a search needs to know of all namespaces is listed on the coordinator, so that it asks no
//! node but those of the namespaces that it reads, and answers while others are away.

use deadpool_postgres::GenericClient;

use super::error::Failure;

/// The key in `meta` that tells that the tables are distributed.
pub(super) const DISTRIBUTED_BY: &str = "distributed_by";

/// True if the tables are distributed.
pub(super) const ARE_DISTRIBUTED: &str = "SELECT EXISTS (SELECT FROM meta WHERE key = 'distributed_by')";

/// Keeps what is created in a transaction on this server. Citus would create functions and roles on its nodes too, for which the user
/// may lack the rights there. Other servers know no such setting, and take it.
pub(super) const HERE_ALONE: &str = "SET LOCAL citus.enable_ddl_propagation = off";

/// Takes [`HERE_ALONE`] back.
pub(super) const EVERYWHERE: &str = "SET LOCAL citus.enable_ddl_propagation = on";

/// Creates the list of namespaces on the coordinator.
pub(super) const CREATE_LIST: &[&str] = &[
    "CREATE TABLE namespace_list AS SELECT namespace, root, machine, owner, shared, documents, passages, change_number, changed_ms, \
     published_ms FROM namespaces",
    "ALTER TABLE namespace_list ADD PRIMARY KEY (namespace)",
    "CREATE OR REPLACE FUNCTION passages_of_all() RETURNS bigint LANGUAGE sql STABLE SECURITY DEFINER \
     SET search_path = tamis, pg_catalog, pg_temp \
     AS $$ SELECT coalesce(sum(n.passages), 0)::bigint FROM namespace_list n $$",
];

/// Drops the list of namespaces.
pub(super) const DROP_LIST: &[&str] = &[
    "CREATE OR REPLACE FUNCTION passages_of_all() RETURNS bigint LANGUAGE sql STABLE SECURITY DEFINER \
     SET search_path = tamis, pg_catalog, pg_temp \
     AS $$ SELECT coalesce(sum(n.passages), 0)::bigint FROM namespaces n $$",
    "DROP TABLE namespace_list",
];

/// Brings the list up to date for the namespaces `$1`.
pub(super) const UPDATE_LIST: &str = "INSERT INTO namespace_list(namespace, root, machine, owner, shared, documents, passages, \
       change_number, changed_ms, published_ms) \
     SELECT namespace, root, machine, owner, shared, documents, passages, change_number, changed_ms, published_ms \
     FROM namespaces WHERE namespace = ANY($1) \
     ON CONFLICT (namespace) DO UPDATE SET root = excluded.root, machine = excluded.machine, owner = excluded.owner, \
       shared = excluded.shared, documents = excluded.documents, passages = excluded.passages, \
       change_number = excluded.change_number, changed_ms = excluded.changed_ms, published_ms = excluded.published_ms";

/// The listed namespaces on nodes that do not answer.
pub(super) const UNREACHABLE: &str = "SELECT l.namespace FROM namespace_list l \
     JOIN pg_dist_placement p ON p.shardid = get_shard_id_for_distribution_column('passages', l.namespace) \
     JOIN pg_dist_node n ON n.groupid = p.groupid AND n.noderole = 'primary' \
     JOIN run_command_on_workers('SELECT 1') w ON w.nodename = n.nodename AND w.nodeport = n.nodeport \
     WHERE NOT w.success ORDER BY l.namespace";

/// Returns `true` if the tables are distributed.
pub(super) async fn are_distributed(client: &impl GenericClient) -> Result<bool, Failure> {
    Ok(client.query_one(ARE_DISTRIBUTED, &[]).await?.get(0))
}
