//! The facts of a build.

use crate::support::{bare, run};
use serde_json::Value;

#[test]
fn the_version_names_the_build_and_its_models() {
    let (code, out, err) = run(bare(&["version", "--json"]));
    assert_eq!(code, 0, "{err}");
    let version: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(version["version"], env!("CARGO_PKG_VERSION"));
    let target = version["target"].as_str().expect("a triple");
    assert!(target.starts_with(std::env::consts::ARCH) && target.contains(std::env::consts::OS), "{target}");
    let features = version["features"].as_array().expect("a list");
    assert!(features.contains(&"grammars".into()) && !features.contains(&"default".into()), "{features:?}");
    let commit = &version["commit"];
    assert!(commit.is_null() || commit.as_str().is_some_and(|text| text.len() >= 40), "{commit}");
    let models = version["models"].as_array().expect("a list");
    let dimension = |id: &str| &models.iter().find(|model| model["id"] == id).expect("a model")["dimension"];
    assert_eq!((dimension("minilm-l6-v2-int8"), dimension("static-256-v2")), (&384.into(), &256.into()));
    assert!(models.iter().all(|model| model["license"] == "Apache-2.0"), "{models:?}");
}

#[test]
fn both_forms_of_the_version_agree() {
    let (_, short, _) = run(bare(&["--version"]));
    let (code, long, _) = run(bare(&["version"]));
    assert_eq!((code, long.lines().next()), (0, short.lines().next()));
    assert!(long.contains("minilm-l6-v2-int8"), "{long}");
}
