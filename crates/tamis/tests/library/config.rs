//! The configuration at its edge: precedence, and what settings make of each other. Messages are in a transcript.

use std::fs;
use tamis::config::{Config, Origins, Source, Value};

#[test]
fn origins_have_an_order_and_the_pool_and_cut_their_defaults() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        fs::write(&path, text).expect("written");
        Some(path)
    };
    let user = write("user.toml", "[search]\ntop_k = 2\npool = 50\n");
    let mut origins = Origins { user, project: write("project.toml", "[search]\ntop_k = 3\n"), ..Origins::default() };
    let config = Config::load(&origins, None).expect("valid");
    assert!(matches!(config.settings["search.top_k"].source, Source::Project(_)));
    assert!(matches!(config.settings["search.pool"].source, Source::User(_)));
    assert_eq!(config.settings["search.gate"].source, Source::BuiltIn);
    origins.environment = vec![("TAMIS_SEARCH_TOP_K".into(), "4".into()), ("HOME".into(), "/home".into())];
    assert_eq!(Config::load(&origins, None).expect("valid").search.top_k, 4);
    origins.flags = vec![("search.top_k".into(), "5".into(), "--limit".into())];
    assert_eq!(Config::load(&origins, None).expect("valid").settings["search.top_k"].value, Value::Integer(5));

    let text = "[search]\ntop_k = 100\npool = 20\n[cut.kneedle]\nsensitivity = 2.0\nmin_results = 1\n";
    let config = Config::load(&Origins { project: write("c.toml", text), ..Origins::default() }, None).expect("valid");
    assert_eq!(config.search.pool, 400);
    let rule = config.cut("kneedle:min_results=5").expect("a rule").to_string();
    assert!(rule.contains("sensitivity=2") && rule.contains("min_results=5"), "{rule}");
}
