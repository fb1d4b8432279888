//! The configuration at its edge: precedence, messages, and the limits on a checked-in file.

use crate::support::assert_says;
use std::fs;
use std::path::{Path, PathBuf};
use tamis::config::{Config, Origins, Source, Value, trust};

struct Files {
    directory: tempfile::TempDir,
}

impl Files {
    fn new() -> Self {
        Files { directory: tempfile::tempdir().expect("a temporary directory") }
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.directory.path().join(name);
        fs::write(&path, text).expect("written");
        path
    }

    fn user(&self) -> &Path {
        self.directory.path()
    }
}

fn error(origins: &Origins) -> String {
    Config::load(origins, None).expect_err("refused").to_string()
}

fn project(path: PathBuf) -> Origins {
    Origins { project: Some(path), ..Origins::default() }
}

#[test]
fn origins_have_an_order_and_the_pool_and_cut_their_defaults() {
    let files = Files::new();
    let mut origins = Origins {
        user: Some(files.write("user.toml", "[search]\ntop_k = 2\npool = 50\n")),
        project: Some(files.write("project.toml", "[search]\ntop_k = 3\n")),
        ..Origins::default()
    };
    let config = Config::load(&origins, None).expect("valid");
    assert_eq!((config.search.top_k, config.search.pool), (3, 50));
    assert!(matches!(config.settings["search.top_k"].source, Source::Project(_)));
    assert!(matches!(config.settings["search.pool"].source, Source::User(_)));
    assert_eq!(config.settings["search.gate"].source, Source::BuiltIn);

    origins.environment = vec![("TAMIS_SEARCH_TOP_K".into(), "4".into()), ("HOME".into(), "/home".into())];
    assert_eq!(Config::load(&origins, None).expect("valid").search.top_k, 4);
    origins.flags = vec![("search.top_k".into(), "5".into(), "--limit".into())];
    let config = Config::load(&origins, None).expect("valid");
    assert_eq!(config.search.top_k, 5);
    assert_eq!(config.settings["search.top_k"].value, Value::Integer(5));

    let origins = Origins { user: Some("none.toml".into()), project: Some("none.toml".into()), ..Origins::default() };
    assert_eq!(Config::load(&origins, None).expect("valid").search.top_k, 10);
    let files = Files::new();
    let config =
        Config::load(&project(files.write("c.toml", "[search]\ntop_k = 100\npool = 20\n")), None).expect("valid");
    assert_eq!(config.search.pool, 400);

    let files = Files::new();
    let path = files.write("c.toml", "[cut.kneedle]\nsensitivity = 2.0\nmin_results = 1\n");
    let config = Config::load(&project(path), None).expect("valid");
    let rule = config.cut("kneedle:min_results=5").expect("a rule").to_string();
    assert!(rule.contains("sensitivity=2") && rule.contains("min_results=5"), "{rule}");
}

#[test]
fn messages_name_the_place_the_value_and_the_way_out() {
    let files = Files::new();
    let message = |text: &str| error(&project(files.write("config.toml", text)));
    assert!(message("[search]\ntop_k = 0\n").ends_with("config.toml: search.top_k = 0: must be 1 to 100"));
    assert_says(message("[search]\ntop_kk = 5\n"), &["search.top_kk: no such key", "search.top_k?"]);
    assert!(message("[search]\nmode = \"fuzzy\"\n").contains("one of hybrid, lexical, semantic"));
    assert!(message("[search]\ncut = \"knee\"\n").contains("kneedle"));
    assert!(message("[cut.kneedle]\nsensitivity = -1\n").contains("cut.kneedle.sensitivity"));
    assert!(message("[search]\ntop_k = \"ten\"\n").contains("must be 1 to 100"));
    assert!(message("[search\n").contains("not valid TOML"));
    assert!(message("[search]\nmodel = \"glove\"\n").contains("[models.glove]"));
    assert!(message("[models.static]\nprovider = \"directory\"\npath = \"x\"\n").contains("taken"));
    let variable = Origins { environment: vec![("TAMIS_SEARCH_TOPK".into(), "4".into())], ..Origins::default() };
    let config = Config::load(&variable, None).expect("a variable that sets nothing ends no command");
    assert_eq!(config.search.top_k, 10);
    let unknown = tamis::config::unknown_variables(["TAMIS_SEARCH_TOPK", "TAMIS_SEARCH_TOP_K", "HOME", "TAMIS_CACHE"]);
    assert!(unknown.len() == 1 && unknown[0].to_string().contains("TAMIS_SEARCH_TOP_K?"), "{unknown:?}");

    for (text, said) in [
        (
            "[cut.auto]\nstrictness = 2\n",
            "cut.auto.strictness: no such key (did you mean search.cut = \"auto:strictness=…\"?)",
        ),
        ("[cut.top_score.notes]\nflor = 1\n", "(did you mean cut.top_score.notes.floor?)"),
        ("[xyzzy]\nplugh = 1\n", "xyzzy.plugh: no such key; `tamis config` lists them all"),
    ] {
        let message = error(&project(files.write("config.toml", text)));
        assert!(message.contains(said), "{message}");
    }
    let message = tamis::config::unknown_variables(["TAMIS_CUT_TOP_SCORE_WIKI_FLOR"])[0].to_string();
    assert!(message.contains("(did you mean TAMIS_CUT_TOP_SCORE_WIKI_FLOOR?)"), "{message}");
}

#[test]
fn a_checked_in_file_sends_no_text_away_until_it_is_trusted() {
    let files = Files::new();
    let model = "[models.team]\nprovider = \"openai\"\nurl = \"https://example.com/v1\"\nmodel = \"m\"\n";
    let path = files.write("config.toml", &format!("[index]\nmodels = [\"static\", \"team\"]\n{model}"));
    let load = || Config::load(&project(path.clone()), Some(files.user().to_owned()));
    assert_says(load().expect_err("refused"), &["https://example.com/v1", "tamis trust"]);
    trust::trust(files.user(), &path).expect("trusted");
    load().expect("trusted");
    files.write("config.toml", &format!("[index]\nmodels = [\"static\", \"team\"]\n# changed\n{model}"));
    load().expect_err("a changed file is not trusted");

    // Nor may it choose a remote model that the user has defined for other projects.
    let user = files.write("user.toml", model);
    let chooser = files.write("chooser.toml", "[search]\nmodel = \"team\"\n");
    let origins = Origins { user: Some(user.clone()), project: Some(chooser), ..Origins::default() };
    Config::load(&origins, Some(files.user().to_owned())).expect_err("the project chose it");
    let own = Origins { user: Some(user), ..Origins::default() };
    Config::load(&own, None).expect("the user's own model is the user's own choice");
}
