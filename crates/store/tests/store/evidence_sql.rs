//! Untrusted statements on the evidence of every store. What they may do is the same everywhere (`tests/guard`).

use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;

use tamis_store::{
    Change, Claim, Edge, EvidenceRecord, Fragment, NewNamespace, NodeType, Page, Relation, SQL_TABLES, SqlQuery,
    SqlValue, Store, Task, Work,
};

use crate::common::*;

const HERE: &str = "here";

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
        let document = prose(&record.path()?, &[text.as_str()]);
        Some(Change::Put(tamis_store::NewDocument {
            collection: "evidence".into(),
            origin: Some("test".into()),
            ..document
        }))
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

fn text(text: &str) -> SqlValue {
    SqlValue::Text(text.to_owned())
}

/// Asks with the most time that a statement may have, so that a busy machine decides nothing.
fn ask(store: &dyn Store, namespace: &str, query: SqlQuery) -> tamis_store::SqlRows {
    let query = SqlQuery { limit: 200, timeout: Duration::from_secs(2), ..query };
    store.query_sql(namespace, &query, &|| false).unwrap_or_else(|error| panic!("{}: {error}", query.sql))
}

/// A statement without parameters.
fn rows(store: &dyn Store, sql: &str) -> Vec<Vec<SqlValue>> {
    ask(store, HERE, SqlQuery::new(sql)).rows
}

/// All tables, and the named views of the application with and without the parameters that can be missing.
fn statements() -> Vec<SqlQuery> {
    let values = [
        ("task_id", text("t1")),
        ("claim_id", text("c1")),
        ("source_id", text("w2")),
        ("relation", text("supports")),
        ("now", text("2026-11-25T00:00:00Z")),
        ("recent_years", SqlValue::Integer(3)),
        ("min_years", SqlValue::Integer(1)),
        ("min_shared", SqlValue::Integer(1)),
        ("max_steps", SqlValue::Integer(3)),
        ("min_gap", SqlValue::Integer(1)),
        ("min_controversy", SqlValue::Real(0.1)),
    ];
    let mut statements: Vec<_> = SQL_TABLES
        .iter()
        .map(|table| SqlQuery::new(format!("SELECT * FROM {} ORDER BY 1, 2, 3, 4", table.name)))
        .collect();
    let Ok(views) = std::fs::read_dir(Path::new(VIEWS)) else {
        eprintln!("skipped: {VIEWS} is not there");
        return statements;
    };
    for file in views {
        let template = std::fs::read_to_string(file.unwrap().path()).unwrap();
        for given in [false, true] {
            let sql = rendered(&template, given);
            let has = |name: &str| {
                sql.match_indices(&format!(":{name}")).any(|(at, found)| {
                    !sql[at + found.len()..].starts_with(|next: char| next.is_alphanumeric() || next == '_')
                })
            };
            let parameters = values.iter().filter(|(name, _)| has(name));
            let parameters = parameters.map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
            statements.push(SqlQuery { parameters, ..SqlQuery::new(&sql) });
        }
    }
    statements
}

#[test]
fn every_store_gives_the_same_rows_in_the_same_order() {
    let first = RefCell::new(None);
    on_every_store(|store| {
        let records = graph();
        store.apply_evidence(HERE, "test", &records, &documents(&records)).unwrap();
        assert!(embed(store) > 0);
        let answers: Vec<_> = statements()
            .into_iter()
            .map(|query| {
                let answer = ask(store, HERE, query.clone());
                (query.sql, answer.columns, answer.rows)
            })
            .collect();
        assert!(answers.iter().filter(|(_, _, rows)| !rows.is_empty()).count() > 30, "{answers:?}");
        let before = first.borrow_mut().get_or_insert_with(|| answers.clone()).clone();
        for (answer, before) in answers.iter().zip(&before) {
            assert_eq!(answer, before);
        }
    });
}

#[test]
fn a_statement_sees_each_change_before_it() {
    on_every_store(|store| {
        let count = |table: &str| match rows(store, &format!("SELECT count(*) FROM {table}"))[..] {
            [ref row] => row[0].clone(),
            _ => panic!("one row"),
        };
        let counts = |expected: [i64; 4]| {
            let found = ["tasks", "claims", "edges", "embeddings"].map(count);
            assert_eq!(found, expected.map(SqlValue::Integer));
        };
        counts([0, 0, 0, 0]);
        let records = graph();
        let apply = |records: &[EvidenceRecord]| {
            store.apply_evidence(HERE, "test", records, &documents(records)).unwrap();
        };
        apply(&records);
        counts([2, 6, 48, 0]);
        embed(store);
        counts([2, 6, 48, 24]);
        let single = "embeddings WHERE length(embedding_blob) = 4 * dimension";
        assert_eq!(count(single), SqlValue::Integer(24), "single precision, whatever the store keeps");
        // Records without a document.
        apply(&[EvidenceRecord::Task(Task { id: "t3".into(), question: "And?".into(), ..Task::default() })]);
        counts([3, 6, 48, 24]);
        let Some(EvidenceRecord::Edge(edge)) = records.last().cloned() else { panic!("an edge") };
        apply(&[EvidenceRecord::Edge(Edge { note: Some("new".into()), ..edge })]);
        assert_eq!(rows(store, "SELECT count(*) FROM edges WHERE note = 'new'"), [[SqlValue::Integer(1)]]);
        // Through its document.
        store.apply(&[Change::Delete { document: id_of(store, "claim:c5") }]).unwrap();
        assert_eq!(count("claims"), SqlValue::Integer(5));
        // Of another namespace nothing is seen.
        store.put_namespace(&NewNamespace { name: "there".into(), ..NewNamespace::default() }).unwrap();
        let task = [EvidenceRecord::Task(Task { id: "t9".into(), question: "hush?".into(), ..Task::default() })];
        store.apply_evidence("there", "test", &task, &[]).unwrap();
        for namespace in ["her", "here ", "HERE", "here' OR '1'='1", "'", "there", "", "hör\"e", "\\", "%", "$1"] {
            let found = ask(store, namespace, SqlQuery::new("SELECT count(*) FROM tasks"));
            assert_eq!(found.rows, [[SqlValue::Integer(i64::from(namespace == "there"))]], "{namespace:?}");
        }
        // Only tasks, works and pages of this origin have no document.
        store.remove_origin("test", &[HERE.to_owned()]).unwrap();
        counts([0, 0, 0, 0]);
        store.remove_namespace("there").unwrap();
        let found = ask(store, "there", SqlQuery::new("SELECT count(*) FROM tasks"));
        assert_eq!(found.rows, [[SqlValue::Integer(0)]]);
    });
}
