//! Writing, reading and counting records of the evidence graph.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::TaskUpdates;
use crate::error::StoreError;
use crate::evidence::{
    Claim, Edge, EvidenceKey, EvidenceRecord, Fragment, NodeType, Page, Relation, Task, Work, domain,
};
use crate::report::{Count, EvidenceSummary};
use crate::session::{Row, Rows, Session, Value, all, bind, first, read, values};
use crate::untrusted_sql::{SQL_TABLES, SqlTable};

/// The tables of records in the order of an export, which is that of [`SQL_TABLES`]. Edges come last.
pub(crate) fn tables() -> impl Iterator<Item = &'static SqlTable> {
    SQL_TABLES.iter().filter(|table| table.name != "embeddings")
}

fn table(name: &str) -> &'static SqlTable {
    tables().find(|table| table.name == name).expect("a record has a table")
}

/// The order of a table's records, by key.
fn order(table: &SqlTable) -> &'static str {
    match table.name {
        "edges" => "source_type, source_id, target_type, target_id, relation <> 'origin'",
        _ => "id",
    }
}

/// Returns all records of a namespace, by kind and key.
pub(crate) async fn all_records<E>(session: &dyn Session<E>, namespace: &str) -> Result<Vec<EvidenceRecord>, E> {
    let mut records = Vec::new();
    for table in tables() {
        let select = format!("{} ORDER BY {}", table.select(), order(table));
        records.extend(all(session, &select, values![namespace], |row| record(table, row)).await?);
    }
    Ok(records)
}

/// Returns the records that were stored with an origin, by kind and key.
pub(crate) async fn of_origin<E>(
    session: &dyn Session<E>,
    namespace: &str,
    origin: &str,
) -> Result<Vec<EvidenceRecord>, E> {
    let mut records = Vec::new();
    for table in tables().filter(|table| has_origin(table)) {
        let select = format!("{} AND origin = $2 ORDER BY {}", table.select(), order(table));
        let values = values![namespace, origin];
        records.extend(all(session, &select, values, |row| record(table, row)).await?);
    }
    Ok(records)
}

/// Returns `true` if the table keeps the origin of records. The others have documents, which keep it.
fn has_origin(table: &SqlTable) -> bool {
    !matches!(table.name, "fragments" | "claims")
}

/// Returns records by key, in the order given.
pub(crate) async fn at<E>(
    session: &dyn Session<E>,
    namespace: &str,
    keys: &[EvidenceKey],
) -> Result<Vec<Option<EvidenceRecord>>, E> {
    let mut found: HashMap<EvidenceKey, EvidenceRecord> = HashMap::new();
    for (name, ids) in nodes(keys) {
        let table = table(name);
        let select = format!("{} AND id {}", table.select(), session.one_of(2));
        for record in all(session, &select, values![namespace, ids], |row| record(table, row)).await? {
            found.insert(record.key(), record);
        }
    }
    for edge in edges_at(session, namespace, keys).await? {
        let edge = EvidenceRecord::Edge(edge);
        found.insert(edge.key(), edge);
    }
    Ok(keys.iter().map(|key| found.get(key).cloned()).collect())
}

/// Returns the edges that start where these keys of edges do.
async fn edges_at<E>(session: &dyn Session<E>, namespace: &str, keys: &[EvidenceKey]) -> Result<Vec<Edge>, E> {
    let mut sources: BTreeMap<NodeType, BTreeSet<&str>> = BTreeMap::new();
    for key in keys {
        if let EvidenceKey::Edge { source: (kind, id), .. } = key {
            sources.entry(*kind).or_default().insert(id);
        }
    }
    let select = format!("{} AND source_type = $2 AND source_id {}", table("edges").select(), session.one_of(3));
    let mut edges = Vec::new();
    for (kind, ids) in sources {
        let ids: Vec<String> = ids.into_iter().map(str::to_owned).collect();
        edges.extend(all(session, &select, values![namespace, &kind, ids], edge).await?);
    }
    Ok(edges)
}

/// Returns those of these keys of nodes that have a record.
pub(crate) async fn present<E>(
    session: &dyn Session<E>,
    namespace: &str,
    keys: &[EvidenceKey],
) -> Result<BTreeSet<EvidenceKey>, E> {
    let mut known = BTreeSet::new();
    for (table, ids) in nodes(keys) {
        let select = format!("SELECT id FROM evidence_{table} WHERE namespace = $1 AND id {}", session.one_of(2));
        known.extend(all(session, &select, values![namespace, ids], |row| Ok((table, row.next()?))).await?);
    }
    let is_known = |key: &&EvidenceKey| node(key).is_some_and(|(table, id)| known.contains(&(table, id.to_owned())));
    Ok(keys.iter().filter(is_known).cloned().collect())
}

/// Returns the fragments of a page, by identifier.
pub(crate) async fn fragments_of<E>(session: &dyn Session<E>, namespace: &str, page: &str) -> Result<Vec<Fragment>, E> {
    let select = format!("{} AND page_id = $2 ORDER BY id", table("fragments").select());
    all(session, &select, values![namespace, page], fragment).await
}

/// Returns the edges that lead to a record, by relation and source.
pub(crate) async fn edges_to<E>(
    session: &dyn Session<E>,
    namespace: &str,
    target_type: NodeType,
    target_id: &str,
) -> Result<Vec<Edge>, E> {
    let select = format!(
        "{} AND target_type = $2 AND target_id = $3 ORDER BY relation, source_type, source_id",
        table("edges").select()
    );
    all(session, &select, values![namespace, &target_type, target_id], edge).await
}

/// The table of a record with an identifier, and the identifier.
fn node(key: &EvidenceKey) -> Option<(&'static str, &str)> {
    match key {
        EvidenceKey::Task(id) => Some(("tasks", id)),
        EvidenceKey::Work(id) => Some(("works", id)),
        EvidenceKey::Page(id) => Some(("pages", id)),
        EvidenceKey::Fragment(id) => Some(("fragments", id)),
        EvidenceKey::Claim(id) => Some(("claims", id)),
        EvidenceKey::Edge { .. } => None,
    }
}

/// The identifiers of nodes, by table.
fn nodes(keys: &[EvidenceKey]) -> BTreeMap<&'static str, Vec<String>> {
    let mut nodes: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (table, id) in keys.iter().filter_map(node) {
        nodes.entry(table).or_default().push(id.to_owned());
    }
    nodes
}

fn record(table: &SqlTable, row: &mut Row) -> Result<EvidenceRecord, String> {
    Ok(match table.name {
        "tasks" => EvidenceRecord::Task(read!(row => Task { id, question, status, created_at })),
        "works" => {
            let (id, title, authors) = (row.next()?, row.next()?, row.next::<Option<_>>()?.unwrap_or_default());
            let (year, venue, doi, citation_count) = (row.next()?, row.next()?, row.next()?, row.next()?);
            EvidenceRecord::Work(Work { id, title, authors, year, venue, doi, citation_count })
        }
        "pages" => {
            let (id, url, _domain): (_, _, Option<String>) = (row.next()?, row.next()?, row.next()?);
            let (title, work_id, published_at, fetched_at) = (row.next()?, row.next()?, row.next()?, row.next()?);
            EvidenceRecord::Page(Page { id, url, title, work_id, published_at, fetched_at })
        }
        "fragments" => EvidenceRecord::Fragment(fragment(row)?),
        "claims" => {
            EvidenceRecord::Claim(read!(row => Claim { id, task_id, text, claim_type, confidence, status, created_at }))
        }
        _ => EvidenceRecord::Edge(edge(row)?),
    })
}

fn fragment(row: &mut Row) -> Result<Fragment, String> {
    Ok(read!(row => Fragment { id, page_id, text, heading, position, created_at }))
}

fn edge(row: &mut Row) -> Result<Edge, String> {
    Ok(read!(row => Edge {
        source_type, source_id, target_type, target_id, relation, nli_edge_confidence, note, created_at,
    }))
}

/// Writes records of an origin whose documents are there. Each replaces the one with the same key, so of several the last one stays.
pub(crate) async fn write<E: From<StoreError>>(
    session: &dyn Session<E>,
    namespace: &str,
    origin: &str,
    records: &[EvidenceRecord],
    tasks: &mut TaskUpdates,
) -> Result<(), E> {
    if let Some(error) = records.iter().find_map(misdirected) {
        return Err(error.into());
    }
    // In the order of their keys, so that two writers never wait for each other in a circle.
    let last: BTreeMap<EvidenceKey, &EvidenceRecord> = records.iter().map(|record| (record.key(), record)).collect();
    remove_stances(session, namespace, &last).await?;
    let mut rows: BTreeMap<&str, Vec<Vec<Value>>> = BTreeMap::new();
    for (table, row) in last.values().map(|record| row(record)) {
        rows.entry(table).or_default().push(row);
    }
    for table in tables() {
        let Some(rows) = rows.remove(table.name) else { continue };
        let mut common = vec![("namespace", namespace.into())];
        if has_origin(table) {
            common.push(("origin", origin.into()));
        }
        let conflict = conflict(table);
        let columns = table.columns.iter().map(|column| (column.name, postgres_type(column.kind))).collect();
        let name = format!("evidence_{}", table.name);
        session.insert(&Rows { table: &name, common, columns, rows, conflict }).await?;
    }
    tasks.records(session, namespace, records).await?;
    check(session, namespace, records).await
}

/// The type of a column in PostgreSQL.
fn postgres_type(kind: &str) -> &str {
    match kind {
        "integer" => "bigint",
        "real" => "double precision",
        other => other,
    }
}

/// What replaces a record.
fn conflict(table: &SqlTable) -> String {
    const ENDS: [&str; 5] = ["source_type", "source_id", "target_type", "target_id", "relation"];
    let key = if table.name == "edges" { &ENDS[..] } else { &["id"] };
    let origin = has_origin(table).then_some("origin");
    let columns = table.columns.iter().map(|column| column.name).filter(|name| !key.contains(name)).chain(origin);
    let set = columns.map(|name| format!("{name} = excluded.{name}")).collect::<Vec<_>>().join(", ");
    format!("ON CONFLICT (namespace, {}) DO UPDATE SET {set}", key.join(", "))
}

/// The table of a record and the values of its columns.
fn row(record: &EvidenceRecord) -> (&'static str, Vec<Value>) {
    match record {
        EvidenceRecord::Task(task) => ("tasks", bind!(task => id, question, status, created_at).into()),
        EvidenceRecord::Work(work) => {
            let authors = (!work.authors.is_empty()).then(|| serde_json::json!(work.authors).to_string());
            let [id, title] = bind!(work => id, title);
            let [year, venue, doi, citation_count] = bind!(work => year, venue, doi, citation_count);
            ("works", vec![id, title, (&authors).into(), year, venue, doi, citation_count])
        }
        EvidenceRecord::Page(page) => {
            let domain = page.url.as_deref().and_then(domain);
            let [id, url] = bind!(page => id, url);
            let [title, work_id, published_at, fetched_at] = bind!(page => title, work_id, published_at, fetched_at);
            ("pages", vec![id, url, (&domain).into(), title, work_id, published_at, fetched_at])
        }
        EvidenceRecord::Fragment(fragment) => {
            ("fragments", bind!(fragment => id, page_id, text, heading, position, created_at).into())
        }
        EvidenceRecord::Claim(claim) => {
            ("claims", bind!(claim => id, task_id, text, claim_type, confidence, status, created_at).into())
        }
        EvidenceRecord::Edge(edge) => {
            let mut values = key_of(edge).to_vec();
            values.extend(bind!(edge => nli_edge_confidence, note, created_at));
            ("edges", values)
        }
    }
}

/// The values of the columns that identify an edge.
fn key_of(edge: &Edge) -> [Value; 5] {
    bind!(edge => source_type, source_id, target_type, target_id, relation)
}

/// Removes the stances that others replace.
async fn remove_stances<E>(
    session: &dyn Session<E>,
    namespace: &str,
    records: &BTreeMap<EvidenceKey, &EvidenceRecord>,
) -> Result<(), E> {
    let new = records.values().filter_map(|record| match record {
        EvidenceRecord::Edge(edge) if edge.relation.is_stance() => Some(record.key()),
        _ => None,
    });
    for old in edges_at(session, namespace, &new.collect::<Vec<_>>()).await? {
        let replaced = records.get(&EvidenceRecord::Edge(old.clone()).key());
        if matches!(replaced, Some(EvidenceRecord::Edge(new)) if new.relation != old.relation) {
            let delete = "DELETE FROM evidence_edges WHERE namespace = $1 AND source_type = $2 AND source_id = $3 \
                 AND target_type = $4 AND target_id = $5 AND relation = $6";
            let key: Vec<Value> = std::iter::once(namespace.into()).chain(key_of(&old)).collect();
            session.execute(delete, &key).await?;
        }
    }
    Ok(())
}

/// The error of an edge between records that its relation does not connect.
fn misdirected(record: &EvidenceRecord) -> Option<StoreError> {
    let EvidenceRecord::Edge(Edge { source_type, target_type, relation, .. }) = record else { return None };
    if relation.leads(*source_type, *target_type) {
        return None;
    }
    let ends = match relation {
        Relation::Cites => "from a page or work to a page or work",
        _ => "from a fragment to a claim",
    };
    let reason = format!("leads from a {source_type} to a {target_type}; {relation} leads {ends}");
    Some(StoreError::Invalid { what: record.key().to_string(), reason })
}

/// Fails if the document of a record, or a record that it refers to, is missing.
async fn check<E: From<StoreError>>(
    session: &dyn Session<E>,
    namespace: &str,
    records: &[EvidenceRecord],
) -> Result<(), E> {
    let wanted: BTreeSet<EvidenceKey> = records.iter().flat_map(EvidenceRecord::refers_to).collect();
    let known = present(session, namespace, &wanted.into_iter().collect::<Vec<_>>()).await?;
    let paths: Vec<String> = records.iter().filter_map(EvidenceRecord::path).collect();
    let select = format!("SELECT path FROM documents WHERE namespace = $1 AND path {}", session.one_of(2));
    let documents: BTreeSet<String> =
        all(session, &select, values![namespace, paths], |row| row.next()).await?.into_iter().collect();
    for record in records {
        let invalid = |reason: String| StoreError::Invalid { what: record.key().to_string(), reason };
        if let Some(key) = record.refers_to().into_iter().find(|key| !known.contains(key)) {
            return Err(invalid(format!("refers to {key}, which is not there; add that first, or with it")).into());
        }
        if let Some(path) = record.path().filter(|path| !documents.contains(path)) {
            let reason = format!("has no document {path}, by which it would be found; put both together");
            return Err(invalid(reason).into());
        }
    }
    Ok(())
}

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
