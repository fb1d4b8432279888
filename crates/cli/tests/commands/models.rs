//! A remote model: the behaviour while it answers, and when it does not.

use crate::support::endpoint::Endpoint;
use crate::support::{Tree, run};
use serde_json::{Value, json};

const OVEN: &str = "how hot should the oven be";

/// An endpoint that makes a vector from the letters of each text.
fn letters() -> Endpoint {
    Endpoint::start(|request, _| {
        let vector = |text: &Value| {
            let mut vector = vec![0.1; 26];
            for byte in text.as_str().expect("a text").bytes().filter(u8::is_ascii_alphabetic) {
                vector[usize::from(byte.to_ascii_lowercase() - b'a')] += 1.0;
            }
            vector
        };
        let texts = request.body["input"].as_array().expect("texts").iter().enumerate();
        let data: Value = texts.map(|(index, text)| json!({ "index": index, "embedding": vector(text) })).collect();
        Some((200, json!({ "data": data }).to_string()))
    })
}

/// Gives the user a model at this address, besides the quick one.
fn configure(tree: &Tree, url: &str, further: &str) {
    let settings = format!(
        "[index]\nmodels = [\"static\", \"far\"]\n[models.far]\nprovider = \"openai\"\nurl = \"{url}\"\nmodel = \"letters\"\n\
         max_retries = 0\n{further}"
    );
    std::fs::write(tree.home().join("config.toml"), settings).expect("written");
}

fn command(tree: &Tree, arguments: &[&str]) -> (i32, String, String) {
    let mut command = tree.tamis(arguments);
    command.env_remove("TAMIS_INDEX_MODELS");
    // Letters say little about a subject: relevance by them is not the subject of this test.
    command.env("TAMIS_SEARCH_GATE", "false").env("TAMIS_SEARCH_CUT", "fixed:k=3");
    run(command)
}

/// The JSON of a command that succeeds, and its messages.
fn json(tree: &Tree, arguments: &[&str]) -> (Value, String) {
    let (code, out, err) = command(tree, &[arguments, &["--json"]].concat());
    assert_eq!(code, 0, "{arguments:?}: {err}");
    (serde_json::from_str(&out).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {out}")), err)
}

#[test]
fn unreachable_model_is_reported_and_the_next_one_answers() {
    // With the dimension configured and without: in the second case only the endpoint knows it.
    for further in ["", "dimension = 26\n"] {
        let endpoint = letters();
        let tree = Tree::new();
        configure(&tree, &endpoint.url, further);
        let (report, _) = json(&tree, &["index"]);
        assert!(report["embedded"]["far"].as_u64() > Some(0), "{report}");
        let (answer, err) = json(&tree, &["search", OVEN]);
        assert!(answer["model"].as_str().is_some_and(|model| model.contains("letters")), "{answer}{err}");
        assert!(endpoint.calls() > 0);

        endpoint.stop();
        let (answer, err) = json(&tree, &["search", OVEN]);
        assert_eq!((&answer["mode_used"], &answer["model"]), (&"hybrid".into(), &"static-256-v2".into()), "{answer}");
        for part in ["model far cannot be used", "refused"] {
            assert!(answer["fallback_reason"].as_str().is_some_and(|reason| reason.contains(part)), "{answer}");
            assert!(err.contains("warning:") && err.contains(part), "{err}");
        }

        tree.write("docs/tides.md", "# Tides\n\nSpring tides follow the new moon, and the oven stays cold.\n");
        for (flags, mode, model, fallback) in [
            (&[][..], "hybrid", Some("static-256-v2"), ""),
            (&["--mode", "lexical"], "lexical", None, ""),
            (&["--model", "static"], "hybrid", Some("static-256-v2"), ""),
            (&["--mode", "semantic"], "semantic", Some("static-256-v2"), "model far cannot be used"),
            (&["--model", "far"], "lexical", None, "model far cannot be used"),
        ] {
            let (answer, err) = json(&tree, &[&["search", "spring tides"], flags].concat());
            assert_eq!(answer["results"][0]["path"], "docs/tides.md", "{flags:?}: {answer}");
            assert_eq!((&answer["mode_used"], &answer["model"]), (&json!(mode), &json!(model)), "{flags:?}: {answer}");
            let reason = answer["fallback_reason"].as_str().unwrap_or_default();
            assert!(reason.is_empty() || reason.contains(fallback) && !fallback.is_empty(), "{flags:?}: {answer}");
            assert!(!err.contains("error:"), "{err}");
            if flags.is_empty() {
                let pending = answer["pending_model"].as_str();
                assert!(pending.is_some_and(|text| text.starts_with("far covers")), "{answer}");
                for part in ["warning:", "not embedded with far", "refused"] {
                    assert!(err.contains(part), "{part} is not in {err}");
                }
            }
        }
    }
}

#[test]
fn unreachable_model_fails_no_other_command() {
    let endpoint = letters();
    let tree = Tree::new();
    configure(&tree, &endpoint.url, "");
    assert_eq!(command(&tree, &["index"]).0, 0);
    let asked = endpoint.calls();
    for arguments in
        [&["index"][..], &["status"], &["search", "--mode", "lexical", "oven"], &["related", "docs/bread.md:7"]]
    {
        let (code, _, err) = command(&tree, arguments);
        assert_eq!(code, 0, "{arguments:?}: {err}");
    }
    assert_eq!(endpoint.calls(), asked, "where nothing is missing, no model is asked");
    endpoint.stop();
    let (code, _, err) = command(&tree, &["index"]);
    assert_eq!((code, err.contains("warning")), (0, false), "{err}");

    tree.write("docs/tides.md", "# Tides\n\nSpring tides follow the new moon.\n");
    let (report, err) = json(&tree, &["index"]);
    assert_eq!((&report["changed"], &report["pending"]["far"]), (&1.into(), &1.into()), "{report}");
    assert!(report["unusable"]["far"].as_str().is_some_and(|reason| reason.contains("refused")), "{report}");
    assert!(err.contains("warning:") && err.contains("1 passage not embedded with far"), "{err}");

    tree.write("issues.json", r#"[{"number": 1, "title": "Oven stays cold", "body": "It does not heat."}]"#);
    for arguments in [
        &["status"][..],
        &["import", "issues", "issues.json"],
        &["related", "docs/bread.md:7"],
        &["duplicates", "1"],
        &["remember", "the oven needs a new seal"],
        &["recall", "seal of the oven"],
        &["doctor"],
        &["troubleshoot", "--title", "the oven does not heat"],
    ] {
        tree.write("docs/changed.md", &format!("# Changed\n\nBefore {}.\n", arguments.join(" ")));
        let (code, out, err) = command(&tree, &[arguments, &["--json"]].concat());
        assert!(code < 2 && !err.contains("error:"), "{arguments:?}: {code} {err}");
        assert!(serde_json::from_str::<Value>(&out).is_ok(), "{arguments:?}: {out}");
    }

    // The model that moved is used where it is now.
    let again = letters();
    configure(&tree, &again.url, "");
    let (report, err) = json(&tree, &["index"]);
    assert!(report.get("unusable").is_none() && report["pending"] == json!({}), "{report}{err}");
}

#[test]
fn missing_key_is_a_warning_that_names_the_variable() {
    let (endpoint, tree) = (letters(), Tree::new());
    configure(&tree, &endpoint.url, "api_key_env = \"NO_SUCH_KEY_HERE\"\n");
    let (_, err) = json(&tree, &["index"]);
    assert!(err.contains("warning:") && err.contains("NO_SUCH_KEY_HERE"), "{err}");
    assert_eq!(json(&tree, &["search", OVEN]).0["results"][0]["path"], "docs/bread.md");
    assert_eq!(endpoint.calls(), 0);
}
