//! Calibrated thresholds compared with those of the Python package MAPIE, on the judged queries of
//! `tools/references/conformal.py`.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use tamis_cut::{CalibrationQuery, Guarantee};

#[derive(Deserialize)]
struct Fixture {
    sets: Vec<Set>,
}

#[derive(Deserialize)]
struct Set {
    name: String,
    queries: Vec<(Vec<f64>, Vec<u8>)>,
    /// Target, and the highest threshold on a grid of hundredths.
    recall: Vec<(f64, Option<f64>)>,
    /// Target, confidence, and the lowest threshold on that grid before the first that fails.
    precision: Vec<(f64, f64, Option<f64>)>,
}

fn sets() -> Vec<(Set, Vec<CalibrationQuery>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/conformal.json");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let fixture: Fixture = serde_json::from_str(&text).unwrap();
    assert!(fixture.sets.len() >= 20, "only {} sets", fixture.sets.len());
    let query = |(values, relevant): &(Vec<f64>, Vec<u8>)| CalibrationQuery {
        values: values.clone(),
        relevant: relevant.iter().map(|&hit| hit == 1).collect(),
        missed: 0,
    };
    fixture
        .sets
        .into_iter()
        .map(|set| {
            let queries = set.queries.iter().map(query).collect();
            (set, queries)
        })
        .collect()
}

/// Ours is a value that is kept, MAPIE's the point of the grid just below it.
#[test]
fn recall_thresholds_are_those_of_conformal_risk_control() {
    for (set, queries) in sets() {
        for &(target, expected) in &set.recall {
            let ours = Guarantee::recall(target).unwrap().calibrate(&queries).ok();
            let below = ours.map(|given| (given.threshold * 100.0).ceil() / 100.0 - 0.01);
            match (below, expected) {
                (Some(below), Some(expected)) => {
                    assert!((below - expected).abs() < 1e-9, "{} {target}: {below} and {expected}", set.name);
                }
                (below, expected) => assert_eq!(below, expected, "{} {target}", set.name),
            }
        }
    }
}

#[test]
fn precision_thresholds_are_those_of_fixed_sequence_testing() {
    for (set, queries) in sets() {
        for &(target, confidence, expected) in &set.precision {
            let ours = Guarantee::precision(target, confidence).unwrap().calibrate(&queries).ok();
            assert_eq!(ours.map(|given| given.threshold), expected, "{} {target} {confidence}", set.name);
        }
    }
}
