//! An export equals the import, whatever its content.

use crate::evidence::graph::edge;
use crate::support::Tree;
use proptest::prelude::*;
use std::collections::BTreeMap;
use tamis::evidence::{Claim, Edge, EvidenceImport, EvidenceRecord, Fragment, NodeType, Page, Relation, Task, Work};
use tamis::import::ImportInput;

/// Names in any script, with characters that are special in paths, URLs and SQL.
fn id(kind: &'static str) -> impl Strategy<Value = String> {
    prop_oneof![(0_u8..4).prop_map(move |number| format!("{kind}{number}")), "[a-z:/%'\"ä語🦀 _.-]{1,6}",]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{3,8}( [a-z]{3,8}){0,30}", "\\PC{0,40}x\\PC{0,40}", "a(\n[a-z ]{0,20}){0,5}\t"]
}

fn time() -> impl Strategy<Value = Option<String>> {
    const TIMES: &[&str] =
        &["2026-11-22", "2026-11-22T08:30:00Z", "2026-11-22T08:30:00.125+01:00", "0999-01-01", "9998-12-31"];
    proptest::option::of(proptest::sample::select(TIMES).prop_map(str::to_owned))
}

fn maybe() -> impl Strategy<Value = Option<String>> {
    proptest::option::of("\\PC{0,12}")
}

fn confidence() -> impl Strategy<Value = Option<f64>> {
    proptest::option::of(0.0..=1.0)
}

fn task() -> impl Strategy<Value = Task> {
    let values = (id("t"), text(), maybe(), time());
    values.prop_map(|(id, question, status, created_at)| Task { id, question, status, created_at })
}

fn work() -> impl Strategy<Value = Work> {
    let numbers = (proptest::option::of(any::<i64>()), proptest::option::of(any::<u32>()));
    let values = (id("w"), text(), proptest::collection::vec("\\PC{0,8}a", 0..3), maybe(), maybe(), numbers);
    values.prop_map(|(id, title, authors, venue, doi, numbers)| {
        let (year, citation_count) = numbers;
        Work { id, title, authors, year, venue, doi, citation_count }
    })
}

/// The parts of a graph; an index in them selects the node of a reference.
type Parts = (
    Vec<Task>,
    Vec<Work>,
    Vec<(String, Option<String>, Option<String>, Option<usize>, Option<String>, Option<String>)>,
    Vec<(String, usize, String, Option<String>, Option<u32>, Option<String>)>,
    Vec<(String, usize, String, Option<String>, Option<f64>, Option<String>)>,
    Vec<(usize, usize, Relation, bool, Option<f64>, Option<String>)>,
);

fn parts() -> impl Strategy<Value = Parts> {
    let url = proptest::option::of(prop_oneof!["https://[a-z]{1,5}\\.example/\\PC{0,8}", "\\PC{0,12}"]);
    let relation = proptest::sample::select(&Relation::ALL[..]);
    let node = proptest::option::of(0_usize..9);
    (
        proptest::collection::vec(task(), 1..4),
        proptest::collection::vec(work(), 1..4),
        proptest::collection::vec((id("p"), url, maybe(), node, time(), time()), 1..5),
        proptest::collection::vec(
            (id("f"), 0_usize..9, text(), maybe(), proptest::option::of(any::<u32>()), time()),
            1..8,
        ),
        proptest::collection::vec((id("c"), 0_usize..9, text(), maybe(), confidence(), time()), 1..6),
        proptest::collection::vec((0_usize..9, 0_usize..9, relation, any::<bool>(), confidence(), maybe()), 0..12),
    )
}

/// A valid graph: each key has one record, and every reference has its record.
fn graph((tasks, works, pages, fragments, claims, edges): Parts) -> Vec<EvidenceRecord> {
    let name = |ids: &[String], at: usize| ids[at % ids.len()].clone();
    let mut records = BTreeMap::new();
    let mut add = |record: EvidenceRecord| drop(records.insert(record.key(), record));
    let task_ids: Vec<String> = tasks.iter().map(|one| one.id.clone()).collect();
    let work_ids: Vec<String> = works.iter().map(|one| one.id.clone()).collect();
    let page_ids: Vec<String> = pages.iter().map(|one| one.0.clone()).collect();
    let fragment_ids: Vec<String> = fragments.iter().map(|one| one.0.clone()).collect();
    let claim_ids: Vec<String> = claims.iter().map(|one| one.0.clone()).collect();
    tasks.into_iter().for_each(|one| add(EvidenceRecord::Task(one)));
    works.into_iter().for_each(|one| add(EvidenceRecord::Work(one)));
    for (id, url, title, work, published_at, fetched_at) in pages {
        let work_id = work.map(|at| name(&work_ids, at));
        add(EvidenceRecord::Page(Page { id, url, title, work_id, published_at, fetched_at }));
    }
    for (id, page, text, heading, position, created_at) in fragments {
        let page_id = name(&page_ids, page);
        add(EvidenceRecord::Fragment(Fragment { id, page_id, text, heading, position, created_at }));
    }
    for (id, task, text, claim_type, confidence, created_at) in claims {
        let task_id = name(&task_ids, task);
        add(EvidenceRecord::Claim(Claim { id, task_id, text, claim_type, confidence, status: None, created_at }));
    }
    for (from, to, relation, of_pages, nli_edge_confidence, note) in edges {
        let (source, target) = match (relation, of_pages) {
            (Relation::Cites, true) => ((NodeType::Page, name(&page_ids, from)), (NodeType::Work, name(&work_ids, to))),
            (Relation::Cites, false) => {
                ((NodeType::Work, name(&work_ids, from)), (NodeType::Page, name(&page_ids, to)))
            }
            _ => ((NodeType::Fragment, name(&fragment_ids, from)), (NodeType::Claim, name(&claim_ids, to))),
        };
        add(EvidenceRecord::Edge(Edge { nli_edge_confidence, note, ..edge(relation, source, target) }));
    }
    records.into_values().collect()
}

fn written(records: &[EvidenceRecord]) -> Vec<u8> {
    let line = |record| serde_json::to_string(record).expect("JSON") + "\n";
    records.iter().map(line).collect::<String>().into_bytes()
}

fn read(bytes: Vec<u8>) -> EvidenceImport {
    EvidenceImport::from_inputs(&[ImportInput { name: "graph.jsonl".into(), bytes }], None)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn an_export_of_an_import_is_the_same(parts in parts(), shuffled in any::<proptest::sample::Index>()) {
        let records = graph(parts);
        // Lines in another order: a record may come after its references.
        let mut lines = records.clone();
        let middle = shuffled.index(lines.len());
        lines.rotate_left(middle);
        lines.reverse();
        let tree = Tree::new(&[]);
        let index = tree.open(&[]);
        let import = read(written(&lines));
        prop_assert_eq!(&import.bad, &[]);
        let done = index.evidence().import(&import, &()).expect("imported");
        prop_assert_eq!(done.counts.added, records.len() as u64);
        prop_assert_eq!(&index.evidence().records(None).expect("read"), &records);

        let mut exported = Vec::new();
        index.evidence().export(None, &mut exported).expect("exported");
        prop_assert_eq!(&exported, &written(&records));
        let there = EvidenceImport { namespace: Some("there".into()), ..read(exported) };
        index.evidence().import(&there, &()).expect("imported");
        prop_assert_eq!(index.evidence().records(Some("there")).expect("read"), records.clone());

        let again = index.evidence().import(&import, &()).expect("imported");
        prop_assert_eq!((again.counts.unchanged, again.counts.passages), (records.len() as u64, 0));
        crate::support::store(&index).publish(&mut |_| Ok(())).expect("published");
        prop_assert_eq!(index.check().expect("checked").problems, vec![]);
        for record in &records {
            let (EvidenceRecord::Fragment(Fragment { id, text, .. }) | EvidenceRecord::Claim(Claim { id, text, .. })) = record
            else {
                continue;
            };
            let kind = if matches!(record, EvidenceRecord::Claim(_)) { "claim" } else { "fragment" };
            let place = format!("{}:{kind}:{id}", index.namespace());
            let found = index.get(&place).expect("found").text;
            let given = text.replace("\r\n", "\n");
            prop_assert_eq!(found.trim_end(), given.trim_end(), "{}", place);
        }
        index.imports().remove("graph.jsonl", None, &()).expect("removed");
        prop_assert!(index.evidence().records(None).expect("read").is_empty());
    }
}
