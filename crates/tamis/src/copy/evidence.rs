//! Copying the evidence graph. Its fragments and claims are documents too, and are written with them.

use super::pairs::Pair;
use super::report::{NamespaceComparison, Written};
use crate::Error;
use std::collections::{BTreeMap, HashMap};
use tamis_store::{Change, EVIDENCE_COLLECTION, EvidenceKey, EvidenceRecord, Store};

/// Most records that are written in one transaction.
const RECORDS: usize = 1_000;

/// The record of a document at the source and at the destination.
type OnBothSides = (Option<EvidenceRecord>, Option<EvidenceRecord>);

/// The records of a namespace that are no documents, each with its origin.
struct Graph(BTreeMap<EvidenceKey, (String, EvidenceRecord)>);

impl Graph {
    fn read(store: &dyn Store, namespace: &str) -> Result<Graph, Error> {
        let mut records = BTreeMap::new();
        for origin in store.origins()? {
            if origin.namespace == namespace && origin.collection == EVIDENCE_COLLECTION {
                for record in store.evidence_of_origin(namespace, &origin.name)? {
                    records.insert(record.key(), (origin.name.clone(), record));
                }
            }
        }
        Ok(Graph(records))
    }

    /// The records that the other one lacks or has differently, by origin.
    fn missing_in(&self, other: &Graph, wanted: impl Fn(&EvidenceRecord) -> bool) -> Vec<(&str, Vec<EvidenceRecord>)> {
        let mut missing: HashMap<&str, Vec<EvidenceRecord>> = HashMap::new();
        for (key, (origin, record)) in &self.0 {
            if wanted(record) && other.0.get(key) != Some(&(origin.clone(), record.clone())) {
                missing.entry(origin).or_default().push(record.clone());
            }
        }
        missing.into_iter().collect()
    }
}

/// Copies what documents of the evidence refer to: tasks, works and pages. With `delete`, every import at the destination with a
/// record that the source does not have is removed first, and is copied again.
pub(super) fn copy_nodes(
    from: &dyn Store,
    to: &dyn Store,
    namespace: &str,
    delete: bool,
    written: &mut Written,
) -> Result<(), Error> {
    let graph = Graph::read(from, namespace)?;
    let mut there = Graph::read(to, namespace)?;
    if delete {
        let mut surplus: Vec<&String> =
            there.0.iter().filter(|(key, _)| !graph.0.contains_key(key)).map(|(_, (origin, _))| origin).collect();
        surplus.dedup();
        for origin in surplus.iter().collect::<std::collections::BTreeSet<_>>() {
            written.deleted += to.remove_origin(origin, &[namespace.to_owned()])?.deleted;
        }
        if !surplus.is_empty() {
            there = Graph::read(to, namespace)?;
        }
    }
    // A page refers to its work.
    let is_page = |record: &EvidenceRecord| matches!(record, EvidenceRecord::Page(_));
    let is_edge = |record: &EvidenceRecord| matches!(record, EvidenceRecord::Edge(_));
    put(to, namespace, graph.missing_in(&there, |record| !is_page(record) && !is_edge(record)), written)?;
    put(to, namespace, graph.missing_in(&there, is_page), written)
}

/// Copies the edges, whose ends are there now.
pub(super) fn copy_edges(
    from: &dyn Store,
    to: &dyn Store,
    namespace: &str,
    written: &mut Written,
) -> Result<(), Error> {
    let is_edge = |record: &EvidenceRecord| matches!(record, EvidenceRecord::Edge(_));
    let missing = Graph::read(from, namespace)?;
    let there = Graph::read(to, namespace)?;
    put(to, namespace, missing.missing_in(&there, is_edge), written)
}

fn put(
    to: &dyn Store,
    namespace: &str,
    records: Vec<(&str, Vec<EvidenceRecord>)>,
    written: &mut Written,
) -> Result<(), Error> {
    for (origin, records) in records {
        for batch in records.chunks(RECORDS) {
            to.apply_evidence(namespace, origin, batch, &[])?;
            written.evidence += batch.len() as u64;
        }
    }
    Ok(())
}

/// Writes the documents of fragments and claims that differ, with their records.
pub(super) fn copy_documents(
    from: &dyn Store,
    to: &dyn Store,
    namespace: &str,
    pairs: &[&Pair],
    written: &mut Written,
) -> Result<(), Error> {
    let (mut records, mut changes) = (Vec::new(), Vec::new());
    for (pair, (here, there)) in pairs.iter().zip(records_of(from, to, namespace, pairs)?) {
        if here != there || pair.is_to_write() {
            changes.push(Change::Put(pair.from.content.clone()));
            records.extend(here);
        }
    }
    if changes.is_empty() {
        return Ok(());
    }
    to.apply_evidence(namespace, "", &records, &changes)?;
    written.evidence += records.len() as u64;
    written.documents += changes.len() as u64;
    Ok(())
}

/// The records of documents on both sides, in the order given.
fn records_of(from: &dyn Store, to: &dyn Store, namespace: &str, pairs: &[&Pair]) -> Result<Vec<OnBothSides>, Error> {
    let keyed: Vec<Option<EvidenceKey>> =
        pairs.iter().map(|pair| EvidenceKey::of_path(&pair.from.content.path)).collect();
    let keys: Vec<EvidenceKey> = keyed.iter().flatten().cloned().collect();
    let mut records = from.evidence_at(namespace, &keys)?.into_iter().zip(to.evidence_at(namespace, &keys)?);
    Ok(keyed.iter().map(|key| key.as_ref().and_then(|_| records.next()).unwrap_or_default()).collect())
}

/// Compares the records of both sides.
pub(super) fn compare(
    from: &dyn Store,
    to: &dyn Store,
    namespace: &str,
    comparison: &mut NamespaceComparison,
) -> Result<(), Error> {
    let records = |store: &dyn Store| -> Result<BTreeMap<EvidenceKey, EvidenceRecord>, Error> {
        Ok(store.evidence(namespace)?.into_iter().map(|record| (record.key(), record)).collect())
    };
    let (here, there) = (records(from)?, records(to)?);
    // The origins of those without a document decide what removing an import removes.
    let (origins, origins_there) = (Graph::read(from, namespace)?, Graph::read(to, namespace)?);
    comparison.evidence.from = here.len() as u64;
    comparison.evidence.to = there.len() as u64;
    for (key, record) in &here {
        if there.get(key) != Some(record) || origins.0.get(key) != origins_there.0.get(key) {
            comparison.evidence.different += 1;
            comparison.name_difference(|| key.to_string());
        }
    }
    Ok(())
}
