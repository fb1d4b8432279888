//! Counting evidence.

use deadpool_postgres::Transaction;

use super::super::copy::storable_option;
use super::super::error::Failure;
use crate::evidence::Relation;
use crate::report::{Count, EvidenceSummary};

/// The edges to claims of the task `$2`, or of all tasks if it is null.
const EDGES: &str = "FROM evidence_edges e JOIN evidence_claims c ON c.namespace = e.namespace AND c.id = e.target_id \
                     WHERE e.namespace = $1 AND e.target_type = 'claim' AND ($2::text IS NULL OR c.task_id = $2)";

/// Counts the evidence of a namespace, or the part of it that belongs to one task.
pub(super) async fn summary(
    transaction: &Transaction<'_>,
    namespace: &str,
    task: Option<&str>,
) -> Result<EvidenceSummary, Failure> {
    let given = storable_option(task);
    let count = async |select: &str| -> Result<u64, Failure> {
        let statement = transaction.prepare_cached(select).await?;
        Ok(transaction.query_one(&statement, &[&namespace, &given]).await?.get::<_, i64>(0) as u64)
    };
    // A fragment belongs to a task when one of its edges leads to a claim of the task.
    let fragments = match task {
        None => {
            "SELECT f.id, f.page_id FROM evidence_fragments f WHERE f.namespace = $1 AND $2::text IS NULL".to_owned()
        }
        Some(_) => format!(
            "SELECT f.id, f.page_id FROM evidence_fragments f WHERE f.namespace = $1 AND f.id IN \
             (SELECT e.source_id {EDGES} AND e.source_type = 'fragment')"
        ),
    };
    let whole = |table: &str| format!("SELECT count(*) FROM {table} WHERE namespace = $1 AND $2::text IS NULL");
    let (works, pages) = match task {
        None => (whole("evidence_works"), whole("evidence_pages")),
        Some(_) => (
            format!(
                "SELECT count(DISTINCT p.work_id) FROM ({fragments}) f \
                 JOIN evidence_pages p ON p.namespace = $1 AND p.id = f.page_id"
            ),
            format!("SELECT count(DISTINCT page_id) FROM ({fragments}) f"),
        ),
    };
    let edges =
        async |relation: Relation| count(&format!("SELECT count(*) {EDGES} AND e.relation = '{relation}'")).await;
    let domains = format!(
        "SELECT p.domain, count(DISTINCT p.id), count(*) FROM ({fragments}) f \
         JOIN evidence_pages p ON p.namespace = $1 AND p.id = f.page_id WHERE p.domain IS NOT NULL \
         GROUP BY p.domain ORDER BY 3 DESC, 2 DESC, 1 LIMIT 10"
    );
    let statement = transaction.prepare_cached(&domains).await?;
    let domains = transaction.query(&statement, &[&namespace, &given]).await?;
    let domain = |row: &tokio_postgres::Row| Count {
        name: row.get(0),
        documents: row.get::<_, i64>(1) as u64,
        passages: row.get::<_, i64>(2) as u64,
    };
    Ok(EvidenceSummary {
        namespace: namespace.to_owned(),
        tasks: count("SELECT count(*) FROM evidence_tasks WHERE namespace = $1 AND ($2::text IS NULL OR id = $2)")
            .await?,
        works: count(&works).await?,
        pages: count(&pages).await?,
        fragments: count(&format!("SELECT count(*) FROM ({fragments}) f")).await?,
        claims: count(
            "SELECT count(*) FROM evidence_claims WHERE namespace = $1 AND ($2::text IS NULL OR task_id = $2)",
        )
        .await?,
        supporting: edges(Relation::Supports).await?,
        refuting: edges(Relation::Refutes).await?,
        neutral: edges(Relation::Neutral).await?,
        top_domains: domains.iter().map(domain).collect(),
    })
}
