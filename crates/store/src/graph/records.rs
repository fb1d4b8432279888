//! Reading records of the evidence graph.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::evidence::{Claim, Edge, EvidenceKey, EvidenceRecord, Fragment, NodeType, Page, Relation, Task, Work};
use crate::session::{FromValue, Row, Session, Value, read, values};
use crate::sql_tables::{SQL_TABLES, SqlTable};

/// The tables of records in the order of an export, which is that of [`SQL_TABLES`]. Edges come last.
pub(super) fn tables() -> impl Iterator<Item = &'static SqlTable> {
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
pub(crate) async fn all<E>(session: &dyn Session<E>, namespace: &str) -> Result<Vec<EvidenceRecord>, E> {
    let mut records = Vec::new();
    for table in tables() {
        let select = format!("{} ORDER BY {}", table.select(), order(table));
        records.extend(crate::session::all(session, &select, values![namespace], |row| record(table, row)).await?);
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
        records.extend(crate::session::all(session, &select, values, |row| record(table, row)).await?);
    }
    Ok(records)
}

/// Returns `true` if the table keeps the origin of records. The others have documents, which keep it.
pub(super) fn has_origin(table: &SqlTable) -> bool {
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
        for record in crate::session::all(session, &select, values![namespace, ids], |row| record(table, row)).await? {
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
pub(super) async fn edges_at<E>(
    session: &dyn Session<E>,
    namespace: &str,
    keys: &[EvidenceKey],
) -> Result<Vec<Edge>, E> {
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
        edges.extend(crate::session::all(session, &select, values![namespace, kind.as_str(), ids], edge).await?);
    }
    Ok(edges)
}

/// Returns those of these keys of nodes that have a record.
pub(super) async fn present<E>(
    session: &dyn Session<E>,
    namespace: &str,
    keys: &[EvidenceKey],
) -> Result<BTreeSet<EvidenceKey>, E> {
    let mut known = BTreeSet::new();
    for (table, ids) in nodes(keys) {
        let select = format!("SELECT id FROM evidence_{table} WHERE namespace = $1 AND id {}", session.one_of(2));
        known.extend(
            crate::session::all(session, &select, values![namespace, ids], |row| Ok((table, row.next()?))).await?,
        );
    }
    let is_known = |key: &&EvidenceKey| node(key).is_some_and(|(table, id)| known.contains(&(table, id.to_owned())));
    Ok(keys.iter().filter(is_known).cloned().collect())
}

/// Returns the fragments of a page, by identifier.
pub(crate) async fn fragments_of<E>(session: &dyn Session<E>, namespace: &str, page: &str) -> Result<Vec<Fragment>, E> {
    let select = format!("{} AND page_id = $2 ORDER BY id", table("fragments").select());
    crate::session::all(session, &select, values![namespace, page], fragment).await
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
    crate::session::all(session, &select, values![namespace, target_type.as_str(), target_id], edge).await
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

/// Turns a row into a record.
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

fn named<T>(value: Value, of: fn(&str) -> Option<T>) -> Result<T, String> {
    let name = String::from_value(value)?;
    of(&name).ok_or_else(|| format!("{name:?} is neither a node nor a relation of the evidence graph"))
}

impl FromValue for NodeType {
    fn from_value(value: Value) -> Result<NodeType, String> {
        named(value, NodeType::named)
    }
}

impl FromValue for Relation {
    fn from_value(value: Value) -> Result<Relation, String> {
        named(value, Relation::named)
    }
}
