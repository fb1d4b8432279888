//! Kneedle against the Python package `kneed` 0.9.0, on the curves of `tools/references/kneedle.py`.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use tamis_cut::{Kneedle, Knees, Pick, Pool, Rule};

#[derive(Deserialize)]
struct Fixture {
    versions: Versions,
    curves: Vec<Curve>,
}

#[derive(Deserialize)]
struct Versions {
    kneed: String,
}

#[derive(Deserialize)]
struct Curve {
    name: String,
    values: Vec<f64>,
    sensitivity: f64,
    knee: Option<usize>,
    all_knees: Vec<usize>,
    distances: Vec<f64>,
}

fn fixture() -> Fixture {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/kneedle.json");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap()
}

#[test]
fn every_knee_of_every_curve_is_the_one_kneed_finds() {
    let fixture = fixture();
    assert_eq!(fixture.versions.kneed, "0.9.0");
    assert!(fixture.curves.len() >= 300, "only {} curves", fixture.curves.len());
    for curve in &fixture.curves {
        let knees = Knees::find(&curve.values, curve.sensitivity);
        assert_eq!(knees.all(), curve.all_knees, "{}: all knees", curve.name);
        assert_eq!(knees.first(), curve.knee, "{}: first knee", curve.name);
        // Bit for bit: the order of operations is part of the detection, since ties are broken by rounding.
        let distances: Vec<f64> = curve.all_knees.iter().map(|&knee| knees.distance(knee)).collect();
        assert_eq!(distances, curve.distances, "{}: distances from the diagonal", curve.name);
    }
}

#[test]
fn the_rule_keeps_what_comes_before_the_picked_knee() {
    for curve in fixture().curves {
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
