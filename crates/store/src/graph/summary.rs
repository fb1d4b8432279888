//! Counting evidence.

use crate::evidence::Relation;
use crate::report::{Count, EvidenceSummary};
use crate::session::{Session, all, first, read, values};

/// The edges to claims of the task `$2`, or of all tasks if it is null.
const EDGES: &str = "FROM evidence_edges e JOIN evidence_claims c ON c.namespace = e.namespace AND c.id = e.target_id \
                     WHERE e.namespace = $1 AND e.target_type = 'claim' AND (CAST($2 AS text) IS NULL OR c.task_id = $2)";

/// Counts the evidence of a namespace, or the part of it that belongs to one task.
pub(crate) async fn summary<E>(
    session: &dyn Session<E>,
    namespace: &str,
    task: Option<&str>,
) -> Result<EvidenceSummary, E> {
    let given = values![namespace, task];
    let count = async |select: &str| -> Result<u64, E> {
        Ok(first(session, select, given, |row| row.next()).await?.unwrap_or_default())
    };
    let whole = |columns: &str, table: &str| {
        format!("SELECT {columns} FROM {table} WHERE namespace = $1 AND CAST($2 AS text) IS NULL")
    };
    // A fragment belongs to a task when one of its edges leads to a claim of the task.
    let fragments = match task {
        None => whole("id, page_id", "evidence_fragments"),
        Some(_) => format!(
            "SELECT f.id, f.page_id FROM evidence_fragments f WHERE f.namespace = $1 AND f.id IN \
             (SELECT e.source_id {EDGES} AND e.source_type = 'fragment')"
        ),
    };
    let (works, pages) = match task {
        None => (whole("count(*)", "evidence_works"), whole("count(*)", "evidence_pages")),
        Some(_) => (
            format!(
                "SELECT count(DISTINCT p.work_id) FROM ({fragments}) f \
                 JOIN evidence_pages p ON p.namespace = $1 AND p.id = f.page_id"
            ),
            format!("SELECT count(DISTINCT page_id) FROM ({fragments}) f"),
        ),
    };
    let of_task = |table: &str, column: &str| {
        format!("SELECT count(*) FROM {table} WHERE namespace = $1 AND (CAST($2 AS text) IS NULL OR {column} = $2)")
    };
    let edges =
        async |relation: Relation| count(&format!("SELECT count(*) {EDGES} AND e.relation = '{relation}'")).await;
    let domains = format!(
        "SELECT p.domain, count(DISTINCT p.id), count(*) FROM ({fragments}) f \
         JOIN evidence_pages p ON p.namespace = $1 AND p.id = f.page_id WHERE p.domain IS NOT NULL \
         GROUP BY p.domain ORDER BY 3 DESC, 2 DESC, 1 LIMIT 10"
    );
    let domains = all(session, &domains, given, |row| Ok(read!(row => Count { name, documents, passages })));
    Ok(EvidenceSummary {
        namespace: namespace.to_owned(),
        tasks: count(&of_task("evidence_tasks", "id")).await?,
        works: count(&works).await?,
        pages: count(&pages).await?,
        fragments: count(&format!("SELECT count(*) FROM ({fragments}) f")).await?,
        claims: count(&of_task("evidence_claims", "task_id")).await?,
        supporting: edges(Relation::Supports).await?,
        refuting: edges(Relation::Refutes).await?,
        neutral: edges(Relation::Neutral).await?,
        top_domains: domains.await?,
    })
}
