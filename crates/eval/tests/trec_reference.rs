//! Ranking metrics against the Python package `pytrec_eval`, which is trec_eval itself, on the runs of
//! `lab/references/trec.py`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use tamis_eval::{Qrels, Ranking, Run};

#[derive(Deserialize)]
struct Fixture {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    qrels: String,
    run: String,
    figures: BTreeMap<String, BTreeMap<String, f64>>,
}

fn ours(name: &str, ranking: &Ranking) -> f64 {
    match name.rsplit_once('_') {
        Some(("ndcg_cut", depth)) => ranking.ndcg(depth.parse().unwrap()),
        Some(("recall", depth)) => ranking.recall(depth.parse().unwrap()),
        _ if name == "map" => ranking.average_precision(),
        _ if name == "recip_rank" => ranking.reciprocal_rank(),
        _ => panic!("{name}: no such metric"),
    }
}

#[test]
fn every_metric_of_every_query_is_trec_evals() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/trec.json");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let fixture: Fixture = serde_json::from_str(&text).unwrap();
    let mut compared = 0;
    for case in fixture.cases {
        let qrels = Qrels::parse(&case.name, &case.qrels).unwrap();
        let run = Run::parse(&case.name, &case.run).unwrap();
        let both: Vec<&str> = run.iter().map(|(query, _)| query).filter(|query| qrels.query(query).is_some()).collect();
        assert_eq!(both, case.figures.keys().collect::<Vec<_>>(), "{}", case.name);
        for (query, figures) in &case.figures {
            let documents = run.query(query).unwrap().iter().map(|scored| scored.document.as_str());
            let ranking = Ranking::new(documents, qrels.query(query).unwrap());
            for (name, expected) in figures {
                let value = ours(name, &ranking);
                assert!((value - expected).abs() < 1e-9, "{} {query} {name}: {value}, not {expected}", case.name);
                compared += 1;
            }
        }
    }
    assert!(compared > 1500, "only {compared} figures");
}
