//! Publishing, summarizing, checking and pruning, and the status of a database: what it holds and can do.
//!
//! Words, frequencies and totals are written with the passages, so publishing has little to do: it tells other servers.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicI64;
use std::sync::atomic::Ordering::Relaxed;

use deadpool_postgres::{GenericClient, Transaction};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::connection::{Connections, SCHEMA};
use super::failure::Failure;
use super::namespaces::NOW_MS;
use super::schema::VERSION;
use super::serving::CHANNEL;
use super::session::{execute, query};
use super::vectors::in_database::ensure_indexes;
use super::words::in_memory::{Difference, WordsWriter};
use super::{PostgresStore, vectors};
use crate::content;
use crate::content::{Problems, check_evidence};
use crate::error::{Result, StoreError};
use crate::lexical::TermReader;
use crate::record::TextForm;
use crate::report::{Findings, Part, Progress, Pruned, Sizes, Summary};
use crate::sqlite::LexicalRow;
use crate::store::Maintenance;

impl Maintenance for PostgresStore {
    fn publish(&self, progress: &mut dyn FnMut(Progress) -> Result<()>) -> Result<()> {
        match self.publish_where("", &[], progress) {
            // The node of another namespace may be away.
            Err(StoreError::Unavailable { .. }) => {
                self.publish_where(" AND namespace = $1", &[&self.namespace], progress)
            }
            published => published,
        }
    }

    fn build_indexes(&self) -> Result<()> {
        self.connections.wait(ensure_indexes(&self.connections))
    }

    fn change_number(&self) -> Result<u64> {
        self.connections.ask(async |connection| self.change_number_in(connection).await)
    }

    fn summary(&self) -> Result<Summary> {
        self.connections.read(async |transaction| summary(self, transaction).await)
    }

    fn check(&self) -> Result<Findings> {
        self.connections.read(async |transaction| Ok(check(&self.connections, transaction).await?.findings()))
    }

    fn mend(&self, progress: &mut dyn FnMut(Progress) -> Result<()>) -> Result<Findings> {
        let found = self.connections.read(async |transaction| check(&self.connections, transaction).await)?;
        self.rebuild(&found.mendable(), progress)?;
        self.publish(progress)?;
        self.check()
    }

    fn prune(&self) -> Result<Pruned> {
        let namespaces: Vec<String> = self.connections.read(async |transaction| {
            let rows = transaction.query("SELECT DISTINCT namespace FROM vectors ORDER BY namespace", &[]).await?;
            Ok(rows.iter().map(|row| row.get(0)).collect())
        })?;
        let delete = "DELETE FROM vectors v WHERE v.namespace = $1 AND NOT EXISTS \
             (SELECT 1 FROM passages p WHERE p.namespace = $1 AND p.text_hash = v.text_hash)";
        let mut pruned = Pruned::default();
        for namespace in &namespaces {
            // A text that comes back meanwhile waits for the lock.
            pruned.vectors += self.connections.write(async |transaction| {
                self.lock_namespaces(transaction, [namespace.as_str()]).await?;
                Ok(transaction.execute(delete, &[namespace]).await?)
            })?;
        }
        Ok(pruned)
    }

    fn check_replaced(&self) -> Result<()> {
        self.check_opened()
    }
}

impl PostgresStore {
    /// Reads the words of namespaces again from their passages, each in a transaction of its own.
    fn rebuild(&self, namespaces: &[String], progress: &mut dyn FnMut(Progress) -> Result<()>) -> Result<()> {
        if namespaces.is_empty() {
            return Ok(());
        }
        let total = self.connections.read(async |transaction| {
            let count = "SELECT coalesce(sum(passages), 0)::bigint FROM documents WHERE namespace = ANY($1)";
            Ok(transaction.query_one(count, &[&namespaces]).await?.get::<_, i64>(0) as u64)
        })?;
        let progress = RefCell::new(progress);
        let mut before = 0;
        for namespace in namespaces {
            before += self.connections.write(async |transaction| {
                self.lock_namespaces(transaction, [namespace.as_str()]).await?;
                let report = |done: u64| {
                    let done = (before + done).min(total);
                    progress.borrow_mut()(Progress { part: Part::Lexical, done, total })
                };
                let passages = rebuild(transaction, namespace, report).await?;
                self.note(transaction, &[namespace]).await?;
                Ok(passages)
            })?;
        }
        Ok(())
    }

    /// Publishes the namespaces that meet one more condition, with these values.
    fn publish_where(
        &self,
        condition: &str,
        these: &[&(dyn ToSql + Sync)],
        progress: &mut dyn FnMut(Progress) -> Result<()>,
    ) -> Result<()> {
        let version = TermReader::VERSION;
        let outdated =
            format!("SELECT namespace FROM namespaces WHERE analysis < {version}{condition} ORDER BY namespace");
        let outdated = self.connections.read(async |transaction| {
            let rows = transaction.query(&outdated, these).await?;
            Ok(rows.iter().map(|row| row.get(0)).collect::<Vec<String>>())
        })?;
        self.rebuild(&outdated, progress)?;
        let changed = format!(
            "SELECT namespace FROM namespaces WHERE changed_ms >= coalesce(published_ms, 0){condition} ORDER BY namespace"
        );
        let stamp = format!(
            "UPDATE namespaces SET published_ms = greatest({NOW_MS}, changed_ms) \
             WHERE namespace = $1 AND changed_ms >= coalesce(published_ms, 0)"
        );
        let changed: Vec<String> = self.connections.write(async |transaction| {
            // Whoever locks several namespaces does so in this order.
            let changed = query(transaction, &changed, these).await?;
            let mut stamped = Vec::new();
            for row in &changed {
                let namespace: &str = row.get(0);
                if execute(transaction, &stamp, &[&namespace]).await? > 0 {
                    // A name that is too long for a message is left out of it.
                    let told = if namespace.len() < 8000 { namespace } else { "" };
                    let notify = "SELECT pg_notify($1, $2)";
                    query(transaction, notify, &[&CHANNEL, &told]).await?;
                    stamped.push(namespace.to_owned());
                }
            }
            self.note(transaction, &stamped.iter().map(String::as_str).collect::<Vec<_>>()).await?;
            Ok(stamped)
        })?;
        // What is published stays so, whatever becomes of this.
        for namespace in changed {
            let _ = self.connections.write(async |transaction| {
                Ok(transaction.execute(vectors::KEEP, &[&[namespace.as_str()].as_slice()]).await?)
            });
        }
        let _ = self.connections.ask(async |connection| self.counted.settle(connection).await);
        Ok(())
    }
}

/// The findings, and the namespaces that they concern.
#[derive(Debug, Default)]
pub(crate) struct Found {
    passages: u64,
    problems: Problems,
    mendable: BTreeSet<String>,
}

/// Checks all namespaces in one snapshot.
pub(crate) async fn check(connections: &Connections, transaction: &Transaction<'_>) -> Result<Found, Failure> {
    let mut found = Found::default();
    let rows = transaction.query("SELECT namespace, analysis FROM namespaces ORDER BY namespace", &[]).await?;
    let names: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    for (part, problem, count) in STRAYS {
        let row = transaction.query_one(*count, &[&names]).await?;
        found.problems.count(*part, problem, row.get::<_, i64>(0) as u64);
    }
    for (namespace, row) in names.iter().zip(&rows) {
        let passages = "SELECT count(*) FROM passages WHERE namespace = $1";
        found.passages += transaction.query_one(passages, &[namespace]).await?.get::<_, i64>(0) as u64;
        for (part, problem, count) in CHECKS.iter().copied() {
            let wrong: i64 = transaction.query_one(count, &[namespace]).await?.get(0);
            found.problems.count(part, problem, wrong as u64);
            if wrong > 0 && part == Part::Lexical {
                found.mendable.insert(namespace.clone());
            }
        }
        check_evidence(&connections.content(transaction), namespace, &mut found.problems).await?;
        if row.get::<_, i32>(1) < TermReader::VERSION as i32 {
            found.problems.count(Part::Lexical, "namespaces have words of an earlier version", 1);
            found.mendable.insert(namespace.clone());
        }
    }
    Ok(found)
}

impl Found {
    /// The namespaces whose words can be rebuilt.
    pub fn mendable(&self) -> Vec<String> {
        self.mendable.iter().cloned().collect()
    }

    /// The findings for people.
    pub fn findings(self) -> Findings {
        Findings { passages: self.passages, problems: self.problems.found().collect() }
    }
}

/// Rows of namespaces that are not among `$1`, all of them.
const STRAYS: &[(Part, &str, &str)] = &[(
    Part::Database,
    "rows are of no namespace",
    "SELECT (SELECT count(*) FROM documents WHERE namespace <> ALL($1)) \
     + (SELECT count(*) FROM passages WHERE namespace <> ALL($1)) \
     + (SELECT count(*) FROM attributes WHERE namespace <> ALL($1)) \
     + (SELECT count(*) FROM words WHERE namespace <> ALL($1)) \
     + (SELECT count(*) FROM frequencies WHERE namespace <> ALL($1))",
)];

/// The problems of the namespace `$1`.
const CHECKS: &[(Part, &str, &str)] = &[
    (
        Part::Database,
        "rows refer to missing rows",
        "SELECT (SELECT count(*) FROM passages p WHERE p.namespace = $1 AND NOT EXISTS \
           (SELECT 1 FROM documents d WHERE d.namespace = $1 AND d.document = p.document)) \
         + (SELECT count(*) FROM attributes a WHERE a.namespace = $1 AND NOT EXISTS \
           (SELECT 1 FROM documents d WHERE d.namespace = $1 AND d.document = a.document))",
    ),
    (
        Part::Database,
        "documents have a wrong passage count",
        "SELECT count(*) FROM documents d LEFT JOIN \
         (SELECT document, count(*) AS passages FROM passages WHERE namespace = $1 GROUP BY document) p \
         ON p.document = d.document WHERE d.namespace = $1 AND d.passages <> coalesce(p.passages, 0)",
    ),
    (
        Part::Database,
        "vectors have a wrong length for their model",
        "SELECT count(*) FROM vectors v JOIN models m ON m.model = v.model \
         WHERE v.namespace = $1 AND vector_dims(v.embedding) <> m.dimension",
    ),
    (
        Part::Database,
        "vectors are of an unknown model",
        "SELECT count(*) FROM vectors v WHERE v.namespace = $1 AND NOT EXISTS \
         (SELECT 1 FROM models m WHERE m.model = v.model)",
    ),
    (
        Part::Lexical,
        "passages have no words, or words have no passage",
        "SELECT count(*) FROM (SELECT passage, document FROM passages WHERE namespace = $1) p FULL JOIN \
         (SELECT passage, document FROM words WHERE namespace = $1) w ON w.passage = p.passage AND w.document = p.document \
         WHERE w.passage IS NULL OR p.passage IS NULL",
    ),
    (
        Part::Lexical,
        "passages have a wrong number of words",
        "SELECT count(*) FROM words w WHERE w.namespace = $1 AND ( \
           cardinality(w.terms) <> cardinality(w.body_counts) OR cardinality(w.terms) <> cardinality(w.name_counts) \
           OR w.body_terms <> (SELECT coalesce(sum(n), 0) FROM unnest(w.body_counts) n) \
           OR w.name_terms <> (SELECT coalesce(sum(n), 0) FROM unnest(w.name_counts) n))",
    ),
    (
        Part::Lexical,
        "terms have a wrong number of passages",
        "SELECT count(*) FROM (SELECT t.term, f.field, count(*) AS passages FROM words w \
           CROSS JOIN unnest(w.terms, w.body_counts, w.name_counts) AS t(term, body, name) \
           CROSS JOIN LATERAL (VALUES (0, t.body), (1, t.name)) AS f(field, number) \
           WHERE w.namespace = $1 AND f.number > 0 GROUP BY t.term, f.field) counted \
         FULL JOIN (SELECT term, field, passages FROM frequencies WHERE namespace = $1) stored \
         ON stored.term = counted.term AND stored.field = counted.field \
         WHERE stored.passages IS DISTINCT FROM counted.passages",
    ),
    (
        Part::Lexical,
        "namespaces have wrong totals",
        "SELECT count(*) FROM namespaces n CROSS JOIN (SELECT count(*) AS passages, coalesce(sum(body_terms), 0) AS body, \
           coalesce(sum(name_terms), 0) AS name FROM words WHERE namespace = $1) w \
         WHERE n.namespace = $1 AND (n.documents, n.passages, n.body_terms, n.name_terms) \
           <> ((SELECT count(*) FROM documents d WHERE d.namespace = $1), w.passages, w.body, w.name)",
    ),
];

/// Passages read at once.
const PAGE: i64 = 1_000;

/// Rebuilds words, frequencies and totals, and returns the number of passages. The namespace is locked. `report` receives the number
/// of passages done.
pub(crate) async fn rebuild(
    transaction: &Transaction<'_>,
    namespace: &str,
    report: impl Fn(u64) -> Result<(), StoreError>,
) -> Result<u64, Failure> {
    let number = transaction.query_opt("SELECT number FROM namespaces WHERE namespace = $1", &[&namespace]).await?;
    // It was removed in the meantime.
    let Some(number) = number else { return Ok(0) };
    let number: i32 = number.get(0);
    transaction.execute("DELETE FROM words WHERE namespace = $1", &[&namespace]).await?;
    transaction.execute("DELETE FROM frequencies WHERE namespace = $1", &[&namespace]).await?;
    let select = transaction
        .prepare_cached(
            "SELECT p.passage, p.document, p.prose, d.path, d.title, p.symbol, p.heading, p.context, p.text FROM passages p \
             JOIN documents d ON d.namespace = p.namespace AND d.document = p.document \
             WHERE p.namespace = $1 AND p.passage > $2 ORDER BY p.passage LIMIT $3",
        )
        .await?;
    let mut totals = Difference::default();
    let mut last = 0_i64;
    loop {
        let rows = transaction.query(&select, &[&namespace, &last, &PAGE]).await?;
        let Some(end) = rows.last() else { break };
        last = end.get(0);
        let mut words = WordsWriter::begin(transaction, namespace, number).await?;
        for row in &rows {
            words.passage(row.get(0), row.get(1), &lexical(row), &mut totals).await?;
        }
        words.finish().await?;
        report(totals.passages as u64)?;
    }
    totals.write(transaction, namespace).await?;
    // Results computed from the old words must not be taken for current ones.
    let update = format!(
        "UPDATE namespaces SET documents = (SELECT count(*) FROM documents d WHERE d.namespace = $1), passages = $2, body_terms = $3, name_terms = $4, analysis = $5, changed_ms = {NOW_MS}, \
         change_number = change_number + 1 WHERE namespace = $1"
    );
    let version = TermReader::VERSION as i32;
    let Difference { passages, body_terms, name_terms, .. } = &totals;
    transaction.execute(&update, &[&namespace, passages, body_terms, name_terms, &version]).await?;
    Ok(totals.passages as u64)
}

fn lexical(row: &Row) -> LexicalRow<'_> {
    LexicalRow {
        passage: 0,
        document: 0,
        namespace: 0,
        form: TextForm::from_prose(row.get(2)),
        path: row.get(3),
        title: row.get(4),
        symbol: row.get(5),
        heading: row.get(6),
        context: row.get(7),
        text: row.get(8),
    }
}

/// Counts everything in one snapshot.
pub(crate) async fn summary(store: &PostgresStore, transaction: &Transaction<'_>) -> Result<Summary, Failure> {
    let times = "SELECT max(changed_ms), max(published_ms) FROM namespaces";
    let times = transaction.query_one(times, &[]).await?;
    let seq = store.change_number_in(transaction).await?;
    let mut summary = Summary {
        sizes: sizes(transaction).await?,
        last_change_ms: times.get(0),
        last_publish_ms: times.get(1),
        schema_version: VERSION,
        seq,
        // The words are always those of the passages.
        lexical_seq: Some(seq),
        ..content::summary(&store.connections.content(transaction)).await?
    };
    // Vectors are searched where they are stored.
    summary.models.iter_mut().for_each(|model| model.file_seq = Some(seq));
    Ok(summary)
}

/// The sizes of the tables with their indexes.
async fn sizes(transaction: &Transaction<'_>) -> Result<Sizes, Failure> {
    // A partition counts to its table.
    let select = "SELECT r.relname::text, pg_total_relation_size(c.oid) FROM pg_class c \
         JOIN pg_class r ON r.oid = coalesce(pg_partition_root(c.oid), c.oid) \
         JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r'";
    let mut sizes = Sizes::default();
    for row in transaction.query(select, &[&SCHEMA]).await? {
        let bytes = row.get::<_, i64>(1) as u64;
        match row.get::<_, &str>(0) {
            "words" | "frequencies" => sizes.lexical += bytes,
            "vectors" => sizes.vectors += bytes,
            _ => sizes.database += bytes,
        }
    }
    Ok(sizes)
}

/// Fewer passages are quick under any plan.
const LEAST: i64 = 1_000;

/// Passages since the last count, per passage that was counted then.
const GROWTH: i64 = 3;

/// Rows that were counted, per row that this process may have written since when what it wrote is finished.
const SETTLED: i64 = 10;

/// All tables that grow with what is stored.
const COUNT: &str = "ANALYZE documents, attributes, passages, words, frequencies, vectors, evidence_tasks, evidence_works, \
     evidence_pages, evidence_fragments, evidence_claims, evidence_edges";

/// What this process knows of the server's count.
///
/// The server plans statements by what it last counted, and counts by itself about once a minute. A first index of a large tree is
/// longer than that, and a plan for empty tables reads whole namespaces where one row is asked for.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    /// The passages of the namespace that this process last had counted.
    passages: AtomicI64,
    /// Passages and records of evidence that this process has written since.
    written: AtomicI64,
}

impl Counted {
    /// Notes that this process wrote passages or records.
    pub fn wrote(&self, rows: u64) {
        self.written.fetch_add(rows as i64, Relaxed);
    }

    /// Asks the server to count again if a namespace has several times as many passages as all namespaces had when the server last
    /// did. A user without the right to do so leaves it to the server.
    pub async fn keep_up(&self, client: &impl GenericClient, namespace: &str) -> Result<(), Failure> {
        let compare = "SELECT n.passages, (SELECT reltuples::bigint FROM pg_class WHERE oid = 'passages'::regclass) \
             FROM namespaces n WHERE n.namespace = $1";
        let statement = client.prepare_cached(compare).await?;
        let Some(row) = client.query_opt(&statement, &[&namespace]).await? else { return Ok(()) };
        let (now, counted): (i64, i64) = (row.get(0), row.get(1));
        // A server that distributes the tables has no count of its own.
        let counted = counted.max(self.passages.load(Relaxed));
        if now >= LEAST && now >= counted.saturating_mul(GROWTH) {
            self.passages.store(now, Relaxed);
            self.count(client).await?;
        }
        Ok(())
    }

    /// Asks the server to count again once a namespace or its evidence is written: the server does not know a new one at all, and
    /// would read all of it for each row.
    pub async fn settle(&self, client: &impl GenericClient) -> Result<(), Failure> {
        let written = self.written.load(Relaxed);
        if written < LEAST {
            return Ok(());
        }
        let counted = "SELECT greatest(sum(reltuples), 0)::bigint FROM pg_class \
             WHERE oid IN ('passages'::regclass, 'evidence_edges'::regclass)";
        let row = client.query_one(&client.prepare_cached(counted).await?, &[]).await?;
        if written.saturating_mul(SETTLED) >= row.get::<_, i64>(0) {
            self.count(client).await?;
        }
        Ok(())
    }

    async fn count(&self, client: &impl GenericClient) -> Result<(), Failure> {
        self.written.store(0, Relaxed);
        Ok(client.batch_execute(COUNT).await?)
    }
}

/// What a database holds and can do.
#[derive(Debug, Clone, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct PostgresStatus {
    /// Host, port and database.
    pub address: String,
    /// Versions of the server, its extensions and the tables.
    #[serde(flatten)]
    pub versions: Versions,
    /// What finds candidates by words: `gin`, or `bm25` with pg_textsearch.
    pub candidates_by: String,
    /// True if the tables are distributed over the nodes of Citus.
    pub distributed: bool,
    /// The namespaces whose node does not answer now, by name.
    pub unreachable: Vec<String>,
    /// True if row-level security is a second wall between namespaces, behind the filters of searches.
    pub row_security: bool,
    /// User of the database.
    pub user: String,
    /// The namespaces, by name.
    pub namespaces: Vec<NamespaceStatus>,
    /// Bytes of all tables and indexes.
    pub bytes: u64,
}

/// The versions of a server, its extensions and the tables.
#[derive(Debug, Clone, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Versions {
    /// Version of the server.
    pub server_version: String,
    /// Version of the tables.
    pub schema_version: u32,
    /// Version of pgvector; `None` if it is not installed.
    pub vector_version: Option<String>,
    /// Version of pg_textsearch; `None` if it is not installed.
    pub textsearch_version: Option<String>,
}

/// A namespace in a [`PostgresStatus`].
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct NamespaceStatus {
    /// Its name.
    pub name: String,
    /// Number of its documents.
    pub documents: u64,
    /// Number of its passages.
    pub passages: u64,
    /// Number of its last change.
    pub change_number: u64,
    /// Time of its last change, in milliseconds since 1970.
    pub changed_ms: Option<i64>,
    /// Time of its last publication, in milliseconds since 1970.
    pub published_ms: Option<i64>,
}

impl PostgresStore {
    /// Returns what the database holds and can do.
    ///
    /// # Errors
    /// The server cannot be reached or refuses.
    pub fn status(&self) -> Result<PostgresStatus> {
        let unreachable = self.read_unreachable()?;
        self.connections.read(async |transaction| {
            let one = async |statement: &str| -> Result<Option<String>, Failure> {
                Ok(transaction.query_opt(statement, &[]).await?.and_then(|row| row.get(0)))
            };
            let namespaces = format!(
                "SELECT namespace, documents, passages, change_number, changed_ms, published_ms FROM {} ORDER BY namespace",
                self.list()
            );
            let namespaces = transaction.query(&namespaces, &[]).await?;
            let bytes = transaction
                .query_one(
                    "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class \
                     WHERE relnamespace = 'tamis'::regnamespace AND relkind IN ('r', 'p')",
                    &[],
                )
                .await?;
            let has_bm25 = "SELECT to_regclass('words_bm25') IS NOT NULL OR EXISTS (SELECT FROM meta WHERE key = $1)";
            let has_bm25 = transaction.query_one(has_bm25, &[&crate::postgres::words::index::ON_SHARDS]).await?;
            Ok(PostgresStatus {
                address: self.address().to_owned(),
                versions: Versions {
                    server_version: one("SHOW server_version").await?.unwrap_or_default(),
                    schema_version: VERSION,
                    vector_version: one("SELECT extversion FROM pg_extension WHERE extname = 'vector'").await?,
                    textsearch_version: one("SELECT extversion FROM pg_extension WHERE extname = 'pg_textsearch'").await?,
                },
                candidates_by: if has_bm25.get::<_, bool>(0) { "bm25" } else { "gin" }.to_owned(),
                distributed: self.is_distributed,
                unreachable: unreachable.clone(),
                row_security: self.connections.has_row_security(),
                user: one("SELECT current_user::text").await?.unwrap_or_default(),
                namespaces: namespaces
                    .iter()
                    .map(|row| NamespaceStatus {
                        name: row.get(0),
                        documents: row.get::<_, i64>(1) as u64,
                        passages: row.get::<_, i64>(2) as u64,
                        change_number: row.get::<_, i64>(3) as u64,
                        changed_ms: row.get(4),
                        published_ms: row.get(5),
                    })
                    .collect(),
                bytes: bytes.get::<_, i64>(0) as u64,
            })
        })
    }
}
