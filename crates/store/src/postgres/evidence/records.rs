//! Reading records of the evidence graph.

use std::collections::{HashMap, HashSet};

use deadpool_postgres::Transaction;
use tokio_postgres::Row;

use super::super::copy::storable;
use super::super::error::Failure;
use crate::error::StoreError;
use crate::evidence::{
    Claim, Edge, EdgeKind, EvidenceKey, EvidenceRecord, Fragment, NodeType, Page, Relation, Task, Work,
};

const TASKS: &str = "SELECT id, question, status, created_at FROM evidence_tasks";
const WORKS: &str = "SELECT id, title, authors, year, venue, doi, citation_count FROM evidence_works";
const PAGES: &str = "SELECT id, url, title, work_id, published_at, fetched_at FROM evidence_pages";
const FRAGMENTS: &str = "SELECT id, page_id, text, heading, position, created_at FROM evidence_fragments";
const CLAIMS: &str = "SELECT id, task_id, text, type, confidence, status, created_at FROM evidence_claims";
const EDGES: &str = "SELECT source_type, source_id, target_type, target_id, relation, nli_edge_confidence, note, created_at \
                     FROM evidence_edges";

/// Turns a row into a record.
type Reader = fn(&Row) -> Result<EvidenceRecord, Failure>;

/// The kinds of records that have an identifier, in the order of an export.
const NODES: [(&str, Reader); 5] =
    [(TASKS, task), (WORKS, work), (PAGES, page), (FRAGMENTS, fragment), (CLAIMS, claim)];

/// Returns all records of a namespace, by kind and key.
pub(super) async fn all(transaction: &Transaction<'_>, namespace: &str) -> Result<Vec<EvidenceRecord>, Failure> {
    let mut records = Vec::new();
    let edges = (EDGES, edge as Reader);
    for (select, read) in NODES.into_iter().chain([edges]) {
        let order = match select {
            EDGES => "source_type, source_id, target_type, target_id, relation <> 'origin'",
            _ => "id",
        };
        let statement = format!("{select} WHERE namespace = $1 ORDER BY {order}");
        let statement = transaction.prepare_cached(&statement).await?;
        for row in transaction.query(&statement, &[&namespace]).await? {
            records.push(read(&row)?);
        }
    }
    Ok(records)
}

/// Returns the records that were stored with an origin, by kind and key.
pub(super) async fn of_origin(
    transaction: &Transaction<'_>,
    namespace: &str,
    origin: &str,
) -> Result<Vec<EvidenceRecord>, Failure> {
    let mut records = Vec::new();
    for (select, read) in [(TASKS, task as Reader), (WORKS, work), (PAGES, page), (EDGES, edge)] {
        let order = match select {
            EDGES => "source_type, source_id, target_type, target_id, relation <> 'origin'",
            _ => "id",
        };
        let statement = format!("{select} WHERE namespace = $1 AND origin = $2 ORDER BY {order}");
        let statement = transaction.prepare_cached(&statement).await?;
        for row in transaction.query(&statement, &[&namespace, &storable(origin)]).await? {
            records.push(read(&row)?);
        }
    }
    Ok(records)
}

/// Returns records by key, in the order given.
pub(super) async fn at(
    transaction: &Transaction<'_>,
    namespace: &str,
    keys: &[EvidenceKey],
) -> Result<Vec<Option<EvidenceRecord>>, Failure> {
    let mut found: HashMap<EvidenceKey, EvidenceRecord> = HashMap::new();
    for (place, (select, read)) in NODES.into_iter().enumerate() {
        let ids: Vec<_> = keys
            .iter()
            .filter_map(|key| node(key).filter(|(of, _)| *of == place))
            .map(|(_, id)| storable(id))
            .collect();
        if ids.is_empty() {
            continue;
        }
        let statement = transaction.prepare_cached(&format!("{select} WHERE namespace = $1 AND id = ANY($2)")).await?;
        for row in transaction.query(&statement, &[&namespace, &ids]).await? {
            let record = read(&row)?;
            found.insert(record.key(), record);
        }
    }
    for record in edges_at(transaction, namespace, keys).await? {
        found.insert(record.key(), record);
    }
    Ok(keys.iter().map(|key| found.get(&stored(key)).cloned()).collect())
}

async fn edges_at(
    transaction: &Transaction<'_>,
    namespace: &str,
    keys: &[EvidenceKey],
) -> Result<Vec<EvidenceRecord>, Failure> {
    let (mut source_types, mut sources, mut target_types, mut targets) = (vec![], vec![], vec![], vec![]);
    for key in keys {
        if let EvidenceKey::Edge { source: (source_type, source), target: (target_type, target), .. } = key {
            source_types.push(source_type.as_str());
            sources.push(storable(source));
            target_types.push(target_type.as_str());
            targets.push(storable(target));
        }
    }
    if sources.is_empty() {
        return Ok(Vec::new());
    }
    // All edges between these ends; their keys tell the kinds.
    let select = format!(
        "{EDGES} WHERE namespace = $1 AND (source_type, source_id, target_type, target_id) IN \
         (SELECT * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[]))"
    );
    let statement = transaction.prepare_cached(&select).await?;
    let rows = transaction.query(&statement, &[&namespace, &source_types, &sources, &target_types, &targets]).await?;
    rows.iter().map(edge).collect()
}

/// Returns those of these keys that have a record.
pub(super) async fn present(
    transaction: &Transaction<'_>,
    namespace: &str,
    keys: &HashSet<EvidenceKey>,
) -> Result<HashSet<EvidenceKey>, Failure> {
    let mut known: HashSet<(usize, String)> = HashSet::new();
    for (place, table) in ["tasks", "works", "pages", "fragments", "claims"].into_iter().enumerate() {
        let ids: Vec<_> = keys
            .iter()
            .filter_map(|key| node(key).filter(|(of, _)| *of == place))
            .map(|(_, id)| storable(id))
            .collect();
        if ids.is_empty() {
            continue;
        }
        let select = format!("SELECT id FROM evidence_{table} WHERE namespace = $1 AND id = ANY($2)");
        let statement = transaction.prepare_cached(&select).await?;
        let rows = transaction.query(&statement, &[&namespace, &ids]).await?;
        known.extend(rows.iter().map(|row| (place, row.get::<_, String>(0))));
    }
    let is_known =
        |key: &EvidenceKey| node(key).is_some_and(|(place, id)| known.contains(&(place, storable(id).into_owned())));
    Ok(keys.iter().filter(|key| is_known(key)).cloned().collect())
}

/// Returns the fragments of a page, by identifier.
pub(super) async fn fragments_of(
    transaction: &Transaction<'_>,
    namespace: &str,
    page: &str,
) -> Result<Vec<Fragment>, Failure> {
    let select = format!("{FRAGMENTS} WHERE namespace = $1 AND page_id = $2 ORDER BY id");
    let statement = transaction.prepare_cached(&select).await?;
    let rows = transaction.query(&statement, &[&namespace, &storable(page)]).await?;
    Ok(rows.iter().map(read_fragment).collect())
}

/// Returns the edges that lead to a record, by relation and source.
pub(super) async fn edges_to(
    transaction: &Transaction<'_>,
    namespace: &str,
    target_type: NodeType,
    target_id: &str,
) -> Result<Vec<Edge>, Failure> {
    let select = format!(
        "{EDGES} WHERE namespace = $1 AND target_type = $2 AND target_id = $3 ORDER BY relation, source_type, source_id"
    );
    let statement = transaction.prepare_cached(&select).await?;
    let rows = transaction.query(&statement, &[&namespace, &target_type.as_str(), &storable(target_id)]).await?;
    rows.iter().map(read_edge).collect()
}

/// The kind of a record with an identifier, as its place among [`NODES`], and the identifier.
fn node(key: &EvidenceKey) -> Option<(usize, &str)> {
    match key {
        EvidenceKey::Task(id) => Some((0, id)),
        EvidenceKey::Work(id) => Some((1, id)),
        EvidenceKey::Page(id) => Some((2, id)),
        EvidenceKey::Fragment(id) => Some((3, id)),
        EvidenceKey::Claim(id) => Some((4, id)),
        EvidenceKey::Edge { .. } => None,
    }
}

/// A key as its record has it after it was stored.
fn stored(key: &EvidenceKey) -> EvidenceKey {
    let text = |text: &str| storable(text).into_owned();
    match key {
        EvidenceKey::Task(id) => EvidenceKey::Task(text(id)),
        EvidenceKey::Work(id) => EvidenceKey::Work(text(id)),
        EvidenceKey::Page(id) => EvidenceKey::Page(text(id)),
        EvidenceKey::Fragment(id) => EvidenceKey::Fragment(text(id)),
        EvidenceKey::Claim(id) => EvidenceKey::Claim(text(id)),
        EvidenceKey::Edge { source, target, kind } => {
            let end = |(of, id): &(NodeType, String)| (*of, text(id));
            EvidenceKey::Edge { source: end(source), target: end(target), kind: *kind as EdgeKind }
        }
    }
}

fn task(row: &Row) -> Result<EvidenceRecord, Failure> {
    Ok(EvidenceRecord::Task(Task { id: row.get(0), question: row.get(1), status: row.get(2), created_at: row.get(3) }))
}

fn work(row: &Row) -> Result<EvidenceRecord, Failure> {
    let authors: Option<&str> = row.get(2);
    let authors = authors.map_or(Ok(Vec::new()), serde_json::from_str);
    let authors = authors.map_err(|error| damaged(format!("the authors of a work are no JSON array: {error}")))?;
    Ok(EvidenceRecord::Work(Work {
        id: row.get(0),
        title: row.get(1),
        authors,
        year: row.get(3),
        venue: row.get(4),
        doi: row.get(5),
        citation_count: row.get::<_, Option<i64>>(6).map(|count| count as u32),
    }))
}

fn page(row: &Row) -> Result<EvidenceRecord, Failure> {
    Ok(EvidenceRecord::Page(Page {
        id: row.get(0),
        url: row.get(1),
        title: row.get(2),
        work_id: row.get(3),
        published_at: row.get(4),
        fetched_at: row.get(5),
    }))
}

fn fragment(row: &Row) -> Result<EvidenceRecord, Failure> {
    Ok(EvidenceRecord::Fragment(read_fragment(row)))
}

fn read_fragment(row: &Row) -> Fragment {
    Fragment {
        id: row.get(0),
        page_id: row.get(1),
        text: row.get(2),
        heading: row.get(3),
        position: row.get::<_, Option<i64>>(4).map(|position| position as u32),
        created_at: row.get(5),
    }
}

fn claim(row: &Row) -> Result<EvidenceRecord, Failure> {
    Ok(EvidenceRecord::Claim(Claim {
        id: row.get(0),
        task_id: row.get(1),
        text: row.get(2),
        claim_type: row.get(3),
        confidence: row.get(4),
        status: row.get(5),
        created_at: row.get(6),
    }))
}

fn edge(row: &Row) -> Result<EvidenceRecord, Failure> {
    read_edge(row).map(EvidenceRecord::Edge)
}

fn read_edge(row: &Row) -> Result<Edge, Failure> {
    let unknown = |name: &str| damaged(format!("{name:?} is neither a node nor a relation of the evidence graph"));
    let node = |name: &str| NodeType::named(name).ok_or_else(|| unknown(name));
    let relation: &str = row.get(4);
    Ok(Edge {
        source_type: node(row.get(0))?,
        source_id: row.get(1),
        target_type: node(row.get(2))?,
        target_id: row.get(3),
        relation: Relation::named(relation).ok_or_else(|| unknown(relation))?,
        nli_edge_confidence: row.get(5),
        note: row.get(6),
        created_at: row.get(7),
    })
}

fn damaged(reason: String) -> Failure {
    StoreError::Database { path: "postgres".into(), reason }.into()
}
