//! `tamis config` and `tamis trust`: the settings in effect, and their origins.

use crate::support::{Tree, run};

fn value(tree: &Tree, environment: Option<&str>) -> String {
    let mut command = tree.tamis(&["config", "search.cut", "--origin"]);
    if let Some(text) = environment {
        command.env("TAMIS_SEARCH_CUT", text);
    }
    let (code, out, err) = run(command);
    assert_eq!(code, 0, "{err}");
    out.trim().to_owned()
}

#[test]
fn the_stronger_origin_wins_from_the_file_to_the_result() {
    let tree = Tree::new();
    assert_eq!(value(&tree, None), "\"auto\"  # built-in");
    std::fs::write(tree.home().join("config.toml"), "[search]\ncut = \"otsu\"\n").expect("written");
    assert!(value(&tree, None).starts_with("\"otsu\"  # ") && value(&tree, None).ends_with("config.toml"));
    tree.write(".tamis/config.toml", "[search]\ncut = \"fixed:k=4\"\n");
    assert!(value(&tree, None).starts_with("\"fixed:k=4\"  # ") && value(&tree, None).contains(".tamis"));
    assert_eq!(value(&tree, Some("elbow")), "\"elbow\"  # $TAMIS_SEARCH_CUT");

    let cut = |environment: Option<&str>, flags: &[&str]| {
        let mut command = tree.tamis(&[&["search", "--json", "oven"], flags].concat());
        if let Some(text) = environment {
            command.env("TAMIS_SEARCH_CUT", text);
        }
        let (_, out, err) = run(command);
        let answer: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {err}"));
        (
            answer["cut"]["method"].as_str().expect("a method").to_owned(),
            answer["cut"]["keep"].as_u64().expect("a count"),
        )
    };
    assert_eq!(cut(None, &[]), ("fixed".into(), 4), "the project's file reaches the rule, with its parameter");
    assert_eq!(cut(Some("elbow"), &[]).0, "elbow");
    assert_eq!(cut(Some("elbow"), &["--cut", "fixed:k=2"]), ("fixed".into(), 2));
}

#[test]
fn all_settings_are_printed_as_toml_that_can_be_read_back() {
    let tree = Tree::new();
    let (code, out, _) = run(tree.tamis(&["config"]));
    assert_eq!(code, 0);
    assert!(out.contains("[search]\n") && out.contains("# built-in") && out.contains("# $TAMIS_INDEX_MODELS"), "{out}");
    // The user's file, since only the user may make some settings.
    std::fs::create_dir_all(tree.home()).expect("made");
    std::fs::write(tree.home().join("config.toml"), &out).expect("written");
    let (code, again, err) = run(tree.tamis(&["config"]));
    assert_eq!(code, 0, "{err}");
    let assignments = |text: &str| {
        text.lines().map(|line| line.split("  #").next().unwrap_or_default().trim_end().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(assignments(&again), assignments(&out));
    assert!(!again.contains("# built-in"), "every value now comes from the file:\n{again}");
}

#[test]
fn one_key_one_table_and_json() {
    let tree = Tree::new();
    assert_eq!(run(tree.tamis(&["config", "search.cut"])).1, "auto\n");
    assert_eq!(run(tree.tamis(&["config", "search.top_k"])).1, "10\n");
    let (_, out, _) = run(tree.tamis(&["config", "rank"]));
    assert!(out.starts_with("[rank]\n") && !out.contains("[search]"), "{out}");
    let (_, out, _) = run(tree.tamis(&["config", "search", "--verbose"]));
    assert!(out.contains("# Most results shown") && out.contains("TAMIS_SEARCH_TOP_K"), "{out}");
    let json = tree.json(&["config", "search.top_k", "--json"]);
    assert_eq!(json["search.top_k"]["value"], 10);
    assert_eq!(json["search.top_k"]["source"], "built-in");
    let (code, _, err) = run(tree.tamis(&["config", "search.topk"]));
    assert_eq!(code, 2);
    assert!(err.contains("did you mean search.top_k?"), "{err}");
}

#[test]
fn a_projects_remote_model_is_refused_until_it_is_trusted_as_it_is() {
    let tree = Tree::new();
    let config = "[index]\nmodels = [\"static\", \"team\"]\n[models.team]\nprovider = \"openai\"\nurl = \"http://127.0.0.1:9\"\nmodel = \"m\"\n";
    let file = tree.write(".tamis/config.toml", config);
    let plain = |arguments: &[&str]| {
        let mut command = tree.tamis(arguments);
        command.env_remove("TAMIS_INDEX_MODELS");
        run(command)
    };
    let (code, _, err) = plain(&["config"]);
    assert_eq!(code, 2);
    assert!(err.contains("http://127.0.0.1:9") && err.contains("`tamis trust`"), "{err}");
    let (code, out, err) = plain(&["trust"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("model team may send text to http://127.0.0.1:9"), "{out}");
    let (code, out, _) = plain(&["config", "models"]);
    assert_eq!(code, 0);
    assert!(out.contains("[models.team]") && out.contains("url = \"http://127.0.0.1:9\""), "{out}");
    std::fs::write(&file, config.replace(":9", ":10")).expect("written");
    assert_eq!(plain(&["config"]).0, 2, "a changed file is not trusted any more");
    std::fs::remove_file(&file).expect("removed");
    let (code, _, err) = plain(&["trust"]);
    assert_eq!(code, 2);
    assert!(err.contains("no such file"), "{err}");
}
