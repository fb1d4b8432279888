//! Results compared with those of independent implementations, on the lists that `lab/references` makes.

use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use tamis_cut::{CalibrationQuery, Guarantee, Kneedle, Knees, Otsu, Pick, Pool, Rule};

/// A part of a fixture, with at least `least` entries.
fn fixture<T: DeserializeOwned>(name: &str, part: &str, least: usize) -> Vec<T> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut fixture: serde_json::Value = serde_json::from_str(&text).unwrap();
    let entries: Vec<T> = serde_json::from_value(fixture[part].take()).unwrap();
    assert!(entries.len() >= least, "only {} {part}", entries.len());
    entries
}

/// Judged queries, and the thresholds that the Python package MAPIE finds for them.
#[derive(Deserialize)]
struct Set {
    name: String,
    queries: Vec<(Vec<f64>, Vec<u8>)>,
    /// Target, and the highest threshold on a grid of hundredths.
    recall: Vec<(f64, Option<f64>)>,
    /// Target, confidence, and the lowest threshold on that grid before the first that fails.
    precision: Vec<(f64, f64, Option<f64>)>,
}

fn sets() -> impl Iterator<Item = (Set, Vec<CalibrationQuery>)> {
    let query = |(values, relevant): &(Vec<f64>, Vec<u8>)| CalibrationQuery {
        values: values.clone(),
        relevant: relevant.iter().map(|&hit| hit == 1).collect(),
        missed: 0,
    };
    fixture("conformal.json", "sets", 20).into_iter().map(move |set: Set| {
        let queries = set.queries.iter().map(query).collect();
        (set, queries)
    })
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

/// The knees that the Python package `kneed` 0.9.0 finds.
#[derive(Deserialize)]
struct Curve {
    name: String,
    values: Vec<f64>,
    sensitivity: f64,
    knee: Option<usize>,
    all_knees: Vec<usize>,
    distances: Vec<f64>,
}

#[test]
fn every_knee_of_every_curve_is_the_one_kneed_finds() {
    for curve in fixture::<Curve>("kneedle.json", "curves", 300) {
        let knees = Knees::find(&curve.values, curve.sensitivity);
        // Bit for bit: the order of operations is part of the detection, since ties are broken by rounding.
        let distances: Vec<f64> = knees.all().iter().map(|&knee| knees.distance(knee)).collect();
        let found = (knees.all(), knees.first(), distances);
        assert_eq!(found, (&curve.all_knees[..], curve.knee, curve.distances), "{}", curve.name);
    }
}

#[test]
fn the_rule_keeps_what_comes_before_the_picked_knee() {
    for curve in fixture::<Curve>("kneedle.json", "curves", 300) {
        let pool = Pool::scores(curve.values.iter().copied()).unwrap();
        let rule = |pick| Kneedle { sensitivity: curve.sensitivity, max_results: 1_000, pick, ..Kneedle::default() };
        let at = |knee: Option<usize>| match knee {
            Some(knee) if knee > 0 => knee,
            _ => pool.len().min(3),
        };
        assert_eq!(rule(Pick::First).cut(&pool).keep, at(curve.knee), "{}: first", curve.name);

        let mut strongest: Option<(usize, f64)> = None;
        for (&knee, &distance) in curve.all_knees.iter().zip(&curve.distances) {
            if knee > 0 && strongest.is_none_or(|(_, other)| distance > other) {
                strongest = Some((knee, distance));
            }
        }
        let strongest = strongest.map(|(knee, _)| knee);
        assert_eq!(rule(Pick::Strongest).cut(&pool).keep, at(strongest), "{}: strongest", curve.name);
    }
}

/// Natural breaks in two classes by the Python package `jenkspy`.
#[derive(Deserialize)]
struct List {
    name: String,
    values: Vec<f64>,
    keep: usize,
}

#[test]
fn every_list_splits_where_natural_breaks_do() {
    for list in fixture::<List>("otsu.json", "lists", 200) {
        let cut = Otsu {}.cut(&Pool::scores(list.values.iter().copied()).unwrap());
        assert_eq!(cut.keep, list.keep, "{}", list.name);
    }
}
