//! The named views of the application answer as they do in the embedded store.

use std::path::Path;

use super::*;
use crate::evidence::{Claim, Edge, EvidenceRecord, Fragment, NodeType, Page, Relation, Task, Work};
use crate::prelude::*;
use crate::record::{Change, NewDocument, NewPassage, TextForm};
use crate::{Access, EmbeddedStore};

/// The directory of the views, which belong to another crate.
const VIEWS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tamis/src/applications/evidence/views/templates");

/// A graph with sources of several years, contradictions, and citations between pages and works.
fn graph() -> Vec<EvidenceRecord> {
    let mut records = Vec::new();
    for task in ["t1", "t2"] {
        records.push(EvidenceRecord::Task(Task { id: task.into(), question: "Why?".into(), ..Task::default() }));
    }
    for (number, year) in [(1, Some(1999)), (2, Some(2015)), (3, None), (4, Some(2025))] {
        records.push(EvidenceRecord::Work(Work {
            id: format!("w{number}"),
            title: format!("Work {number}"),
            authors: vec!["Ada".into()],
            year,
            citation_count: (number != 2).then_some(number * 10),
            ..Work::default()
        }));
    }
    let pages = [
        ("p1", Some("w1"), None),
        ("p2", Some("w2"), Some("2016-02-03")),
        ("p3", Some("w3"), Some("2024-05-06T07:08:09Z")),
        ("p4", None, Some("2023")),
        ("p5", None, None),
        ("p6", Some("w1"), Some("n.d.")),
    ];
    for (id, work, published) in pages {
        records.push(EvidenceRecord::Page(Page {
            id: id.into(),
            url: Some(format!("https://{id}.example.org/")),
            title: (id != "p5").then(|| format!("Page {id}")),
            work_id: work.map(str::to_owned),
            published_at: published.map(str::to_owned),
            ..Page::default()
        }));
    }
    for number in 0..18_u32 {
        records.push(EvidenceRecord::Fragment(Fragment {
            id: format!("f{number}"),
            page_id: format!("p{}", 1 + number % 6),
            text: format!("Fragment {number}"),
            position: Some(number),
            ..Fragment::default()
        }));
    }
    for number in 0..6_u32 {
        records.push(EvidenceRecord::Claim(Claim {
            id: format!("c{number}"),
            task_id: if number < 4 { "t1" } else { "t2" }.into(),
            text: format!("Claim {number}"),
            confidence: (number != 2).then_some(f64::from(number) / 8.0),
            ..Claim::default()
        }));
    }
    let edge = |source: (NodeType, String), target: (NodeType, String), relation, confidence: Option<f64>| {
        EvidenceRecord::Edge(Edge {
            source_type: source.0,
            source_id: source.1,
            target_type: target.0,
            target_id: target.1,
            relation,
            nli_edge_confidence: confidence,
            note: None,
            created_at: None,
        })
    };
    let stances = [Relation::Supports, Relation::Refutes, Relation::Supports, Relation::Neutral, Relation::Supports];
    for number in 0..18 {
        for (claim, stance) in [(number % 5, stances[number % 5]), ((number * 7 + 1) % 5, stances[(number + 2) % 5])] {
            let source = (NodeType::Fragment, format!("f{number}"));
            let confidence = (number % 4 != 0).then_some(number as f64 / 20.0);
            records.push(edge(source, (NodeType::Claim, format!("c{claim}")), stance, confidence));
        }
        if number % 3 == 0 {
            let source = (NodeType::Fragment, format!("f{number}"));
            records.push(edge(source, (NodeType::Claim, format!("c{}", number % 6)), Relation::Origin, None));
        }
    }
    for (source, target) in [
        ("w1", "w2"),
        ("w2", "w3"),
        ("w3", "w4"),
        ("p4", "w2"),
        ("p4", "p1"),
        ("p5", "w2"),
        ("p2", "p5"),
        ("p6", "w4"),
        ("w4", "w1"),
    ] {
        let node = |id: &str| (if id.starts_with('w') { NodeType::Work } else { NodeType::Page }, id.to_owned());
        records.push(edge(node(source), node(target), Relation::Cites, None));
    }
    records
}

fn documents(records: &[EvidenceRecord]) -> Vec<Change> {
    let document = |record: &EvidenceRecord| {
        let (EvidenceRecord::Fragment(Fragment { text, .. }) | EvidenceRecord::Claim(Claim { text, .. })) = record
        else {
            return None;
        };
        let passages = vec![NewPassage::new("paragraph", 1..=1, text.as_str(), TextForm::Prose)];
        Some(Change::Put(NewDocument { passages, ..NewDocument::new(HERE, "evidence", record.path()?) }))
    };
    records.iter().filter_map(document).collect()
}

/// The statement of a view, with these parameters or without any that can be missing.
fn rendered(template: &str, given: bool) -> String {
    let body = template.split_once("#}").map_or(template, |(_, body)| body);
    let mut sql = String::new();
    let mut shown = vec![true];
    let mut rest = body;
    while let Some((text, tag)) = rest.split_once("{%") {
        if shown.iter().all(|shown| *shown) {
            sql.push_str(text);
        }
        let (tag, after) = tag.split_once("%}").unwrap_or((tag, ""));
        match tag.split_whitespace().next() {
            Some("if") => shown.push(given),
            Some("else") => {
                if let Some(last) = shown.last_mut() {
                    *last = !*last;
                }
            }
            _ => {
                shown.pop();
            }
        }
        rest = after;
    }
    sql.push_str(rest);
    sql
}

#[test]
fn the_views_of_the_application_answer_alike() {
    let Some(store) = store() else { return };
    if !Path::new(VIEWS).is_dir() {
        eprintln!("skipped: {VIEWS} is not there");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let embedded = EmbeddedStore::open(directory.path(), Access::ReadWrite).unwrap();
    let records = graph();
    store.apply_evidence(HERE, "test", &records, &documents(&records)).unwrap();
    embedded.apply_evidence(HERE, "test", &records, &documents(&records)).unwrap();
    let values = [
        ("task_id", text("t1")),
        ("claim_id", text("c1")),
        ("source_id", text("w2")),
        ("relation", text("supports")),
        ("now", text("2026-11-25T00:00:00Z")),
        ("recent_years", number(3)),
        ("min_years", number(1)),
        ("min_shared", number(1)),
        ("max_steps", number(3)),
        ("min_gap", number(1)),
        ("min_controversy", SqlValue::Real(0.1)),
    ];
    let mut answered = 0;
    for file in std::fs::read_dir(VIEWS).unwrap() {
        let path = file.unwrap().path();
        let template = std::fs::read_to_string(&path).unwrap();
        for given in [false, true] {
            let sql = rendered(&template, given);
            let has = |name: &str| {
                sql.match_indices(&format!(":{name}")).any(|(at, found)| {
                    !sql[at + found.len()..].starts_with(|next: char| next.is_alphanumeric() || next == '_')
                })
            };
            let parameters = values.iter().filter(|(name, _)| has(name));
            let parameters = parameters.map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
            let asked = SqlQuery { parameters, limit: 200, timeout: Duration::from_secs(2), ..SqlQuery::new(&sql) };
            let expected =
                embedded.query_sql(HERE, &asked, &|| false).unwrap_or_else(|error| panic!("{path:?}: {error}"));
            let found = store.query_sql(HERE, &asked, &|| false).unwrap_or_else(|error| panic!("{path:?}: {error}"));
            assert_eq!((&found.columns, &found.rows), (&expected.columns, &expected.rows), "{path:?}, given: {given}");
            answered += usize::from(found.row_count > 0);
        }
    }
    assert!(answered > 25, "only {answered} answers have rows");
}
