//! Writing records of the evidence graph.

use std::collections::{BTreeMap, BTreeSet};

use super::records::{edges_at, has_origin, present, tables};
use super::tasks::TaskUpdates;
use crate::error::StoreError;
use crate::evidence::{Edge, EvidenceKey, EvidenceRecord, Relation, domain};
use crate::session::{Rows, Session, Value, all, bind, values};
use crate::sql_tables::SqlTable;

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
    [
        edge.source_type.as_str().into(),
        (&edge.source_id).into(),
        edge.target_type.as_str().into(),
        (&edge.target_id).into(),
        edge.relation.as_str().into(),
    ]
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
