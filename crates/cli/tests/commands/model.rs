//! `tamis model`: from a hub in this process to an answer of a search.

#[path = "../../../tamis/tests/library/hub/models.rs"]
mod models;
#[path = "../../../tamis/tests/library/hub/server.rs"]
mod server;

use crate::support::{Tree, good, run};
use models::{bert, reader, table};
use server::{COMMIT, Hub};
use std::fs;
use std::process::Command;

const NAME: &str = "house/tiny-table";

/// A user's tree, and a hub with three models.
fn start() -> (Tree, Hub) {
    let hub = Hub::start(&[(NAME, table()), ("house/e5-small-tiny", bert("cls")), ("house/reader", reader())]);
    (Tree::new(), hub)
}

/// The command, with the hub in its environment and the models of the configuration.
fn tamis(tree: &Tree, hub: &Hub, arguments: &[&str]) -> Command {
    let mut command = tree.tamis(arguments);
    command.env("HF_ENDPOINT", &hub.url).env_remove("HF_TOKEN").env_remove("TAMIS_INDEX_MODELS");
    command
}

fn user_file(tree: &Tree) -> String {
    fs::read_to_string(tree.home().join("config.toml")).unwrap_or_default()
}

#[test]
fn a_model_is_added_used_and_removed() {
    let (tree, hub) = start();
    fs::write(tree.home().join("config.toml"), "# mine\n[search]\ntop_k = 7 # seven\n").expect("written");
    let (code, out, err) = run(tamis(&tree, &hub, &["model", "list"]));
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    let (out, err) = good(tamis(&tree, &hub, &["model", "add", NAME]));
    for part in [
        "added house/tiny-table 0011223344\n",
        "  licence   apache-2.0\n",
        "  vectors   8 dimensions; reads whole texts\n",
        "  prefixes  none\n",
        "  [models.tiny-table]\n",
        "  [index]\n  models = [\"static\", \"tiny-table\"]\n",
    ] {
        assert!(out.contains(part), "{part} is not in:\n{out}");
    }
    assert_eq!(err, "", "no progress without a terminal");
    let table = format!("[models.tiny-table]\nprovider = \"hub\"\nmodel = \"{NAME}\"\nrevision = \"{COMMIT}\"\n");
    assert_eq!(user_file(&tree), format!("# mine\n[search]\ntop_k = 7 # seven\n\n{table}"));

    // Nothing is used before the user says so.
    let (out, _) = good(tamis(&tree, &hub, &["search", "--json", "how hot must the oven be"]));
    assert!(!out.contains("hub:house"), "{out}");
    let (out, err) = good(tamis(&tree, &hub, &["model", "add", NAME, "--use", "--json"]));
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((&json["was_there"], &json["name"]), (&true.into(), &"tiny-table".into()));
    assert_eq!(json["dimension"], 8);
    assert_eq!(json["files"].as_array().map(Vec::len), Some(3));
    assert!(user_file(&tree).ends_with("[index]\nmodels = [\"static\", \"tiny-table\"]\n"), "{}", user_file(&tree));
    assert!(err.contains("the next `tamis index`"), "{err}");

    hub.requests();
    good(tamis(&tree, &hub, &["index"]));
    let (out, _) = good(tamis(&tree, &hub, &["search", "--json", "--no-gate", "how hot must the oven be"]));
    let answer: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert!(answer["model"].as_str().is_some_and(|model| model.starts_with("hub:house/tiny-table#")), "{answer}");
    assert_eq!(answer["results"][0]["path"], "docs/bread.md");
    assert_eq!(hub.requests().len(), 0, "only `model add` asks a hub");
    let (code, out, err) = run(tamis(&tree, &hub, &["doctor"]));
    assert!(code == 0 && out.contains("ok: model tiny-table: works"), "{out}{err}");

    let (out, _) = good(tamis(&tree, &hub, &["model", "list"]));
    assert!(out.contains("tiny-table  house/tiny-table  0011223344  8 dimensions"), "{out}");
    let (out, _) = good(tamis(&tree, &hub, &["model", "show", "tiny-table"]));
    assert!(out.contains("model.safetensors from model.safetensors, "), "{out}");
    assert!(out.contains("  name      tiny-table in "), "{out}");

    let (out, _) = good(tamis(&tree, &hub, &["model", "remove", "tiny-table"]));
    assert!(out.starts_with("removed house/tiny-table 0011223344, ") && out.contains("its name tiny-table"), "{out}");
    let user = user_file(&tree);
    assert!(!user.contains("tiny-table") && user.contains("top_k = 7 # seven"), "{user}");
    assert_eq!(run(tamis(&tree, &hub, &["model", "remove", NAME])).0, 1);
    assert_eq!(run(tamis(&tree, &hub, &["model", "show", NAME])).0, 1);
}

#[test]
fn a_projects_file_names_a_model_and_fetches_none() {
    let (tree, hub) = start();
    let settings = format!(
        "[index]\nmodels = [\"static\", \"ours\"]\n\n[models.ours]\nprovider = \"hub\"\nmodel = \"{NAME}\"\nrevision = \"{COMMIT}\"\n"
    );
    tree.write(".tamis/config.toml", &settings);
    let (out, err) = good(tamis(&tree, &hub, &["search", "how hot must the oven be"]));
    let remedy = format!("run `tamis model add {NAME}@{COMMIT}`");
    assert!(err.contains(&remedy) && out.contains("bread.md"), "{out}{err}");
    let (code, out, _) = run(tamis(&tree, &hub, &["doctor"]));
    assert!(code == 1 && out.contains(&remedy), "{out}");
    assert_eq!(hub.requests().len(), 0);

    // The command that it names makes it work.
    good(tamis(&tree, &hub, &["model", "add", &format!("{NAME}@{COMMIT}")]));
    assert!(tamis(&tree, &hub, &["index"]).output().expect("runs").status.success());
    let (_, out, _) = run(tamis(&tree, &hub, &["search", "--json", "how hot must the oven be"]));
    assert!(out.contains("hub:house/tiny-table#"), "{out}");

    tree.write(".tamis/config.toml", &settings.replace(NAME, "../../etc"));
    let (code, _, err) = run(tamis(&tree, &hub, &["search", "oven"]));
    assert!(code == 2 && err.contains("models.ours.model") && err.contains("OWNER/NAME"), "{err}");
}

#[test]
fn a_project_gets_the_name_with_a_flag_and_a_reranker_judges() {
    let (tree, hub) = start();
    let (out, _) = good(tamis(&tree, &hub, &["model", "add", "house/e5-small-tiny", "--as", "e5", "--project"]));
    for part in
        ["pooling   cls (1_Pooling/config.json)", "query \"query: \", passage \"passage: \"", "intfloat/e5-base-v2"]
    {
        assert!(out.contains(part), "{part} is not in:\n{out}");
    }
    let project = fs::read_to_string(tree.root().join(".tamis/config.toml")).expect("written");
    assert!(project.contains("[models.e5]") && user_file(&tree).is_empty(), "{project}");

    let (out, _) = good(tamis(&tree, &hub, &["model", "add", "house/reader", "--use"]));
    assert!(out.contains("use       reranker") && out.contains("uses it as rerank.model"), "{out}");
    let user = user_file(&tree);
    assert!(user.contains("reranker = true") && user.contains("[rerank]\nmodel = \"reader\"\n"), "{user}");
    let (code, out, err) = run(tamis(&tree, &hub, &["search", "--json", "--explain", "how hot must the oven be"]));
    assert!(code < 2, "{err}");
    assert!(out.contains("\"judge\":\"hub:house/reader\""), "{out}");
}

#[test]
fn failures_say_what_to_do_and_leave_nothing() {
    let (tree, hub) = start();
    let refused = |arguments: &[&str]| {
        let (code, out, err) = run(tamis(&tree, &hub, arguments));
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}: {err}");
        assert!(user_file(&tree).is_empty() && !err.contains('\u{1b}'), "{err:?}");
        err
    };
    assert!(refused(&["model", "add", "house/none"]).contains("check the name, or set HF_TOKEN"));
    assert!(refused(&["model", "add", "../../etc"]).contains("OWNER/NAME"));
    assert!(refused(&["model", "add", NAME, "--as", "static"]).contains("that name is taken"));
    assert!(refused(&["model", "add", NAME, "--file", "pytorch_model.bin"]).contains("neither .onnx nor .safetensors"));
    let mut offline = tamis(&tree, &hub, &["model", "add", NAME]);
    offline.env("HF_ENDPOINT", "http://127.0.0.1:9");
    let (code, _, err) = run(offline);
    assert!(code == 2 && err.contains("is there a connection to the network?") && !err.contains("kept"), "{err}");
    let mut token = tamis(&tree, &hub, &["model", "add", NAME]);
    token.env("HF_TOKEN", "sesame\u{1}open");
    let (code, _, err) = run(token);
    assert!(code == 2 && err.contains("HF_TOKEN") && !err.contains("sesame"), "{err}");

    // A name that is taken keeps its model, and another name helps.
    fs::write(tree.home().join("config.toml"), "[models.tiny-table]\nprovider = \"directory\"\npath = \"m\"\n")
        .expect("written");
    let (code, _, err) = run(tamis(&tree, &hub, &["model", "add", NAME]));
    assert!(code == 2 && err.contains("--as NAME") && err.contains("another model"), "{err}");
    assert_eq!(run(tamis(&tree, &hub, &["model", "add", NAME, "--as", "tiny"])).0, 0);
}
