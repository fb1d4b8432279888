//! Properties of every evaluation, and the input it refuses.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tamis_eval::{
    Collection, Decision, EvalError, Method, Metric, ORACLE, Options, PooledDocument, QueryKind, QueryPool, evaluate,
};

/// A query: its kind, the relevance of its pool, how many relevant documents were not found, and how many are kept.
type Sketch = (QueryKind, Vec<bool>, usize, usize);

fn sketch() -> impl Strategy<Value = Sketch> {
    use QueryKind::{Foreign, Judged, Unanswerable};
    let kind = prop::sample::select(vec![Judged, Judged, Judged, Unanswerable, Foreign]);
    (kind, prop::collection::vec(any::<bool>(), 0..15), 0usize..3, 0usize..15)
}

fn query(id: usize, (kind, relevance, missing, _): &Sketch) -> QueryPool {
    let document = |at: usize| PooledDocument { id: format!("d{at}"), score: -(at as f64), characters: at };
    let judged = relevance.iter().enumerate().map(|(at, &relevant)| (format!("d{at}"), i32::from(relevant)));
    let missing = (0..*missing).map(|at| (format!("missing {at}"), 1));
    let documents = (0..relevance.len()).map(document).collect();
    let judged = judged.chain(missing).collect();
    QueryPool { id: format!("q{id}"), kind: *kind, documents, judged, beyond: Vec::new() }
}

fn collection(name: &str, sketches: &[Sketch], order: &[usize]) -> Collection {
    let decide = |&at: &usize| {
        let (_, relevance, _, keep) = &sketches[at];
        let probabilities = (0..relevance.len()).map(|rank| 1.0 / (1.0 + (rank + at) as f64)).collect();
        Decision { probabilities: Some(probabilities), ..Decision::keep((*keep).min(relevance.len())) }
    };
    let method = |name: &str| Method { name: name.into(), decisions: order.iter().map(decide).collect() };
    let queries = order.iter().map(|&at| query(at, &sketches[at])).collect();
    Collection { name: name.into(), model: None, queries, methods: vec![method("one"), method("same")] }
}

fn options() -> Options {
    Options { resamples: 20, baseline: "one".into(), ..Options::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn figures_keep_to_their_ranges(sketches in prop::collection::vec(sketch(), 1..12)) {
        let order: Vec<usize> = (0..sketches.len()).collect();
        let report = evaluate(&[collection("c", &sketches, &order)], &options()).unwrap();
        let unbounded = [Metric::RelativeF1, Metric::PenalisedDcg, Metric::Kept, Metric::CharactersKept, Metric::LogLoss];
        for method in &report.collections[0].methods {
            for (metric, value) in &method.figures {
                prop_assert!(value.is_finite());
                if !unbounded.contains(metric) {
                    prop_assert!((0.0..=1.0 + 1e-12).contains(value), "{} {metric} {value}", method.name);
                }
            }
            let keeps = method.kept.documents.iter().zip(&report.collections[0].queries);
            prop_assert!(keeps.clone().all(|(&keep, query)| keep <= query.pool));
        }
        if let Some(share) = report.method(ORACLE).unwrap().figures.get(&Metric::ShareOfBestF1) {
            prop_assert_eq!(*share, 1.0);
        }
        // The oracle is the best of all methods in the pool's order, on every query.
        let best = report.collections[0].method(ORACLE).unwrap();
        for method in &report.collections[0].methods {
            for (position, query) in report.collections[0].queries.iter().enumerate() {
                let f1 = |kept: &tamis_eval::KeptColumns| kept.value(Metric::F1EveryQuery, position, query, 1.0).unwrap();
                prop_assert!(f1(&method.kept) <= f1(&best.kept));
            }
        }
    }

    #[test]
    fn a_method_with_the_same_decisions_does_not_differ(sketches in prop::collection::vec(sketch(), 1..12)) {
        let order: Vec<usize> = (0..sketches.len()).collect();
        let report = evaluate(&[collection("c", &sketches, &order)], &options()).unwrap();
        let same = report.method("same").unwrap();
        prop_assert!(!same.differences.is_empty());
        for difference in same.differences.values() {
            prop_assert_eq!((difference.estimate, difference.low, difference.high), (0.0, Some(0.0), Some(0.0)));
        }
        prop_assert_eq!(&same.figures, &report.method("one").unwrap().figures);
    }

    #[test]
    fn the_order_of_the_queries_does_not_matter(
        (sketches, order) in prop::collection::vec(sketch(), 1..12).prop_flat_map(|sketches| {
            let order: Vec<usize> = (0..sketches.len()).collect();
            (Just(sketches), Just(order).prop_shuffle())
        }),
    ) {
        let straight: Vec<usize> = (0..sketches.len()).collect();
        let one = evaluate(&[collection("c", &sketches, &straight)], &options()).unwrap();
        let other = evaluate(&[collection("c", &sketches, &order)], &options()).unwrap();
        for (one, other) in one.collections[0].methods.iter().zip(&other.collections[0].methods) {
            for (metric, value) in &one.figures {
                prop_assert!((value - other.figures[metric]).abs() < 1e-9, "{} {metric}", one.name);
            }
        }
        for (name, value) in &one.collections[0].ranking {
            prop_assert!((value - other.collections[0].ranking[name]).abs() < 1e-9, "{name}");
        }
    }

    #[test]
    fn a_collection_is_measured_the_same_in_any_company(sketches in prop::collection::vec(sketch(), 1..8)) {
        let order: Vec<usize> = (0..sketches.len()).collect();
        let (first, second) = (collection("a", &sketches, &order), collection("b", &sketches[..1], &[0]));
        let alone = evaluate(std::slice::from_ref(&first), &options()).unwrap();
        let together = evaluate(&[second, first], &options()).unwrap();
        prop_assert_eq!(&alone.collections[0], &together.collections[1]);
    }
}

fn small() -> Collection {
    let sketches = [(QueryKind::Judged, vec![true, false], 0, 1), (QueryKind::Unanswerable, vec![false], 0, 0)];
    collection("small", &sketches, &[0, 1])
}

fn refusal(change: impl FnOnce(&mut Collection, &mut Options)) -> EvalError {
    let (mut collection, mut options) = (small(), options());
    change(&mut collection, &mut options);
    evaluate(&[collection], &options).unwrap_err()
}

#[test]
fn what_does_not_fit_is_refused_with_its_place() {
    let changes: [fn(&mut Collection); 14] = [
        |it| it.methods[0].decisions[0].keep = 3,
        |it| it.methods[0].decisions[0].ranking = Some(vec![1, 2]),
        |it| it.methods[0].decisions[0].ranking = Some(vec![1, 1]),
        |it| it.methods[0].decisions[0].probabilities = Some(vec![0.5]),
        |it| it.methods[0].decisions[0].probabilities = Some(vec![0.5, f64::NAN]),
        |it| it.methods[0].decisions[0].evidence = Some(f64::INFINITY),
        |it| it.methods[0].decisions[0].keep_at_depth = vec![(30, 1), (30, 2)],
        |it| it.methods[0].decisions.truncate(1),
        |it| it.queries[1].id = "q0".into(),
        |it| it.queries[0].documents[1].id = "d0".into(),
        |it| it.methods[1].name = "one".into(),
        |it| it.methods[1].name = "fixed-7".into(),
        |it| it.queries[0].documents[0].score = f64::NAN,
        |it| it.queries.clear(),
    ];
    let said = changes.map(|change| refusal(|collection, _| change(collection)).to_string());
    insta::assert_snapshot!(said.join("\n"), @r#"
    method "one", collection "small", query "q0": 3 documents are kept of 2
    method "one", collection "small", query "q0": the ranking names position 2 of a pool of 2, counted from 0
    method "one", collection "small", query "q0": the ranking names position 1 twice
    method "one", collection "small", query "q0": 1 probabilities for a pool of 2
    method "one", collection "small", query "q0": probability NaN is not between 0 and 1
    method "one", collection "small", query "q0": evidence and time must be finite, and one is inf
    method "one", collection "small", query "q0": depth 30 is there twice
    method "one" has 1 decisions in collection "small", which has 2 queries; give one decision for each query, in the order of the queries
    query "q0" is there twice in collection "small"; names must differ
    document "d0" is there twice in query "q0" of collection "small"; names must differ
    method "one" is there twice in collection "small"; names must differ
    method "fixed-7" in collection "small" has the name of a reference method; call it something else
    collection "small", query "q0": document "d0" has score NaN; drop such documents first
    collection "small" has no queries; leave it out
    "#);
}

#[test]
fn options_out_of_range_are_refused() {
    let changes: [fn(&mut Options); 7] = [
        |it| it.baseline = "none".into(),
        |it| it.folds = 1,
        |it| it.beta = 0.0,
        |it| it.fixed = vec![0],
        |it| it.bins = 0,
        |it| it.resamples = 1_000_000,
        |it| it.ranking_depths = vec![0],
    ];
    let said = changes.map(|change| refusal(|_, options| change(options)).to_string());
    insta::assert_snapshot!(said.join("\n"), @r#"
    the baseline "none" is not among the methods of collection "small": one, same, fixed-1, fixed-3, fixed-5, fixed-10, fixed-20, fixed-fitted, fixed-known, oracle
    folds = 1 is out of range: 2 to 100
    beta = 0 is out of range: above 0
    fixed = 0 is out of range: each k is 1 to 10000
    bins = 0 is out of range: 1 to 100
    resamples = 1000000 is out of range: 0 to 100000
    ranking_depths = 0 is out of range: each depth is at least 1
    "#);
    assert_eq!(evaluate(&[], &options()).unwrap_err(), EvalError::NoCollections);
    let twice = evaluate(&[small(), small()], &options()).unwrap_err().to_string();
    assert_eq!(twice, "collection \"small\" is there twice in the evaluation; names must differ");
}

#[test]
fn without_resamples_there_are_differences_and_no_intervals() {
    let report = evaluate(&[small()], &Options { resamples: 0, ..options() }).unwrap();
    let difference = report.method("oracle").unwrap().differences[&Metric::Kept];
    assert_eq!((difference.estimate, difference.low, difference.high), (0.0, None, None));
}

#[test]
fn recall_at_a_depth_counts_documents_beyond_the_pool() {
    let query = |beyond: &[&str]| QueryPool {
        id: "q".into(),
        kind: QueryKind::Judged,
        documents: vec![PooledDocument { id: "a".into(), score: 1.0, characters: 5 }],
        judged: BTreeMap::from([("a".into(), 1), ("z".into(), 1)]),
        beyond: beyond.iter().map(ToString::to_string).collect(),
    };
    let recall = |beyond: &[&str], depth: usize| {
        let methods = vec![Method { name: "one".into(), decisions: vec![Decision::keep(1)] }];
        let collection = Collection { name: "c".into(), model: None, queries: vec![query(beyond)], methods };
        let report = evaluate(&[collection], &Options { ranking_depths: vec![depth], ..Options::default() }).unwrap();
        let figures = &report.method("one").unwrap().figures;
        assert_eq!(figures[&Metric::RecallInPool], 1.0, "no method decides on what is beyond");
        report.collections[0].ranking[&format!("recall_at_{depth}")]
    };
    assert_eq!((recall(&[], 100), recall(&["y", "z"], 100), recall(&["y", "z"], 2)), (0.5, 1.0, 0.5));
    let twice = Collection { name: "c".into(), model: None, queries: vec![query(&["a"])], methods: Vec::new() };
    assert!(twice.check().is_err());
}

#[test]
fn a_pool_in_which_nothing_is_relevant_is_best_left_empty() {
    let query = QueryPool {
        id: "q".into(),
        kind: QueryKind::Judged,
        documents: vec![PooledDocument { id: "a".into(), score: 1.0, characters: 5 }],
        judged: BTreeMap::from([("elsewhere".into(), 1)]),
        beyond: Vec::new(),
    };
    let methods = [0, 1].map(|keep| Method { name: format!("keep {keep}"), decisions: vec![Decision::keep(keep)] });
    let collection = Collection { name: "c".into(), model: None, queries: vec![query], methods: methods.into() };
    let report = evaluate(&[collection], &Options::default()).unwrap();
    let figure = |name: &str, metric| report.method(name).unwrap().figures[&metric];
    for (name, share) in [("keep 0", 1.0), ("keep 1", 0.0)] {
        assert_eq!([figure(name, Metric::ShareOfBestF1), figure(name, Metric::F1InPool)], [share, share]);
        assert_eq!([figure(name, Metric::F1), figure(name, Metric::AnswerableEmpty)], [0.0, share]);
    }
}
