//! Every route answers, and as the command does.

use crate::json_schema::Schema;
use crate::served::{command, get, post, send, serve, served_kitchen};
use serde_json::{Value, json};
use std::path::Path;

/// A value without what differs between two runs: identifiers, times and the entry point.
fn stable(mut value: Value) -> Value {
    if let Some(object) = value.as_object_mut() {
        for key in ["query_id", "timings_ms", "elapsed_ms"] {
            object.remove(key);
        }
        if let Some(index) = object.get_mut("index").and_then(Value::as_object_mut) {
            // The command looks for changed files, and the server does so in the background.
            index.remove("stale");
        }
    }
    // The score of a note falls with every second of its age, and that of a duplicate with the time between the two.
    rounded(&mut value);
    value
}

fn rounded(value: &mut Value) {
    match value {
        Value::Object(object) => object.values_mut().for_each(rounded),
        Value::Array(values) => values.iter_mut().for_each(rounded),
        Value::Number(number) if number.is_f64() => {
            *value = json!((number.as_f64().unwrap_or_default() * 1e5).round() / 1e5);
        }
        _ => {}
    }
}

/// Routes, and the commands that answer the same.
const SAME: &str = r#"
/v1/search?query=how+hot+should+the+oven+be | search --no-refresh 'how hot should the oven be'
/v1/search?query=retry&languages=rs&kinds=function&explain&limit=1&no_gate&want=all | search --no-refresh retry --lang rs --kind function --explain -n 1 --no-gate --want all
/v1/search?query=bread&cut=max_gap&mode=semantic&paths=*.md&context=0&passages=true | search --no-refresh bread --cut max_gap --mode semantic --path '*.md' --context 0 --passages
/v1/search?query=zeppelin | search --no-refresh zeppelin
/v1/search?query=xylophones&no_gate | search --no-refresh xylophones --no-gate
/v1/search?query=error&collections=issues&states=closed&types=issue&since=2024-01-01 | search --no-refresh error --collection issues --state closed --type issue --since 2024-01-01
/v1/search?query=how+hot+should+the+oven+be&strict | search --no-refresh 'how hot should the oven be' --strict
/v1/search?query=who+won+the+football+world+cup | search --no-refresh 'who won the football world cup'
/v1/search?query=who+won+the+football+world+cup&all&limit=2 | search --no-refresh 'who won the football world cup' --all -n 2
/v1/search?query=who+won+the+football+world+cup&cut=off&limit=2 | search --no-refresh 'who won the football world cup' --cut off -n 2
/v1/search?query=how+hot+is+the+oven+-bread | search --no-refresh 'how hot is the oven -bread'
/v1/search?query=oven+-jar+kitchn/oven.md | search --no-refresh 'oven -jar kitchn/oven.md'
/v1/recall?query=when+do+we+bake | recall --no-refresh 'when do we bake'
/v1/documents?path=oven.md:3 | get oven.md:3
/v1/documents?path=src/retry.rs&context=1 | get src/retry.rs --context 1
/v1/documents/src%2Fretry.rs:2 | get src/retry.rs:2
/v1/documents/1 | get 1
/v1/related?id=src/retry.rs:2 | related --no-refresh src/retry.rs:2
/v1/pack?query=how+hot+should+the+oven+be | pack --no-refresh 'how hot should the oven be'
/v1/grep?pattern=retry_%5Cw%2B&context=1 | grep --no-refresh -C 1 --limit 1000 'retry_\w+'
/v1/files?pattern=src/ | files --no-refresh src/
/v1/outline?path=src/retry.rs | outline --no-refresh src/retry.rs
/v1/troubleshoot?issue=2&threshold=0.1 | troubleshoot --no-refresh --issue 2 --threshold 0.1
/v1/duplicates?number=2 | duplicates --no-refresh 2
/v1/evidence/rank?claim=c1 | evidence rank c1 --no-refresh
/v1/evidence/search?query=folic+acid&min_similarity=0.1 | evidence search 'folic acid' --min-similarity 0.1 --no-refresh
/v1/evidence/views | evidence views
/v1/evidence/views/v_evidence_chain?task=t1 | evidence view v_evidence_chain --task t1
/v1/evidence/sql?sql=SELECT+text+FROM+claims+WHERE+id=:id&parameters=id=c1 | evidence sql 'SELECT text FROM claims WHERE id=:id' --param id=c1
"#;

#[test]
fn routes_answer_as_their_commands_do() {
    let (root, server) = served_kitchen();
    for line in SAME.trim().lines() {
        let (path, arguments) = line.split_once(" | ").expect("a route and a command");
        let answer = get(&server, path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        assert_eq!(answer.header("content-type"), Some("application/json"), "{path}");
        assert!(answer.bytes.ends_with(b"}\n") || answer.bytes.ends_with(b"]\n"), "{path}: one line, as printed");
        let arguments = shlex::split(arguments).expect("closed quotes");
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).chain(["--json"]).collect();
        assert_eq!(stable(answer.json()), stable(command(&root, &arguments)), "{path}");
    }
    let found = get(&server, "/v1/search?query=how+hot+should+the+oven+be").json();
    assert!(found["results"][0]["path"] == "oven.md" && found["query_id"].is_string(), "{found}");
    // Text that could steer a reader comes as escapes, as on the command line.
    let hidden = get(&server, "/v1/documents?path=hidden.md");
    assert!(hidden.body.contains("\\u202e") && !hidden.body.contains('\u{202e}'), "{}", hidden.body);
}

#[test]
fn a_body_says_the_same_as_a_query_string() {
    let (_root, server) = served_kitchen();
    for line in r#"
/v1/search query=retry&languages=rust&limit=2&no_gate=true {"query":"retry","languages":"rust","limit":"2","no_gate":"true"}
/v1/recall query=bread {"query":"bread"}
/v1/pack query=oven&budget_tokens=100 {"query":"oven","budget_tokens":100}
/v1/grep pattern=oven&fixed_strings {"pattern":"oven","fixed_strings":true}
/v1/troubleshoot title=Error+E7 {"title":"Error E7"}
/v1/duplicates title=Error+E7&body=The+oven+turns+off {"title":"Error E7","body":"The oven turns off"}
/v1/evidence/search query=strokes {"query":"strokes"}
/v1/evidence/sql sql=SELECT+1 {"sql":"SELECT 1"}
/v1/evidence/views/v_contradictions limit=5 {"limit":5}
"#
    .trim()
    .lines()
    {
        let [path, query, body] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let body = serde_json::from_str(body).expect("JSON");
        let (by_get, by_post) = (get(&server, &format!("{path}?{query}")), post(&server, path, &body));
        assert_eq!((by_get.status, by_post.status), (200, 200), "{path}: {} {}", by_get.body, by_post.body);
        assert_eq!(stable(by_get.json()), stable(by_post.json()), "{path}");
    }
}

#[test]
fn writing_routes_are_off_until_they_are_allowed() {
    let (root, server) = served_kitchen();
    let note = json!({ "text": "The bread needs two hours." });
    for (path, body, flag) in [
        ("/v1/feedback", json!({ "query_id": "x", "ids": ["1"], "relevant": true }), "--allow-feedback"),
        ("/v1/remember", note.clone(), "--allow-remember"),
    ] {
        let refused = post(&server, path, &body);
        assert_eq!(refused.status, 403, "{path}: {}", refused.body);
        assert!(refused.json()["detail"].as_str().is_some_and(|detail| detail.contains(flag)), "{}", refused.body);
    }
    let server = serve(&root, &["--allow-feedback", "--allow-remember"]);
    let found = get(&server, "/v1/search?query=how+hot+should+the+oven+be").json();
    let judged =
        post(&server, "/v1/feedback", &json!({ "query_id": found["query_id"], "ids": ["1"], "relevant": true }));
    assert_eq!(judged.status, 200, "{}", judged.body);
    assert_eq!(judged.json()[0]["relevance"], "relevant", "{}", judged.body);
    let listed = command(&root, &["feedback", "--list", "--json"]);
    assert!(listed.as_array().is_some_and(|list| list.iter().any(|one| one["relevant"] == 1)), "{listed}");
    let id = judged.json()[0]["passage"].clone();
    for (said, status) in
        [(json!({ "relevant": false, "take_back": true }), 400), (json!({}), 400), (json!({ "take_back": true }), 200)]
    {
        let mut body = json!({ "query_id": found["query_id"], "ids": [id] });
        body.as_object_mut().expect("an object").extend(said.as_object().cloned().expect("an object"));
        let answered = post(&server, "/v1/feedback", &body);
        assert_eq!(answered.status, status, "{said}: {}", answered.body);
    }
    let listed = command(&root, &["feedback", "--list", "--json"]);
    assert!(listed.as_array().is_some_and(|list| list.iter().all(|one| one["relevant"] == 0)), "{listed}");
    let noted = post(&server, "/v1/remember", &note);
    assert_eq!(noted.status, 200, "{}", noted.body);
    let file = root.join(noted.json()["path"].as_str().expect("a path"));
    assert!(std::fs::read_to_string(file).is_ok_and(|text| text.contains("two hours")));
    let recalled = get(&server, "/v1/recall?query=how+long+does+the+bread+need").json();
    assert!(recalled["results"].to_string().contains("two hours"), "{recalled}");
}

#[test]
fn figures_of_past_queries_and_of_the_index() {
    let (root, server) = served_kitchen();
    for _ in 0..3 {
        assert_eq!(get(&server, "/v1/search?query=how+hot+should+the+oven+be").status, 200);
    }
    get(&server, "/v1/search?query=zeppelin");
    let stats = get(&server, "/v1/stats?since=1d");
    assert_eq!(stats.status, 200, "{}", stats.body);
    assert_eq!(stats.json()["queries"], 4, "{}", stats.body);
    assert_eq!(stats.json(), command(&root, &["stats", "--json", "--since", "1d"]));
    let searches = get(&server, "/v1/feedback?limit=3");
    assert_eq!(searches.json(), command(&root, &["feedback", "--list", "--json", "--limit", "3"]));
    assert_eq!(searches.json().as_array().map(Vec::len), Some(3), "{}", searches.body);
    let replay = get(&server, "/v1/replay?cuts=max_gap&cuts=fixed:k=2");
    assert_eq!(replay.json(), command(&root, &["stats", "--json", "--replay", "max_gap", "--replay", "fixed:k=2"]));
    let status = get(&server, "/v1/status").json();
    let mut expected = command(&root, &["status", "--json"]);
    // The command and the server count their own log, which both write.
    expected["sizes"] = status["sizes"].clone();
    assert_eq!(status, expected);
    let namespaces = get(&server, "/v1/namespaces").json();
    assert_eq!(namespaces[0]["name"], status["namespace"], "{namespaces}");
    assert_eq!(namespaces[0]["passages"], status["namespaces"][0]["passages"], "{namespaces}");
}

#[test]
fn lists_of_other_engines_are_cut_many_at_a_time() {
    let (root, server) = served_kitchen();
    let scores = [0.91, 0.90, 0.2, 0.19, 0.18];
    let entries = json!([{ "score": 0.5 }, { "score": 0.49 }]);
    let lists = json!([{ "scores": scores }, { "entries": entries }, { "scores": [] }]);
    let answer = post(&server, "/v1/cut", &json!({ "lists": lists }));
    assert_eq!(answer.status, 200, "{}", answer.body);
    let answer = answer.json();
    assert_eq!(answer["lists"].as_array().map(Vec::len), Some(3));
    assert_eq!((&answer["lists"][0]["keep"], &answer["lists"][2]["keep"]), (&json!(2), &json!(0)), "{answer}");
    // One list comes out as `tamis cut --json` has it.
    let input: String = scores.iter().map(|score| format!("{score}\n")).collect();
    assert_eq!(answer["lists"][0], cut(&root, &["--json"], &input));
    // Both retrievers, fused by a weight of the caller's.
    let retrievers = json!({ "method": "fixed:k=1", "fusion_weight": 0.1, "kept_only": true, "lists": [{ "entries": [
        { "similarity": 0.9, "bm25": 1.0 }, { "similarity": 0.2, "bm25": 9.0 }, { "similarity": 0.1 } ] }] });
    let fused = post(&server, "/v1/cut", &retrievers).json();
    let lines = fused["lists"][0]["lines"].as_array().expect("lines");
    assert!(lines.len() == 1 && lines[0]["line"] == 2 && lines[0]["kept"] == true, "{fused}");
    // Distances, in any order.
    let distances =
        json!({ "method": "fixed:k=1", "lower_is_better": true, "sort": true, "lists": [{ "scores": [0.8, 0.1] }] });
    assert_eq!(post(&server, "/v1/cut", &distances).json()["lists"][0]["lines"][0]["line"], 2);
    // Groups count once and go together.
    let grouped = json!({ "method": "fixed:k=2", "lists": [{ "entries": [
        { "score": 0.9, "group": "a" }, { "score": 0.8, "group": "a" }, { "score": 0.7 }, { "score": 0.6, "group": "b" }, { "score": 0.5, "group": "a" } ] }] });
    let grouped = post(&server, "/v1/cut", &grouped).json();
    let list = &grouped["lists"][0];
    let lines: Vec<Value> =
        list["lines"].as_array().expect("lines").iter().map(|it| json!([it["line"], it["kept"]])).collect();
    assert_eq!(json!(lines), json!([[1, true], [2, true], [5, true], [3, true], [4, false]]), "{grouped}");
    assert_eq!((&list["keep"], &list["candidates"]), (&json!(2), &json!(3)), "{grouped}");
    for line in r#"
{"lists":[{"scores":[1,2]}]} | entry 2: 2 is better than 1 before it
{"lists":[{"scores":[1]},{"entries":[{"score":1},{"bm25":2}]}]} | list 2: entry 2: no score, which entry 1 has
{"lists":[{"entries":[{"text":"x"}]}]} | entry 1: no score, similarity or bm25
{"lists":[{"scors":[1]}]} | unknown field `scors`
{"lists":[{"scores":[1,null]}]} | lists[0].scores = [1,null]: must be a list
{"lists":[{"entries":[{"score":null}]}]} | lists[0].entries[0].score = null: must be a number
{"lists":[]} | lists = []: must be a list of 1 to 10000
{"lists":[{"scores":[1]}],"method":"otsu","target_recall":0.5} | not supported by the cut otsu
{"lists":[{"scores":[1]}],"method":"ots"} | method: unknown cut method
{"lists":[{"scores":[1],"judge":"x"}]} | unknown field `judge`
{"lists":[{"scores":[1],"background":1,"background_sample":[{"score":1}]}]} | without background_sample
"#
    .trim()
    .lines()
    {
        let (body, said) = line.split_once(" | ").expect("a body and what is said");
        let body: Value = serde_json::from_str(body).expect("JSON");
        let refused = post(&server, "/v1/cut", &body);
        let detail = refused.json()["detail"].as_str().unwrap_or_default().to_owned();
        assert!(refused.status == 400 && detail.contains(said), "{body}: {}", refused.body);
    }
}

fn cut(root: &Path, arguments: &[&str], input: &str) -> Value {
    use std::io::Write;
    use std::process::Stdio;
    let mut command = crate::support::tamis(root);
    command.arg("cut").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("it starts");
    child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("written");
    serde_json::from_slice(&child.wait_with_output().expect("it ends").stdout).expect("JSON")
}

#[test]
fn the_description_is_committed_and_holds_for_real_answers() {
    let (root, server) = served_kitchen();
    let served = get(&server, "/v1/openapi.json");
    assert_eq!(served.status, 200);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/openapi.json");
    let committed = std::fs::read_to_string(path).expect("the document is committed");
    let printed = crate::support::tamis(&root).args(["schema", "openapi"]).output().expect("it runs").stdout;
    let changed = "the API changed; write it down: tamis schema openapi > docs/schema/openapi.json";
    assert!(printed == committed.as_bytes(), "{changed}");
    let document: Value = serde_json::from_str(&committed).expect("JSON");
    assert_eq!(served.json(), document);
    for path in [
        "search?query=oven&explain", "search?query=zeppelin", "documents/oven.md", "related?id=src/retry.rs:2",
        "grep?pattern=oven", "files", "outline?path=src", "troubleshoot?title=error+E7", "duplicates?number=2",
        "evidence/rank?claim=c1", "evidence/views", "evidence/sql?sql=SELECT+*+FROM+claims",
        "evidence/sql?sql=SELECT+1&schema", "stats", "replay?cuts=auto", "status", "namespaces",
    ] {
        let path = format!("/v1/{path}");
        let answer = get(&server, &path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        let template = path.split('?').next().unwrap_or_default().replace("oven.md", "{id}");
        let operation = &document["paths"][&template]["get"];
        assert!(operation.is_object(), "{template}");
        let schema = &operation["responses"]["200"]["content"]["application/json"]["schema"];
        let mut whole = json!({ "components": document["components"], "allOf": [schema] });
        whole["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
        assert_eq!(Schema::new(&whole).check(&answer.json()), Ok(()), "{path}");
    }
}

#[test]
fn answers_are_compressed_tagged_and_not_sent_twice() {
    use std::io::Read;
    let (root, server) = served_kitchen();
    let plain = get(&server, "/v1/status");
    let gzip = send(&server, "GET /v1/status", &[("Accept-Encoding", "gzip")], "");
    assert_eq!((plain.header("content-encoding"), gzip.header("content-encoding")), (None, Some("gzip")));
    assert!(gzip.bytes.len() < plain.bytes.len());
    let mut whole = Vec::new();
    flate2::read::GzDecoder::new(&gzip.bytes[..]).read_to_end(&mut whole).expect("gzip");
    assert_eq!(serde_json::from_slice::<Value>(&whole).expect("JSON")["namespaces"], plain.json()["namespaces"]);
    let short = send(&server, "GET /v1/documents?path=oven.md", &[("Accept-Encoding", "gzip")], "");
    assert_eq!(short.header("content-encoding"), None, "too short to pay");
    for path in ["/v1/cut", "/mcp"] {
        let headers = [("Content-Encoding", "gzip"), ("Content-Type", "application/json")];
        let refused = send(&server, &format!("POST {path}"), &headers, "not gzip either");
        assert!(refused.status == 415 && refused.body.contains("uncompressed"), "{path}: {refused:?}");
    }
    for path in
        ["/v1/documents?path=oven.md", "/v1/files", "/v1/outline?path=src", "/v1/openapi.json", "/v1/namespaces"]
    {
        let first = get(&server, path);
        let tag = first.header("etag").unwrap_or_else(|| panic!("{path} has no tag")).to_owned();
        assert_eq!(first.header("cache-control"), Some("private, no-cache"), "{path}");
        let again = send(&server, &format!("GET {path}"), &[("If-None-Match", &tag)], "");
        assert_eq!((again.status, again.body.len(), again.header("etag")), (304, 0, Some(tag.as_str())), "{path}");
        let other = send(&server, &format!("GET {path}"), &[("If-None-Match", "\"x\"")], "");
        assert_eq!(other.status, 200, "{path}");
    }
    let search = get(&server, "/v1/search?query=oven");
    assert_eq!((search.header("etag"), search.header("cache-control")), (None, Some("no-store")));
    let head = send(&server, "HEAD /v1/documents?path=oven.md", &[], "");
    assert_eq!((head.status, head.body.len()), (200, 0));
    // A change of the index changes the tag.
    let before = get(&server, "/v1/files").header("etag").expect("a tag").to_owned();
    std::fs::write(root.join("new.md"), "# New\n\nSomething new.\n").expect("written");
    assert!(crate::support::tamis(&root).args(["index", "-q"]).status().expect("it runs").success());
    let after = send(&server, "GET /v1/files", &[("If-None-Match", &before)], "");
    assert!(after.status == 200 && after.header("etag") != Some(before.as_str()), "{}", after.head);
}
