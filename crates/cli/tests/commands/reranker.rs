//! A reranker at an endpoint in this process, chosen by a project's configuration.

use crate::support::endpoint::{Endpoint, scores};
use crate::support::{Tree, good, run};
use serde_json::Value;

const QUERY: &str = "heat the oven before baking";

/// An endpoint that takes the second passage for the answer, and refuses whoever has no key.
fn second() -> Endpoint {
    Endpoint::start(|request, _| {
        assert!(request.head.starts_with("POST /v1/rerank "), "{}", request.head);
        let score = |index| if index == 1 { 0.999 } else { 0.001 };
        Some(match request.has_key() {
            true => (200, scores((0..request.documents().len()).map(score))),
            false => (401, "the key \u{1b}[31m is wrong".to_owned()),
        })
    })
}

fn settings(url: &str) -> String {
    format!(
        "[search]\ngate = false\n\n[rerank]\nmodel = \"reader\"\nslope = 0.9\n\n[models.reader]\nprovider = \"rerank\"\nurl = \"{url}\"\n\
         model = \"m\"\napi_key_env = \"READER_KEY\"\n"
    )
}

/// Searches with a key. Returns the answer and what stands on standard error; the key stands in neither.
fn search(tree: &Tree, key: Option<&str>, further: &[&str]) -> (Value, String) {
    let mut command = tree.tamis(&[&["search", "--json", "--explain", QUERY], further].concat());
    if let Some(key) = key {
        command.env("READER_KEY", key);
    }
    let (out, err) = good(command);
    assert!(!out.contains("sesame") && !err.contains("sesame"), "{out}{err}");
    assert!(!err.contains('\u{1b}'), "{err:?}");
    (serde_json::from_str(&out).expect("JSON"), err)
}

#[test]
fn a_trusted_reranker_decides_and_a_failing_one_is_said() {
    let reranker = second();
    let tree = Tree::indexed();
    tree.write(".tamis/config.toml", &settings(&reranker.url));
    let (code, _, err) = run(tree.tamis(&["search", QUERY]));
    assert_eq!(code, 2);
    assert!(err.contains(&format!("sends text to {}", reranker.url)) && err.contains("tamis trust"), "{err}");
    let (out, _) = tree.succeed(&["trust"]);
    assert!(out.contains(&format!("model reader may send text to {}", reranker.url)), "{out}");

    let (answer, err) = search(&tree, None, &[]);
    assert_eq!(answer["results"][0]["path"], "docs/bread.md", "{answer}");
    assert!(err.contains("decided without rerank:m@") && err.contains("variable READER_KEY"), "{err}");
    let (answer, err) = search(&tree, Some("sesame"), &["--fast"]);
    let second = &answer["pool"][1]["path"];
    assert!(second.is_string() && second != "docs/bread.md", "{answer}");
    assert_eq!((err.as_str(), reranker.calls()), ("", 0), "nothing was sent so far");

    let (answer, err) = search(&tree, Some("sesame"), &[]);
    assert_eq!(&answer["results"][0]["path"], second, "{answer}");
    assert!(answer["cut"]["diagnostics"]["judge"].as_str().is_some_and(|name| name.starts_with("rerank:m@127")));
    // The six likeliest entries, and then the rest, since this reranker is quick.
    assert_eq!((err.as_str(), reranker.calls()), ("", 2));
    let (answer, err) = search(&tree, Some("wrong"), &[]);
    assert_eq!(answer["results"][0]["path"], "docs/bread.md", "{answer}");
    assert!(err.contains("warning:") && err.contains("check the API key"), "{err}");
    assert!(answer["warnings"][0].as_str().is_some_and(|warning| warning.contains("rerank:m@127")), "{answer}");
}

#[test]
fn an_evaluation_asks_it_and_ends_when_it_fails() {
    let reranker = second();
    let tree = Tree::empty();
    std::fs::write(tree.home().join("config.toml"), settings(&reranker.url)).expect("written");
    let texts = ["Turn the compost heap every month.", "Heat the oven before baking.", "The moon raises the tides."];
    let corpus = texts.iter().zip(1..).map(|(text, at)| format!("{{\"_id\":\"d{at}\",\"text\":\"{text}\"}}\n"));
    tree.write("test/corpus.jsonl", &corpus.collect::<String>());
    tree.write("test/queries.jsonl", &format!("{{\"_id\":\"q1\",\"text\":\"{QUERY}\"}}\n"));
    tree.write("test/qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\n");
    let eval = |key: &str| {
        let mut command = tree.tamis(&["eval", "test", "--judge", "--cut", "auto", "--json"]);
        command.env("READER_KEY", key);
        run(command)
    };
    let (code, out, err) = eval("sesame");
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("judge rerank:m@127.0.0.1") && err.contains("judge rerank:m@127.0.0.1"), "{out}{err}");
    assert!(reranker.calls() > 0);
    let (code, out, err) = eval("wrong");
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("rerank:m@127.0.0.1") && err.contains("check the API key"), "{err}");
}

#[test]
fn a_doctor_asks_it() {
    let reranker = second();
    let tree = Tree::indexed();
    std::fs::write(tree.home().join("config.toml"), settings(&reranker.url)).expect("written");
    let doctor = |key: &str| {
        let mut command = tree.tamis(&["doctor"]);
        command.env("READER_KEY", key);
        run(command)
    };
    let (code, out, err) = doctor("sesame");
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("ok: reranker rerank:m@127.0.0.1"), "{out}");
    let (code, out, _) = doctor("wrong");
    assert_eq!(code, 1);
    assert!(out.contains("wrong: reranker rerank:m@") && out.contains("check the API key"), "{out}");
}
