//! A remote model: the behaviour while it answers, and when it does not.

use crate::support::{Tree, run};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread::JoinHandle;

/// An embeddings endpoint that makes a vector from the letters of each text.
struct Endpoint {
    address: String,
    asked: Arc<AtomicUsize>,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Endpoint {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let (asked, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, end) = (asked.clone(), ended.clone());
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if end.load(SeqCst) {
                    break;
                }
                // A client that went away is not ours.
                let _ = stream.map(|stream| answer(stream, &count));
            }
        });
        Endpoint { address, asked, ended, thread: Some(thread) }
    }

    /// Stops listening.
    fn stop(&mut self) {
        self.ended.store(true, SeqCst);
        // Wakes the thread, which then closes the port.
        let _ = TcpStream::connect(&self.address);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("ended");
        }
    }

    fn asked(&self) -> usize {
        self.asked.load(SeqCst)
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.stop();
    }
}

/// One request and its answer; the connection is then closed.
fn answer(stream: TcpStream, asked: &AtomicUsize) {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    let request: Value = serde_json::from_slice(&body).expect("JSON");
    let texts = request["input"].as_array().expect("texts").iter().map(|text| text.as_str().expect("a text"));
    let data: Vec<Value> = texts
        .enumerate()
        .map(|(index, text)| serde_json::json!({ "index": index, "embedding": letters(text) }))
        .collect();
    asked.fetch_add(1, SeqCst);
    let body = serde_json::json!({ "data": data }).to_string();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
    let _ = write!(reader.into_inner(), "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
}

fn letters(text: &str) -> Vec<f64> {
    let mut vector = vec![0.1; 26];
    for byte in text.bytes().filter(u8::is_ascii_alphabetic) {
        vector[usize::from(byte.to_ascii_lowercase() - b'a')] += 1.0;
    }
    vector
}

/// A tree whose user has a model at this address, besides the quick one. Nothing is indexed.
fn tree(address: &str, further: &str) -> Tree {
    let tree = Tree::new();
    let settings = format!(
        "[index]\nmodels = [\"static\", \"far\"]\n[models.far]\nprovider = \"openai\"\nurl = \"http://{address}/v1\"\n\
         model = \"letters\"\nmax_retries = 0\n{further}"
    );
    std::fs::write(tree.home().join("config.toml"), settings).expect("written");
    tree
}

fn command(tree: &Tree, arguments: &[&str]) -> (i32, String, String) {
    let mut command = tree.tamis(arguments);
    command.env_remove("TAMIS_INDEX_MODELS");
    // Letters say little about a subject: relevance by them is not the subject of this test.
    command.env("TAMIS_SEARCH_GATE", "false").env("TAMIS_SEARCH_CUT", "fixed:k=3");
    run(command)
}

fn json(tree: &Tree, arguments: &[&str]) -> (Value, String) {
    let (code, out, err) = command(tree, arguments);
    assert_eq!(code, 0, "{arguments:?}: {err}");
    (serde_json::from_str(&out).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {out}")), err)
}

/// With the dimension configured and without: in the second case only the endpoint knows it.
const DIMENSIONS: [&str; 2] = ["", "dimension = 26\n"];

#[test]
fn an_unreachable_model_ends_no_search_and_is_said() {
    for further in DIMENSIONS {
        let mut endpoint = Endpoint::start();
        let tree = tree(&endpoint.address, further);
        let (report, _) = json(&tree, &["index", "--json"]);
        assert!(report["embedded"]["far"].as_u64() > Some(0), "{report}");
        let (answer, err) = json(&tree, &["search", "--json", "how hot should the oven be"]);
        assert!(answer["model"].as_str().is_some_and(|model| model.contains("letters")), "{answer}{err}");
        let asked = endpoint.asked();
        assert!(asked > 0);

        endpoint.stop();
        let reason = |answer: &Value| answer["fallback_reason"].as_str().unwrap_or_default().to_owned();
        let (answer, err) = json(&tree, &["search", "--json", "how hot should the oven be"]);
        assert_eq!((&answer["mode_used"], &answer["model"]), (&"hybrid".into(), &"static-256-v2".into()), "{answer}");
        for part in ["model far cannot be used", "refused"] {
            assert!(reason(&answer).contains(part), "{answer}");
            assert!(err.contains("warning:") && err.contains(part), "{err}");
        }

        tree.write("docs/tides.md", "# Tides\n\nSpring tides follow the new moon, and the oven stays cold.\n");
        let ask = |further: &[&str]| {
            let (answer, err) = json(&tree, &[&["search", "--json", "spring tides"], further].concat());
            assert_eq!(answer["results"][0]["path"], "docs/tides.md", "{further:?}: {answer}");
            assert!(!err.contains("error:"), "{err}");
            (answer, err)
        };
        let (answer, err) = ask(&[]);
        assert_eq!((&answer["mode_used"], &answer["model"]), (&"hybrid".into(), &"static-256-v2".into()), "{answer}");
        assert!(answer["pending_model"].as_str().is_some_and(|text| text.starts_with("far covers")), "{answer}");
        assert_eq!(answer["fallback_reason"], Value::Null, "{answer}");
        assert!(err.contains("warning:") && err.contains("not embedded with far") && err.contains("refused"), "{err}");
        let (answer, _) = ask(&["--mode", "lexical"]);
        assert_eq!((&answer["mode_used"], &answer["fallback_reason"]), (&"lexical".into(), &Value::Null), "{answer}");
        let (answer, _) = ask(&["--model", "static"]);
        assert_eq!((&answer["mode_used"], &answer["fallback_reason"]), (&"hybrid".into(), &Value::Null), "{answer}");
        let (answer, _) = ask(&["--mode", "semantic"]);
        assert_eq!((&answer["mode_used"], &answer["model"]), (&"semantic".into(), &"static-256-v2".into()), "{answer}");
        let (answer, _) = ask(&["--model", "far"]);
        assert!(reason(&answer).contains("model far cannot be used"), "{answer}");
        assert_eq!((&answer["mode_used"], &answer["model"]), (&"lexical".into(), &Value::Null), "words alone");
    }
}

#[test]
fn an_unreachable_model_ends_no_other_command() {
    let mut endpoint = Endpoint::start();
    let tree = tree(&endpoint.address, "");
    assert_eq!(command(&tree, &["index"]).0, 0);
    endpoint.stop();
    tree.write("docs/tides.md", "# Tides\n\nSpring tides follow the new moon.\n");

    let (report, err) = json(&tree, &["index", "--json"]);
    assert_eq!((&report["changed"], &report["pending"]["far"]), (&1.into(), &1.into()), "{report}");
    assert!(report["unusable"]["far"].as_str().is_some_and(|reason| reason.contains("refused")), "{report}");
    assert!(err.contains("warning:") && err.contains("1 passage not embedded with far"), "{err}");

    tree.write("issues.json", r#"[{"number": 1, "title": "Oven stays cold", "body": "It does not heat."}]"#);
    tree.write("docs/garden.md", "# Garden\n\nNothing grows in the shade.\n");
    for arguments in [
        &["status", "--json"][..],
        &["import", "issues", "issues.json", "--json"],
        &["related", "docs/bread.md:7", "--json"],
        &["duplicates", "1", "--json"],
        &["remember", "the oven needs a new seal", "--json"],
        &["recall", "seal of the oven", "--json"],
        &["doctor", "--json"],
    ] {
        tree.write("docs/changed.md", &format!("# Changed\n\nBefore {}.\n", arguments.join(" ")));
        let (code, out, err) = command(&tree, arguments);
        assert!(code < 2, "{arguments:?}: {code} {err}");
        assert!(!err.contains("error:"), "{arguments:?}: {err}");
        assert!(serde_json::from_str::<Value>(&out).is_ok(), "{arguments:?}: {out}");
    }
    let (code, _, err) = command(&tree, &["troubleshoot", "--title", "the oven does not heat", "--json"]);
    assert!(code < 2 && !err.contains("error:"), "{code} {err}");
}

#[test]
fn nothing_is_asked_of_a_model_where_nothing_is_missing() {
    let mut endpoint = Endpoint::start();
    let tree = tree(&endpoint.address, "");
    assert_eq!(command(&tree, &["index"]).0, 0);
    let asked = endpoint.asked();
    for arguments in
        [&["index"][..], &["status"], &["search", "--mode", "lexical", "oven"], &["related", "docs/bread.md:7"]]
    {
        let (code, _, err) = command(&tree, arguments);
        assert_eq!(code, 0, "{arguments:?}: {err}");
    }
    assert_eq!(endpoint.asked(), asked);
    endpoint.stop();
    let (code, _, err) = command(&tree, &["index"]);
    assert_eq!((code, err.contains("warning")), (0, false), "{err}");
}

#[test]
fn a_model_that_moved_is_used_where_it_is_now() {
    let mut endpoint = Endpoint::start();
    let tree = tree(&endpoint.address, "");
    assert_eq!(command(&tree, &["index"]).0, 0);
    endpoint.stop();
    tree.write("docs/tides.md", "# Tides\n\nSpring tides follow the new moon.\n");
    assert_eq!(command(&tree, &["index"]).0, 0);

    let again = Endpoint::start();
    let settings = std::fs::read_to_string(tree.home().join("config.toml")).expect("read");
    let moved = settings.replace(&endpoint.address, &again.address);
    std::fs::write(tree.home().join("config.toml"), moved).expect("written");
    let (report, err) = json(&tree, &["index", "--json"]);
    assert!(report.get("unusable").is_none() && report["pending"] == serde_json::json!({}), "{report}{err}");
}

#[test]
fn a_key_that_is_not_set_is_a_warning_that_names_the_variable() {
    let endpoint = Endpoint::start();
    let tree = tree(&endpoint.address, "api_key_env = \"NO_SUCH_KEY_HERE\"\n");
    let (_, err) = json(&tree, &["index", "--json"]);
    assert!(err.contains("warning:") && err.contains("NO_SUCH_KEY_HERE"), "{err}");
    let (answer, _) = json(&tree, &["search", "--json", "how hot should the oven be"]);
    assert_eq!(answer["results"][0]["path"], "docs/bread.md", "{answer}");
    assert_eq!(endpoint.asked(), 0);
}
