//! The evidence graph in the store: records and their documents are stored and removed together, and statements see them. What
//! untrusted statements may do is the same everywhere (`tests/guard`).

use std::cell::RefCell;
use std::time::Duration;

use crate::common::*;

tests_on_every_store! {
    a_graph_comes_back_as_it_went_in
    trap_a_fragment_takes_one_stand_on_a_claim
    what_is_referred_to_must_be_there_and_else_nothing_is
    filters_by_task_follow_the_edges
    an_origin_goes_with_all_that_nothing_else_refers_to
    a_namespace_goes_with_its_evidence
    evidence_is_counted_whole_and_by_task
    a_check_finds_what_does_not_agree
    a_statement_sees_each_change_before_it_and_no_other_namespace
}

const ORIGIN: &str = "graph.jsonl";

fn task(id: &str) -> EvidenceRecord {
    EvidenceRecord::Task(Task { id: id.into(), question: "Is it so?".into(), ..Task::default() })
}

fn page(id: &str, url: &str) -> EvidenceRecord {
    EvidenceRecord::Page(Page { id: id.into(), url: Some(url.into()), ..Page::default() })
}

fn fragment(id: &str, page: &str) -> EvidenceRecord {
    let text = format!("What {id} says");
    EvidenceRecord::Fragment(Fragment { id: id.into(), page_id: page.into(), text, ..Fragment::default() })
}

fn claim(id: &str, task: &str) -> EvidenceRecord {
    let (task_id, text) = (task.into(), format!("It is {id}"));
    EvidenceRecord::Claim(Claim { id: id.into(), task_id, text, confidence: Some(0.1 + 0.2), ..Claim::default() })
}

fn link(relation: Relation, source: (NodeType, &str), target: (NodeType, &str)) -> Edge {
    let ((source_type, source_id), (target_type, target_id)) = (source, target);
    let (source_id, target_id, nli_edge_confidence) = (source_id.into(), target_id.into(), None);
    Edge { source_type, source_id, target_type, target_id, relation, nli_edge_confidence, note: None, created_at: None }
}

fn edge(fragment: &str, relation: Relation, claim: &str) -> EvidenceRecord {
    EvidenceRecord::Edge(link(relation, (NodeType::Fragment, fragment), (NodeType::Claim, claim)))
}

fn cites(source: (NodeType, &str), target: (NodeType, &str)) -> EvidenceRecord {
    EvidenceRecord::Edge(Edge {
        nli_edge_confidence: Some(0.25),
        note: Some("in passing".into()),
        created_at: Some("2026-11-01".into()),
        ..link(Relation::Cites, source, target)
    })
}

/// The documents of fragments and claims, as an import creates them.
fn documents(origin: &str, records: &[EvidenceRecord]) -> Vec<Change> {
    let document = |record: &EvidenceRecord| {
        let (EvidenceRecord::Fragment(Fragment { text, .. }) | EvidenceRecord::Claim(Claim { text, .. })) = record
        else {
            return None;
        };
        let origin = Some(origin.into());
        let document = prose(&record.path()?, &[text.as_str()]);
        Some(Change::Put(NewDocument { origin, collection: "evidence".into(), ..document }))
    };
    records.iter().filter_map(document).collect()
}

fn apply(store: &dyn Store, origin: &str, records: &[EvidenceRecord]) -> Result<Applied, StoreError> {
    store.apply_evidence("here", origin, records, &documents(origin, records))
}

/// Two tasks, a claim of each, three fragments of two pages, and a work.
fn graph() -> Vec<EvidenceRecord> {
    let authors = vec!["Ada".into(), "Bo \"B\" Ek".into()];
    let work = Work { id: "w1".into(), title: "On it".into(), authors, year: Some(1999), ..Work::default() };
    let (url, work_id) = (Some("https://www.one.example/a".into()), Some("w1".into()));
    vec![
        task("t1"),
        task("t2"),
        EvidenceRecord::Work(work),
        EvidenceRecord::Page(Page { id: "p1".into(), url, work_id, ..Page::default() }),
        page("p2", "https://two.example/b"),
        fragment("f1", "p1"),
        fragment("f2", "p1"),
        fragment("f3", "p2"),
        claim("c1", "t1"),
        claim("c2", "t2"),
        edge("f1", Relation::Origin, "c1"),
        edge("f1", Relation::Supports, "c1"),
        edge("f1", Relation::Refutes, "c2"),
        edge("f2", Relation::Neutral, "c2"),
        cites((NodeType::Page, "p1"), (NodeType::Work, "w1")),
    ]
}

/// The documents that pass a filter by task, as a search sees them.
fn of_task(store: &dyn Store, task: &str) -> Vec<String> {
    let attributes = vec![AttributeCondition { name: "task".into(), any_of: vec![task.into()] }];
    let filter = Filter { attributes, ..Filter::default() };
    let ids: Vec<_> = store.select(&filter).unwrap().into_iter().map(|found| found.passage).collect();
    let mut paths: Vec<String> = store.passages(&[], &ids).unwrap().into_iter().map(|passage| passage.path).collect();
    paths.sort();
    paths
}

fn sound(store: &dyn Store) {
    publish(store);
    assert_sound(store);
}

fn a_graph_comes_back_as_it_went_in(store: &dyn Store) {
    let mut records = graph();
    let applied = apply(store, ORIGIN, &records).unwrap();
    assert_eq!((applied.added, applied.replaced), (5, 0), "each fragment and claim is a document");
    records.sort_by_key(EvidenceRecord::key);
    assert_eq!(store.evidence("here").unwrap(), records);
    assert_eq!(store.evidence("there").unwrap(), []);
    sound(store);

    let keys = [EvidenceKey::Claim("c2".into()), EvidenceKey::Claim("none".into()), records[11].key()];
    let found = store.evidence_at("here", &keys).unwrap();
    assert_eq!(found, [Some(claim("c2", "t2")), None, Some(records[11].clone())]);
    let names = |fragments: Vec<Fragment>| fragments.into_iter().map(|one| one.id).collect::<Vec<_>>();
    assert_eq!(names(store.fragments_of("here", "p1").unwrap()), ["f1", "f2"]);
    let edges = store.edges_to("here", NodeType::Claim, "c2").unwrap();
    let told: Vec<_> = edges.iter().map(|edge| (edge.source_id.as_str(), edge.relation)).collect();
    assert_eq!(told, [("f2", Relation::Neutral), ("f1", Relation::Refutes)]);
}

fn trap_a_fragment_takes_one_stand_on_a_claim(store: &dyn Store) {
    apply(store, ORIGIN, &graph()).unwrap();
    let stands = || {
        let edges = store.edges_to("here", NodeType::Claim, "c1").unwrap();
        edges.into_iter().map(|edge| edge.relation).collect::<Vec<_>>()
    };
    assert_eq!(stands(), [Relation::Origin, Relation::Supports]);
    for stand in [Relation::Refutes, Relation::Neutral, Relation::Neutral, Relation::Supports] {
        apply(store, ORIGIN, &[edge("f1", stand, "c1")]).unwrap();
        let expected: Vec<_> =
            Relation::ALL.into_iter().filter(|one| [Relation::Origin, stand].contains(one)).collect();
        let mut held = stands();
        held.sort();
        assert_eq!(held, expected);
    }
}

fn what_is_referred_to_must_be_there_and_else_nothing_is(store: &dyn Store) {
    let of_work = EvidenceRecord::Page(Page { id: "p".into(), work_id: Some("w".into()), ..Page::default() });
    let wrong = [
        (vec![fragment("f", "p")], "fragment \"f\": refers to page \"p\", which is not there"),
        (vec![claim("c", "t")], "claim \"c\": refers to task \"t\""),
        (vec![of_work], "page \"p\": refers to work \"w\""),
        (
            vec![page("p", "x"), fragment("f", "p"), edge("f", Relation::Supports, "c")],
            "stance from fragment \"f\" to claim \"c\": refers to claim \"c\"",
        ),
        (vec![cites((NodeType::Page, "p"), (NodeType::Work, "w"))], "refers to page \"p\""),
        (
            vec![cites((NodeType::Fragment, "f"), (NodeType::Work, "w"))],
            "leads from a fragment to a work; cites leads from a page or work to a page or work",
        ),
    ];
    for (records, expected) in wrong {
        let error = apply(store, ORIGIN, &records).unwrap_err();
        assert!(matches!(error, StoreError::Invalid { .. }));
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(store.evidence("here").unwrap(), [], "all or nothing");
        assert_eq!(store.documents("here").unwrap().len(), 0);
    }
    let backwards = link(Relation::Origin, (NodeType::Claim, "c1"), (NodeType::Fragment, "f1"));
    let backwards = EvidenceRecord::Edge(backwards);
    let error = apply(store, ORIGIN, &[graph(), vec![backwards]].concat()).unwrap_err();
    assert!(error.to_string().contains("origin leads from a fragment to a claim"), "{error}");
    let error = store.apply_evidence("here", ORIGIN, &graph(), &[]).unwrap_err();
    assert!(error.to_string().contains("has no document fragment:f1"), "{error}");
    assert_eq!(store.evidence("here").unwrap(), []);
}

fn filters_by_task_follow_the_edges(store: &dyn Store) {
    apply(store, ORIGIN, &graph()).unwrap();
    assert_eq!(of_task(store, "t1"), ["fragment:f1"]);
    assert_eq!(of_task(store, "t2"), ["fragment:f1", "fragment:f2"]);

    // An edge alone changes neither passages nor the change number, and a cached filter still sees it.
    let before = store.summary().unwrap().seq;
    apply(store, ORIGIN, &[edge("f3", Relation::Neutral, "c1")]).unwrap();
    assert_eq!(store.summary().unwrap().seq, before);
    assert_eq!(of_task(store, "t1"), ["fragment:f1", "fragment:f3"]);
    // Moving a claim to another task updates its fragments.
    apply(store, ORIGIN, &[claim("c2", "t1")]).unwrap();
    assert_eq!(of_task(store, "t1"), ["fragment:f1", "fragment:f2", "fragment:f3"]);
    assert_eq!(of_task(store, "t2"), [] as [&str; 0]);
    // Putting a fragment again keeps its tasks.
    apply(store, ORIGIN, &[fragment("f2", "p2")]).unwrap();
    assert_eq!(of_task(store, "t1"), ["fragment:f1", "fragment:f2", "fragment:f3"]);
    // Putting its document alone does so too.
    store.apply(&documents(ORIGIN, &[fragment("f2", "p2")])).unwrap();
    assert_eq!(of_task(store, "t1"), ["fragment:f1", "fragment:f2", "fragment:f3"]);
    sound(store);

    let claim = store.document("here", "claim:c1").unwrap().unwrap();
    store.apply(&[Change::Delete { document: claim.document }]).unwrap();
    assert_eq!(of_task(store, "t1"), ["fragment:f1", "fragment:f2"], "edges go with their claim");
    assert_eq!(store.edges_to("here", NodeType::Claim, "c1").unwrap(), []);
    sound(store);
}

fn an_origin_goes_with_all_that_nothing_else_refers_to(store: &dyn Store) {
    apply(store, ORIGIN, &graph()).unwrap();
    let stand = |fragment| edge(fragment, Relation::Supports, "d1");
    let more = [task("t3"), fragment("g1", "p1"), claim("d1", "t1"), stand("g1"), stand("f3")];
    apply(store, "more.jsonl", &more).unwrap();
    let names: Vec<_> = store.origins().unwrap().into_iter().map(|one| (one.name, one.documents)).collect();
    assert_eq!(names, [(ORIGIN.to_owned(), 5), ("more.jsonl".to_owned(), 2)]);

    store.remove_origin(ORIGIN, &["here".to_owned()]).unwrap();
    let left = || store.evidence("here").unwrap().iter().map(|record| record.key().to_string()).collect::<Vec<_>>();
    let expected = [
        "task \"t1\"",
        "task \"t3\"",
        "work \"w1\"",
        "page \"p1\"",
        "fragment \"g1\"",
        "claim \"d1\"",
        "stance from fragment \"g1\" to claim \"d1\"",
    ];
    assert_eq!(left(), expected, "the page, its work and the task of what stays are there");
    assert_eq!(of_task(store, "t1"), ["fragment:g1"]);
    sound(store);
    store.remove_origin("more.jsonl", &["here".to_owned()]).unwrap();
    assert_eq!(left(), ["task \"t1\"", "work \"w1\"", "page \"p1\""]);
    assert_eq!(store.origins().unwrap()[0].name, ORIGIN, "what stays for others can still be taken out");
    store.remove_origin(ORIGIN, &["here".to_owned()]).unwrap();
    assert_eq!(store.evidence("here").unwrap(), []);
    assert_eq!(store.origins().unwrap(), []);
    sound(store);
}

fn a_namespace_goes_with_its_evidence(store: &dyn Store) {
    apply(store, ORIGIN, &graph()).unwrap();
    let elsewhere = [task("t1")];
    store.apply_evidence("there", ORIGIN, &elsewhere, &[]).unwrap();
    assert_eq!(store.namespaces().unwrap().len(), 2, "a task alone makes its namespace known");
    store.remove_namespace("here").unwrap();
    assert_eq!(store.evidence("here").unwrap(), []);
    assert_eq!(store.evidence("there").unwrap(), elsewhere);
    sound(store);
}

fn evidence_is_counted_whole_and_by_task(store: &dyn Store) {
    assert!(store.evidence_summary("here", None).unwrap().is_empty());
    apply(store, ORIGIN, &graph()).unwrap();
    let counts = |task: Option<&str>| {
        let found = store.evidence_summary("here", task).unwrap();
        let domains: Vec<_> =
            found.top_domains.iter().map(|one| (one.name.clone(), one.documents, one.passages)).collect();
        let parts = [found.tasks, found.works, found.pages, found.fragments, found.claims];
        (parts, [found.supporting, found.refuting, found.neutral], domains)
    };
    let one = |passages| ("one.example".to_owned(), 1, passages);
    let two = ("two.example".to_owned(), 1, 1);
    assert_eq!(counts(None), ([2, 1, 2, 3, 2], [1, 1, 1], vec![one(2), two]));
    assert_eq!(counts(Some("t1")), ([1, 1, 1, 1, 1], [1, 0, 0], vec![one(1)]));
    assert_eq!(counts(Some("t2")), ([1, 1, 1, 2, 1], [0, 1, 1], vec![one(2)]));
    assert_eq!(counts(Some("t9")), ([0; 5], [0; 3], vec![]));
}

fn a_check_finds_what_does_not_agree(store: &dyn Store) {
    apply(store, ORIGIN, &graph()).unwrap();
    store.publish(&mut |_| Ok(())).unwrap();
    // A document of evidence without a record, which only a mistake can create.
    let stray = NewDocument { collection: "evidence".into(), ..prose("claim:c9", &["It is c9"]) };
    put(store, vec![stray]);
    let problems = store.check().unwrap().problems;
    assert!(problems[0].message.contains("1 documents of evidence are no fragment and no claim"), "{problems:?}");
}

/// The rows of a statement, given the most time that it may have, so that a busy machine decides nothing.
fn ask(store: &dyn Store, namespace: &str, sql: &str) -> SqlRows {
    let query = SqlQuery { limit: 200, timeout: Duration::from_secs(2), ..SqlQuery::new(sql) };
    store.query_sql(namespace, &query, &|| false).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

#[test]
fn every_store_gives_a_statement_the_same_rows_in_the_same_order() {
    let first = RefCell::new(None);
    on_every_store(|store| {
        let mut records = graph();
        records.extend((0..18).map(|number| fragment(&format!("g{}", number * 7 % 18), "p2")));
        apply(store, ORIGIN, &records).unwrap();
        embed(store);
        let answers = SQL_TABLES.iter().map(|table| {
            // Vectors have no order of their own.
            let order = if table.name == "embeddings" { " ORDER BY 1, 2" } else { "" };
            let answer = ask(store, "here", &format!("SELECT * FROM {}{order}", table.name));
            assert!(!answer.rows.is_empty(), "{}", table.name);
            (answer.columns, answer.rows)
        });
        let answers: Vec<_> = answers.collect();
        let before = first.borrow_mut().get_or_insert_with(|| answers.clone()).clone();
        assert_eq!(answers, before);
    });
}

fn a_statement_sees_each_change_before_it_and_no_other_namespace(store: &dyn Store) {
    let count = |from: &str| ask(store, "here", &format!("SELECT count(*) FROM {from}")).rows;
    let counts = |expected: [i64; 4]| {
        for (table, expected) in ["tasks", "claims", "edges", "embeddings"].into_iter().zip(expected) {
            assert_eq!(count(table), [[SqlValue::Integer(expected)]], "{table}");
        }
    };
    counts([0, 0, 0, 0]);
    apply(store, ORIGIN, &graph()).unwrap();
    counts([2, 2, 5, 0]);
    embed(store);
    counts([2, 2, 5, 5]);
    let single = "embeddings WHERE length(embedding_blob) = 4 * dimension";
    assert_eq!(count(single), [[SqlValue::Integer(5)]], "single precision, whatever the store keeps");
    // Records without a document.
    let ends = ((NodeType::Fragment, "f1"), (NodeType::Claim, "c1"));
    let other = Edge { note: Some("new".into()), ..link(Relation::Supports, ends.0, ends.1) };
    apply(store, ORIGIN, &[task("t3"), EvidenceRecord::Edge(other)]).unwrap();
    counts([3, 2, 5, 5]);
    assert_eq!(count("edges WHERE note = 'new'"), [[SqlValue::Integer(1)]]);
    // Through its document.
    store.apply(&[Change::Delete { document: id_of(store, "claim:c2") }]).unwrap();
    assert_eq!(count("claims"), [[SqlValue::Integer(1)]]);
    store.put_namespace(&NewNamespace { name: "there".into(), ..NewNamespace::default() }).unwrap();
    store.apply_evidence("there", ORIGIN, &[task("t9")], &[]).unwrap();
    for namespace in ["her", "here ", "HERE", "here' OR '1'='1", "'", "there", "", "hör\"e", "\\", "%", "$1"] {
        let found = ask(store, namespace, "SELECT count(*) FROM tasks");
        assert_eq!(found.rows, [[SqlValue::Integer(i64::from(namespace == "there"))]], "{namespace:?}");
    }
    let refused = store.query_sql("here\0", &SqlQuery::new("SELECT 1"), &|| false);
    assert!(matches!(refused, Err(StoreError::Invalid { .. })), "{refused:?}");
    store.remove_origin(ORIGIN, &["here".to_owned()]).unwrap();
    counts([0, 0, 0, 0]);
    store.remove_namespace("there").unwrap();
    assert_eq!(ask(store, "there", "SELECT count(*) FROM tasks").rows, [[SqlValue::Integer(0)]]);
}
