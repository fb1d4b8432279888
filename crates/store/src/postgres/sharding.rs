//! Distributing the tables over the nodes of Citus, an extension, and bringing them back.
//!
//! The tables that grow with the content are distributed by namespace and lie together, so that a namespace's rows are on one node and
//! foreign keys between them hold. Searches of several namespaces are answered by their nodes and merged.
//!
//! The policies of distributed tables are dropped. Citus passes restrictive policies on to the nodes as permissive ones, which keep
//! nothing back; it refuses those with a subquery; and the role would have to log in to every node.

use tokio_postgres::{Client, SimpleQueryMessage};

use super::PostgresStore;
use super::connection::SCHEMA;
use super::failure::Failure;
use super::schema::NEW_INSTANCE;
use super::servers::{CREATE_LIST, DISTRIBUTED_BY, DROP_LIST, EVERYWHERE, HERE_ALONE};
use super::vectors::in_database::ensure_indexes;
use super::words::index;
use super::words::index::ON_SHARDS;
use crate::error::{Result, StoreError};

/// The column that tables are distributed by.
const COLUMN: &str = "namespace";

/// The tables that grow with the content, by the namespace of their rows. A table comes after those that it refers to.
const DISTRIBUTED: &[&str] = &[
    "namespaces", "documents", "attributes", "passages", "words", "frequencies", "vectors", "coverages",
    "evidence_tasks", "evidence_works", "evidence_pages", "evidence_fragments", "evidence_claims", "evidence_edges",
];

/// Small tables that are joined with distributed ones, so each node has a copy.
const REFERENCE: &[&str] = &["models"];

/// The tables as they are distributed, or would be.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Sharding {
    /// Host, port and database.
    pub address: String,
    /// True if the server has Citus.
    pub has_citus: bool,
    /// The statements that distribute the tables or bring them back, in order; empty if there is nothing to do.
    pub statements: Vec<String>,
}

/// True if the server has Citus.
const HAS_CITUS: &str =
    "SELECT EXISTS (SELECT FROM pg_proc WHERE proname = 'create_distributed_table' AND pg_function_is_visible(oid))";

/// The catalog of distributed and reference tables, where Citus is.
const CATALOG: &str = "SELECT logicalrelid::regclass::text FROM pg_dist_partition";

/// The foreign keys of and to the tables `$1`, with their tables and definitions.
const FOREIGN_KEYS: &str = "SELECT c.conrelid::regclass::text, quote_ident(c.conname), pg_get_constraintdef(c.oid) FROM pg_constraint c \
     WHERE c.contype = 'f' AND c.conparentid = 0 AND (c.conrelid = ANY($1::text[]::regclass[]) OR c.confrelid = ANY($1::text[]::regclass[])) \
     ORDER BY c.conrelid::regclass::text, c.conname";

/// The policies of the tables `$1`.
const POLICIES: &str = "SELECT quote_ident(polname), polrelid::regclass::text FROM pg_policy \
     WHERE polrelid = ANY($1::text[]::regclass[]) ORDER BY polrelid::regclass::text, polname";

/// The tables of `$1` that the role of confined transactions may read.
const READABLE: &str = "SELECT t.name FROM unnest($1::text[]) AS t(name) JOIN pg_roles r ON r.rolname = 'tamis_searcher' \
     WHERE has_table_privilege(r.oid, t.name::regclass, 'SELECT') ORDER BY t.name";

/// Begins a transaction that takes its time.
const BEGIN: [&str; 2] = ["BEGIN", "SET LOCAL statement_timeout = 0"];

/// Has a sequence of its own number the models. Citus brings no table with an identity column back.
const WITHOUT_IDENTITY: [&str; 4] = [
    "CREATE SEQUENCE model_numbers AS integer",
    "SELECT setval('model_numbers', coalesce(max(model), 0) + 1, false) FROM models",
    "ALTER TABLE models ALTER model DROP IDENTITY",
    "ALTER TABLE models ALTER model SET DEFAULT nextval('model_numbers')",
];

/// Takes [`WITHOUT_IDENTITY`] back.
const WITH_IDENTITY: [&str; 4] = [
    "ALTER TABLE models ALTER model DROP DEFAULT",
    "ALTER TABLE models ALTER model ADD GENERATED ALWAYS AS IDENTITY",
    "SELECT setval(pg_get_serial_sequence('models', 'model'), coalesce(max(model), 0) + 1, false) FROM models",
    "DROP SEQUENCE model_numbers",
];

/// Creates the index of words on a shard that has none. Citus keeps no record of it, so shards that it moves need it anew.
const WORD_INDEX: &str = "DO $do$ BEGIN \
     IF NOT EXISTS (SELECT FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam \
       WHERE i.indrelid = '%1$s'::regclass AND a.amname = 'bm25') THEN \
       CREATE INDEX ON %1$s USING bm25(indexed) WITH (text_config = 'simple'); \
     END IF; END $do$";

impl PostgresStore {
    /// Returns the statements that [`shard`](PostgresStore::shard) would run. Nothing is changed, and the server needs no Citus.
    ///
    /// `shards` is the number of shards of each table; `None` leaves it to the server.
    ///
    /// # Errors
    /// The server cannot be reached or refuses.
    pub fn shard_statements(&self, shards: Option<u32>) -> Result<Sharding> {
        self.connections.wait(async { self.sharding(&*self.connections.session_of_its_own().await?, shards).await })
    }

    /// Distributes the tables by namespace, all or none, and then creates the indexes of words and of vectors on the shards. Tables
    /// that are distributed already stay as they are. Writers wait meanwhile. Stores that are open must be opened again.
    ///
    /// # Errors
    /// The server has no Citus, it cannot be reached, or it refuses.
    pub fn shard(&self, shards: Option<u32>) -> Result<Sharding> {
        self.connections.wait(async {
            let connection = self.connections.session_of_its_own().await?;
            let sharding = self.sharding(&connection, shards).await?;
            if !sharding.has_citus {
                return Err(self.without_citus().into());
            }
            self.run_all(&connection, &sharding.statements).await?;
            if index::is_available(&connection).await? {
                index::fill(&self.connections).await?;
            }
            ensure_indexes(&self.connections).await?;
            Ok(sharding)
        })
    }

    /// Returns the statements that [`unshard`](PostgresStore::unshard) would run. Nothing is changed.
    ///
    /// # Errors
    /// The server cannot be reached or refuses.
    pub fn unshard_statements(&self) -> Result<Sharding> {
        self.connections.wait(async { self.unsharding(&*self.connections.session_of_its_own().await?).await })
    }

    /// Brings the tables back to the coordinator, all or none, which must have room for them. Writers wait meanwhile. Stores that are
    /// open must be opened again.
    ///
    /// # Errors
    /// A node or the server cannot be reached, or refuses.
    pub fn unshard(&self) -> Result<Sharding> {
        self.connections.wait(async {
            let connection = self.connections.session_of_its_own().await?;
            let unsharding = self.unsharding(&connection).await?;
            self.run_all(&connection, &unsharding.statements).await?;
            crate::postgres::row_security::prepare(&connection).await?;
            ensure_indexes(&self.connections).await?;
            Ok(unsharding)
        })
    }

    async fn sharding(&self, client: &Client, shards: Option<u32>) -> Result<Sharding, Failure> {
        let (has_citus, done) = known(client).await?;
        let missing = |tables: &[&'static str]| -> Vec<&'static str> {
            tables.iter().copied().filter(|table| !done.iter().any(|known| known == table)).collect()
        };
        let (distributed, reference) = (missing(DISTRIBUTED), missing(REFERENCE));
        let mut statements = Vec::new();
        if !distributed.is_empty() || !reference.is_empty() {
            statements.extend(BEGIN.map(str::to_owned));
            let both: Vec<&str> = distributed.iter().chain(&reference).copied().collect();
            statements.push(HERE_ALONE.to_owned());
            statements.extend(without_policies(client, &both).await?);
            if distributed.contains(&"namespaces") {
                statements.extend(CREATE_LIST.iter().map(|statement| (*statement).to_owned()));
            }
            statements.push(EVERYWHERE.to_owned());
            let keys = foreign_keys(client, &distributed).await?;
            distribute(&mut statements, &distributed, &reference, &keys, shards);
            statements.push(NEW_INSTANCE.to_owned());
            statements.push("COMMIT".to_owned());
            statements.push(counted(&both));
        }
        if index::is_available(client).await? {
            statements.push("CREATE EXTENSION IF NOT EXISTS pg_textsearch SCHEMA public".to_owned());
            statements.extend(word_indexes());
        }
        Ok(Sharding { address: self.address().to_owned(), has_citus, statements: by_hand(statements) })
    }

    async fn unsharding(&self, client: &Client) -> Result<Sharding, Failure> {
        let (has_citus, done) = known(client).await?;
        let both = DISTRIBUTED.iter().chain(REFERENCE);
        let tables: Vec<&str> = both.copied().filter(|table| done.iter().any(|known| known == table)).collect();
        let mut statements = Vec::new();
        if !tables.is_empty() {
            let keys = foreign_keys(client, &tables).await?;
            statements.extend(BEGIN.map(str::to_owned));
            statements.push(HERE_ALONE.to_owned());
            statements.extend(DROP_LIST.iter().map(|statement| (*statement).to_owned()));
            statements.push(EVERYWHERE.to_owned());
            statements.extend(keys.iter().map(dropped));
            statements.extend(tables.iter().map(|table| format!("SELECT undistribute_table('{table}')")));
            statements.extend(keys.iter().map(added));
            if tables.contains(&"namespaces") {
                statements.push("ALTER TABLE namespaces ADD UNIQUE (number)".to_owned());
            }
            if tables.contains(&"models") {
                statements.extend(WITH_IDENTITY.map(str::to_owned));
            }
            statements.push(format!("DELETE FROM meta WHERE key IN ('{DISTRIBUTED_BY}', '{ON_SHARDS}')"));
            statements.push(NEW_INSTANCE.to_owned());
            statements.push("COMMIT".to_owned());
            statements.push(counted(&tables));
        }
        Ok(Sharding { address: self.address().to_owned(), has_citus, statements: by_hand(statements) })
    }

    /// Runs statements with a transaction among them, which is rolled back where one fails.
    async fn run_all(&self, client: &Client, statements: &[String]) -> Result<(), Failure> {
        for statement in statements {
            if let Err(failure) = self.run(client, statement).await {
                client.batch_execute("ROLLBACK").await?;
                return Err(failure);
            }
        }
        Ok(())
    }

    /// Runs a statement. What failed on a shard is a failure.
    async fn run(&self, client: &Client, statement: &str) -> Result<(), Failure> {
        for message in client.simple_query(statement).await? {
            let SimpleQueryMessage::Row(row) = message else { continue };
            if row.columns().iter().any(|column| column.name() == "success") && row.get("success") == Some("f") {
                let reason =
                    format!("shard {}: {}", row.get("shardid").unwrap_or("?"), row.get("result").unwrap_or("?"));
                return Err(StoreError::Database { path: self.address().into(), reason }.into());
            }
        }
        Ok(())
    }

    fn without_citus(&self) -> StoreError {
        StoreError::Database {
            path: self.address().into(),
            reason: "Citus is not installed in this database; load it with shared_preload_libraries, run CREATE EXTENSION citus, add \
                 the workers with citus_add_node, and try again (`tamis store shard --dry-run` prints the statements)"
                .to_owned(),
        }
    }
}

/// Whether the server has Citus, and the tables that it has distributed.
async fn known(client: &Client) -> Result<(bool, Vec<String>), Failure> {
    let has_citus: bool = client.query_one(HAS_CITUS, &[]).await?.get(0);
    let done = match has_citus {
        true => client.query(CATALOG, &[]).await?.iter().map(|row| row.get(0)).collect(),
        false => Vec::new(),
    };
    Ok((has_citus, done))
}

/// The foreign keys of tables: their tables, names and definitions.
async fn foreign_keys(client: &Client, tables: &[&str]) -> Result<Vec<[String; 3]>, Failure> {
    let keys = client.query(FOREIGN_KEYS, &[&tables]).await?;
    Ok(keys.iter().map(|row| [row.get(0), row.get(1), row.get(2)]).collect())
}

fn dropped([table, name, _]: &[String; 3]) -> String {
    format!("ALTER TABLE {table} DROP CONSTRAINT {name}")
}

fn added([table, name, definition]: &[String; 3]) -> String {
    format!("ALTER TABLE {table} ADD CONSTRAINT {name} {definition}")
}

/// Counts rows anew. The server knows nothing of tables that were just moved, and would read all of them.
fn counted(tables: &[&str]) -> String {
    format!("ANALYZE {}", tables.join(", "))
}

/// Statements as they may also be run by hand.
fn by_hand(mut statements: Vec<String>) -> Vec<String> {
    if !statements.is_empty() {
        statements.insert(0, format!("SET search_path = {SCHEMA}, public"));
    }
    statements
}

/// The statements that take policies from tables, and the role of confined transactions, which the nodes do not know.
async fn without_policies(client: &Client, tables: &[&str]) -> Result<Vec<String>, Failure> {
    let mut statements = Vec::new();
    for row in client.query(POLICIES, &[&tables]).await? {
        statements.push(format!("DROP POLICY {} ON {}", row.get::<_, &str>(0), row.get::<_, &str>(1)));
    }
    statements.extend(tables.iter().map(|table| format!("ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")));
    let readable = client.query(READABLE, &[&tables]).await?;
    if !readable.is_empty() {
        let readable: Vec<&str> = readable.iter().map(|row| row.get(0)).collect();
        statements.push(format!("REVOKE ALL ON {} FROM tamis_searcher", readable.join(", ")));
        statements.push(format!("REVOKE ALL ON SCHEMA {SCHEMA} FROM tamis_searcher"));
    }
    Ok(statements)
}

/// Adds the statements of one transaction.
fn distribute(
    statements: &mut Vec<String>,
    distributed: &[&str],
    reference: &[&str],
    keys: &[[String; 3]],
    shards: Option<u32>,
) {
    // A foreign key leads to rows of the same shard, so both its tables have to be distributed first.
    statements.extend(keys.iter().map(dropped));
    if distributed.contains(&"namespaces") {
        // No key of a distributed table can be without the column. These numbers come from one sequence anyway.
        statements.push("ALTER TABLE namespaces DROP CONSTRAINT IF EXISTS namespaces_number_key".to_owned());
    }
    if distributed.contains(&"words") {
        // The shards get their own, with other names.
        statements.push("DROP INDEX IF EXISTS words_bm25".to_owned());
    }
    if reference.contains(&"models") {
        statements.extend(WITHOUT_IDENTITY.map(str::to_owned));
    }
    statements.extend(reference.iter().map(|table| format!("SELECT create_reference_table('{table}')")));
    for table in distributed {
        let place = match *table {
            first if first == DISTRIBUTED[0] => {
                let count = shards.map(|count| format!(", shard_count => {count}")).unwrap_or_default();
                format!("colocate_with => 'none'{count}")
            }
            _ => format!("colocate_with => '{}'", DISTRIBUTED[0]),
        };
        statements.push(format!("SELECT create_distributed_table('{table}', '{COLUMN}', {place})"));
    }
    statements
        .push(format!("INSERT INTO meta(key, value) VALUES ('{DISTRIBUTED_BY}', '{COLUMN}') ON CONFLICT DO NOTHING"));
    statements.extend(keys.iter().map(added));
}

/// The statements that create the indexes of words on the shards.
fn word_indexes() -> [String; 2] {
    [
        format!("SELECT shardid, success, result FROM run_command_on_shards('words', $command${WORD_INDEX}$command$)"),
        format!("INSERT INTO meta(key, value) VALUES ('{}', 'bm25') ON CONFLICT DO NOTHING", ON_SHARDS),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::tests::{put_in, store};
    use crate::prelude::*;
    use crate::{ModelKey, NewNamespace, StoreError};

    /// Tables that stay on the coordinator, each with the reason.
    const LOCAL: &[(&str, &str)] = &[
        ("meta", "a few rows, never joined"),
        ("properties", "a few rows for each tree, never joined"),
        ("threshold_calibration", "a few rows, never joined"),
        (
            "usage_searches",
            "bounded by its retention; callers know an identifier alone, and the oldest rows of all namespaces go first",
        ),
        ("usage_judgements", "refers to usage_searches"),
        ("usage_openings", "refers to usage_searches"),
        ("usage_grades", "no longer written"),
        ("jobs", "workers take one over all namespaces; rows of finished jobs are replaced"),
        ("sessions", "found by their own identifiers; the oldest go first"),
        ("usage_quality", "bounded by its retention, in the order of its numbers"),
    ];

    #[test]
    fn every_table_has_its_place_and_a_key_to_distribute_by() {
        let Some(store) = store() else { return };
        let mut placed: Vec<&str> =
            DISTRIBUTED.iter().chain(REFERENCE).copied().chain(LOCAL.iter().map(|(table, _)| *table)).collect();
        placed.sort_unstable();
        let tables = "SELECT c.relname::text FROM pg_class c";
        let these = "c.relnamespace = 'tamis'::regnamespace AND c.relkind = 'r' ORDER BY c.relname COLLATE \"C\"";
        assert_eq!(store.rows(&format!("{tables} WHERE {these}")), placed, "name new tables in sharding.rs");
        let keyed = store.rows(&format!(
            "{tables} JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary \
             JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0] WHERE a.attname = '{COLUMN}' AND {these}"
        ));
        for table in DISTRIBUTED {
            assert!(keyed.iter().any(|keyed| keyed == table), "the key of {table} begins with another column");
        }
    }

    #[test]
    fn without_citus_the_statements_are_shown_and_not_run() {
        let Some(store) = store() else { return };
        let keys = "SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint \
             WHERE contype = 'f' AND connamespace = 'tamis'::regnamespace ORDER BY 1";
        let policies =
            "SELECT concat_ws(' ', policyname, 'ON', tablename) FROM pg_policies WHERE schemaname = 'tamis' ORDER BY 1";
        let before = (store.rows(keys), store.rows(policies));
        let planned = store.shard_statements(Some(64)).unwrap();
        assert!(!planned.has_citus);
        let place = |wanted: &str| {
            let at = planned.statements.iter().position(|statement| statement == wanted);
            at.unwrap_or_else(|| panic!("{wanted}: {:#?}", planned.statements))
        };
        let (begun, committed) = (place("BEGIN"), place("COMMIT"));
        let models = place("SELECT create_reference_table('models')");
        let namespaces = place(
            "SELECT create_distributed_table('namespaces', 'namespace', colocate_with => 'none', shard_count => 64)",
        );
        assert!(begun < models && models < namespaces);
        for table in &DISTRIBUTED[1..] {
            let together =
                format!("SELECT create_distributed_table('{table}', '{COLUMN}', colocate_with => 'namespaces')");
            assert!(namespaces < place(&together) && place(&together) < committed, "{table}");
        }
        // Citus takes no policies, and foreign keys between distributed tables alone.
        let is_moved = |table: &str| DISTRIBUTED.contains(&table) || REFERENCE.contains(&table);
        for policy in before.1.iter().filter(|policy| policy.rsplit(' ').next().is_some_and(is_moved)) {
            assert!(place(&format!("DROP POLICY {policy}")) < models, "{policy}");
        }
        for key in &before.0 {
            let [table, name, definition] = key.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{key}") };
            if DISTRIBUTED.contains(&table) {
                assert!(place(&format!("ALTER TABLE {table} DROP CONSTRAINT {name}")) < models, "{key}");
                let added = place(&format!("ALTER TABLE {table} ADD CONSTRAINT {name} {definition}"));
                assert!(added > namespaces, "{key}");
            }
        }
        let error = store.shard(Some(64)).unwrap_err().to_string();
        assert!(error.contains("Citus is not installed") && error.contains("CREATE EXTENSION citus"), "{error}");
        assert!(store.unshard().unwrap().statements.is_empty(), "there is nothing to bring back");
        assert_eq!((store.rows(keys), store.rows(policies)), before);
    }

    #[test]
    fn models_are_numbered_on_after_they_went_and_came_back() {
        let Some(store) = store() else { return };
        let put = |id: &str| store.put_vectors(&ModelKey { id: id.into(), dimension: 2 }, &[]).unwrap();
        put("first");
        store.execute(&WITHOUT_IDENTITY.join(";"));
        put("second");
        store.execute(&WITH_IDENTITY.join(";"));
        put("third");
        let models = "SELECT concat_ws(' ', model, name) FROM models ORDER BY 1";
        assert_eq!(store.rows(models), ["1 first", "2 second", "3 third"]);
    }

    #[test]
    fn a_shard_gets_one_index_of_words() {
        let Some(store) = store() else { return };
        if store.rows("SELECT name::text FROM pg_available_extensions WHERE name = 'pg_textsearch'").is_empty() {
            eprintln!("skipped: the server has no index of words");
            return;
        }
        store.execute("CREATE EXTENSION pg_textsearch SCHEMA public");
        for _ in 0..2 {
            store.execute(&WORD_INDEX.replace("%1$s", "words"));
        }
        let indexes = "SELECT count(*)::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam WHERE a.amname = 'bm25'";
        assert_eq!(store.rows(indexes), ["1"]);
    }

    #[test]
    fn what_fails_on_a_shard_or_a_node_is_an_error() {
        let Some(store) = store() else { return };
        let failed = |statement: &str| {
            let run = async { store.run(&*store.connections.session_of_its_own().await?, statement).await };
            store.connections.wait(run).unwrap_err()
        };
        let shard = failed("SELECT 7 AS shardid, false AS success, 'no room' AS result").to_string();
        assert!(shard.contains("shard 7: no room"), "{shard}");
        let node =
            failed("DO $$ BEGIN RAISE 'connection to the remote node two:2 failed' USING ERRCODE = '08006'; END $$");
        assert!(matches!(node, StoreError::Unavailable { .. }), "{node}");
        assert!(node.to_string().contains("a node of Citus is away; start it, or search namespaces"), "{node}");
    }

    #[test]
    fn the_list_on_the_coordinator_follows_the_namespaces() {
        let Some(store) = store() else { return };
        store.apply(&[put_in("here", "mill.md", &["the mill"])]).unwrap();
        let fill = format!("INSERT INTO meta(key, value) VALUES ('{DISTRIBUTED_BY}', '{COLUMN}')");
        store.execute(&format!("{}; {fill}", CREATE_LIST.join(";")));
        let opened = store.another();
        opened.apply(&[put_in("away", "mill.md", &["the mill"]), put_in("gone", "mill.md", &["the mill"])]).unwrap();
        opened.publish(&mut |_| Ok(())).unwrap();
        opened.remove_namespace("gone").unwrap();
        opened.put_namespace(&NewNamespace { name: "away".into(), owner: Some("team".into()), shared: true }).unwrap();
        let known = "SELECT (namespace, root, machine, owner, shared, documents, passages, change_number, changed_ms, published_ms)::text \
             FROM namespaces WHERE namespace IN ('away', 'gone', 'here') ORDER BY 1";
        assert_eq!(store.rows("SELECT l::text FROM namespace_list l ORDER BY 1"), store.rows(known));
        let names: Vec<String> = opened.namespaces().unwrap().into_iter().map(|namespace| namespace.name).collect();
        assert_eq!(names, ["away", "here"]);
    }

    #[test]
    fn no_node_is_asked_about_nothing() {
        let Some(store) = store() else { return };
        // As on a node that is away, whoever reads these tables fails.
        for table in ["documents", "passages", "vectors", "models"] {
            store.execute(&format!("ALTER TABLE {table} RENAME TO {table}_away"));
        }
        assert!(store.attributes(&[], &[crate::DocumentId(1)]).is_err());
        assert!(store.attributes(&[], &[]).unwrap().is_empty());
        assert!(store.records(&[], &[]).unwrap().is_empty());
        assert!(store.passages(&[], &[]).unwrap().is_empty());
        assert!(store.vectors("toy", &[], &[]).unwrap().is_empty());
    }
}
