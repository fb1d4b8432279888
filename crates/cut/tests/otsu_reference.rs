//! Otsu's threshold against natural breaks in two classes by the Python package `jenkspy`, on the lists of
//! `tools/references/otsu.py`.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use tamis_cut::{Otsu, Pool, Rule};

#[derive(Deserialize)]
struct Fixture {
    lists: Vec<List>,
}

#[derive(Deserialize)]
struct List {
    name: String,
    values: Vec<f64>,
    keep: usize,
}

#[test]
fn every_list_splits_where_natural_breaks_do() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/otsu.json");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let fixture: Fixture = serde_json::from_str(&text).unwrap();
    assert!(fixture.lists.len() >= 200, "only {} lists", fixture.lists.len());
    for list in fixture.lists {
        let cut = Otsu {}.cut(&Pool::scores(list.values.iter().copied()).unwrap());
        assert_eq!(cut.keep, list.keep, "{}", list.name);
    }
}
