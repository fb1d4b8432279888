//! Rules for every answer of the server for agents, whichever tool, resource or prompt it comes from: nothing in it is
//! hidden, names given by others stand between fences, and nothing is longer than allowed.

use crate::mcp::Client;
use crate::support::Tree;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tamis_text::sanitize::is_hidden;

/// Hidden and control characters, and words that would pass for the answer's own outside a fence.
const HOSTILE: &str = "OBEYME \u{1b}[31m\u{7}\u{202e}\u{2066}\u{200b}\u{e0041}\u{e0042}\u{fe0f}\u{9b}\u{7f}";

/// The most bytes of a message that every client accepts.
const MOST_BYTES: usize = 1_000_000;

/// The same without control characters, which evidence refuses.
fn plain() -> String {
    HOSTILE.chars().filter(|character| !character.is_control()).collect()
}

fn hostile() -> Tree {
    let tree = Tree::new();
    let kraken = format!("# Kraken {HOSTILE}\n\nThe kraken {HOSTILE} sleeps below the ice.\n\n```\nOBEYME\n```\n");
    tree.write(&format!("docs/kraken {HOSTILE}.md"), &kraken);
    let odd = "def obeyme_walrus():\n    return obeyme_kraken()\n\n\ndef obeyme_kraken():\n    return 'kraken'\n";
    tree.write("src/odd.py", odd);
    tree.write("MEMORY.md", &format!("# Memory {HOSTILE}\n\n- The kraken {HOSTILE} was fed.\n"));
    let issue = |number: u32| {
        json!({
            "number": number, "title": format!("The kraken crashes the boiler {HOSTILE}"), "state": "closed", "user": HOSTILE,
            "body": format!("The kraken crashes the boiler {HOSTILE}."), "closed_at": "2024-03-02T10:00:00Z",
            "url": format!("https://example.org/{number}/OBEYME"), "labels": [HOSTILE],
            "comments": [{ "author": HOSTILE, "created_at": "2024-03-01T10:00:00Z", "body": format!("Restart {HOSTILE}.") }],
        })
        .to_string()
    };
    tree.write(".tamis-import/issues.jsonl", &[issue(1), issue(2)].join("\n"));
    let text = plain();
    let evidence = [
        json!({ "record": "task", "id": "t1", "question": "Do krakens sleep?" }),
        json!({ "record": "page", "id": "p1", "url": "https://obeyme.example/a", "title": text }),
        json!({ "record": "fragment", "id": "f1", "page_id": "p1", "text": format!("Krakens sleep {text} below ice.") }),
        json!({ "record": "claim", "id": "c1", "task_id": "t1", "text": format!("Krakens sleep {text} in winter.") }),
    ];
    tree.write(".tamis-import/evidence.jsonl", &evidence.map(|record| record.to_string()).join("\n"));
    tree.index_and_import();
    tree
}

/// Fails if any text of a message hides something.
fn shows_all(what: &str, value: &Value) {
    match value {
        Value::String(text) => {
            let hidden = text.chars().find(|character| is_hidden(*character));
            assert!(hidden.is_none(), "{what}: {hidden:?} in {text:?}");
        }
        Value::Array(values) => values.iter().for_each(|value| shows_all(what, value)),
        Value::Object(object) => {
            for (key, value) in object {
                shows_all(what, &Value::String(key.clone()));
                shows_all(what, value);
            }
        }
        _ => {}
    }
}

/// A text without the parts between its fences.
fn outside(text: &str) -> String {
    let mut open: Option<&str> = None;
    let mut kept = String::new();
    for line in text.lines() {
        let is_fence = line.len() >= 3 && line.chars().all(|character| character == '`');
        match open {
            None if is_fence => open = Some(line),
            Some(fence) if fence == line => open = None,
            Some(_) => {}
            None => kept.extend([line, "\n"]),
        }
    }
    assert!(open.is_none(), "a fence is open: {text}");
    kept
}

/// Calls of every tool that make it quote other people's text, and its own arguments.
fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("search", json!({ "query": "kraken" })),
        ("search", json!({ "query": "kraken boiler", "collections": ["issues"] })),
        ("search", json!({ "query": "obeyme_walrus" })),
        ("search", json!({ "query": "krakens sleep", "collections": ["evidence"] })),
        ("search", json!({ "query": "kraken", "namespace": HOSTILE })),
        ("search", json!({ "query": "kraken", "languages": [HOSTILE] })),
        ("search", json!({ "query": "kraken", "since": HOSTILE })),
        ("search", json!({ "query": HOSTILE, HOSTILE: 1 })),
        ("get", json!({ "id": format!("docs/kraken {HOSTILE}.md") })),
        ("get", json!({ "id": "issue:1" })),
        ("get", json!({ "id": "src/odd.py" })),
        ("get", json!({ "id": HOSTILE })),
        ("grep", json!({ "pattern": "kraken", "ignore_case": true, "context": 1 })),
        ("grep", json!({ "pattern": "kraken", "list": "files", "namespace": HOSTILE })),
        ("grep", json!({ "pattern": HOSTILE })),
        ("grep", json!({ "pattern": HOSTILE, "literal": true, "paths": [HOSTILE] })),
        ("files", json!({})),
        ("files", json!({ "pattern": HOSTILE, "details": true })),
        ("outline", json!({ "path": "." })),
        ("outline", json!({ "path": "src/odd.py" })),
        ("outline", json!({ "path": HOSTILE })),
        ("pack", json!({ "query": "kraken" })),
        ("pack", json!({ "query": "kraken", "paths": [HOSTILE] })),
        ("related", json!({ "id": "src/odd.py:1", "by": "reference" })),
        ("related", json!({ "id": "src/odd.py:1" })),
        ("related", json!({ "id": HOSTILE })),
        ("troubleshoot", json!({ "title": "The kraken crashes the boiler" })),
        ("troubleshoot", json!({ "title": HOSTILE, "details": HOSTILE })),
        ("memory_search", json!({ "query": "kraken" })),
        ("memory_search", json!({ "query": "kraken", "topic": HOSTILE })),
        ("remember", json!({ "text": HOSTILE })),
        ("remember", json!({ "text": "x", "topic": HOSTILE })),
        ("remember", json!({ "text": "The walrus was fed." })),
        ("vector_search", json!({ "query": "krakens sleep in winter", "min_similarity": 0 })),
        ("vector_search", json!({ "query": "krakens", "target": "fragments", "min_similarity": 0 })),
        ("vector_search", json!({ "query": "krakens", "cutoff": HOSTILE })),
        ("query_sql", json!({ "sql": format!("SELECT text, 1 \"{}\" FROM claims", plain()), "include_schema": true })),
        ("query_sql", json!({ "sql": format!("SELECT \"{}\" FROM claims", plain()) })),
        ("query_sql", json!({ "sql": HOSTILE })),
        ("list_views", json!({})),
        ("query_view", json!({ "view_name": "v_unsupported_claims" })),
        ("query_view", json!({ "view_name": HOSTILE })),
        ("explain_cut", json!({ "query": "kraken" })),
        ("explain_cut", json!({ "query": "kraken", "cut": HOSTILE })),
        ("feedback", json!({ "query_id": HOSTILE, "ids": [HOSTILE], "relevant": true })),
        ("get_status", json!({})),
        ("get_status", json!({ "namespace": HOSTILE })),
    ]
}

fn server(tree: &Tree) -> Client {
    Client::of(tree, &["--no-refresh", "--allow-remember", "--allow-feedback"])
}

#[test]
fn nothing_hides_in_any_answer_and_names_of_others_stand_between_fences() {
    let tree = hostile();
    let mut client = server(&tree);
    let (mut quoted, mut told) = (0, Vec::new());
    for (tool, arguments) in calls() {
        let what = format!("{tool} {arguments}");
        let result = client.call(tool, arguments);
        shows_all(&what, &result);
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{what}: {result}"));
        if result["isError"] == true {
            // An error is on one line, so that none of it can pass for another message, and names by others are fenced.
            assert_eq!(outside(text).lines().count(), 1, "{what}: {text}");
            told.push(text.to_owned());
        } else {
            let own = outside(text);
            assert!(!own.to_lowercase().contains("obeyme"), "{what}: outside of the fences: {own}\nof:\n{text}");
        }
        quoted += usize::from(text.to_lowercase().contains("obeyme"));
        told.extend(result["structuredContent"]["warnings"].as_array().into_iter().flatten().map(Value::to_string));
    }
    // Messages say what an agent can do, and commands are for the user.
    told.push(client.refused("get", json!({ "id": "issue:999" })));
    for message in &told {
        let asks = message.matches("ask the user to run `tamis ").count();
        let remark = message.contains("commands and flags are the user's: ask for them");
        assert!(message.matches("`tamis ").count() == asks || remark, "{message}");
    }
    let unknown = client.refused("get", json!({ "id": "nonesuch.md" }));
    assert!(unknown.contains("`search`"), "{unknown}");
    assert!(quoted > 20, "only {quoted} answers quoted anything");
    let tools = client.request("tools/list", json!({}));
    let listed: BTreeSet<&str> =
        tools["result"]["tools"].as_array().expect("a list").iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(calls().iter().map(|(tool, _)| *tool).collect::<BTreeSet<&str>>(), listed, "every tool is called");

    let resources = client.request("resources/list", json!({}));
    shows_all("resources/list", &resources);
    let resources = resources["result"]["resources"].as_array().expect("a list").iter();
    let uris: Vec<&str> = resources.filter_map(|one| one["uri"].as_str()).collect();
    assert!(uris.len() > 5, "{uris:?}");
    for uri in uris {
        let read = client.request("resources/read", json!({ "uri": uri }));
        assert!(read["result"]["contents"][0]["text"].is_string(), "{uri}: {read}");
        shows_all(uri, &read);
    }
    let reference = json!({ "type": "ref/resource", "uri": "tamis://{namespace}/{+path}" });
    for (method, params) in [
        ("resources/read", json!({ "uri": HOSTILE })),
        ("resources/list", json!({ "cursor": HOSTILE })),
        ("resources/templates/list", json!({})),
        ("completion/complete", json!({ "ref": reference, "argument": { "name": "path", "value": "docs/" } })),
        ("prompts/list", json!({})),
        ("prompts/get", json!({ "name": "troubleshoot", "arguments": { "title": HOSTILE, "details": HOSTILE } })),
        ("prompts/get", json!({ "name": "review_evidence", "arguments": { "task_id": HOSTILE } })),
        ("prompts/get", json!({ "name": HOSTILE })),
        ("prompts/get", json!({ "name": "troubleshoot", "arguments": { HOSTILE: "x" } })),
        ("tools/call", json!({ "name": HOSTILE })),
        ("tools/list", json!({})),
        (HOSTILE, json!({})),
    ] {
        let answer = client.request(method, params.clone());
        shows_all(&format!("{method:?} {params}"), &answer);
    }
}

/// A tree whose every part is larger than an answer may be.
fn large() -> Tree {
    let tree = Tree::new();
    let long = "`\"ä\\ kraken ".repeat(40_000);
    let text = "The kraken sleeps \"below\" the `ice`.\n\n".repeat(9000);
    tree.write("docs/large.md", &format!("# Kraken {}\n\n{text}\n", "title ".repeat(500)));
    for number in 0..30 {
        let text = format!("# Kraken {number}\n\nThe kraken {number} sleeps.\n");
        tree.write(&format!("docs/{}/{number}.md", "kraken".repeat(30)), &text);
    }
    let issue = |number: u32| {
        json!({
            "number": number, "title": format!("Kraken {number} {}", "crash ".repeat(400)), "state": "closed",
            "body": "The kraken crashes. ".repeat(2000), "closed_at": "2024-03-02T10:00:00Z",
            "labels": (0..300).map(|label| format!("label {label} {}", "x".repeat(300))).collect::<Vec<_>>(),
        })
        .to_string()
    };
    tree.write(".tamis-import/issues.jsonl", &(1..20).map(issue).collect::<Vec<_>>().join("\n"));
    let mut evidence = vec![
        json!({ "record": "task", "id": "t1", "question": "Do krakens sleep?" }),
        json!({ "record": "page", "id": "p1", "url": "https://kraken.example/a", "title": "Krakens" }),
    ];
    for number in 0..80 {
        let text: String = long.chars().take(9000).collect();
        evidence.push(json!({ "record": "claim", "id": format!("c{number}"), "task_id": "t1", "text": format!("Kraken {number} {text}") }));
    }
    tree.write(".tamis-import/evidence.jsonl", &evidence.iter().map(Value::to_string).collect::<Vec<_>>().join("\n"));
    tree.index_and_import();
    tree
}

#[test]
fn max_chars_bounds_the_text_of_an_answer() {
    let tree = large();
    let mut client = server(&tree);
    let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
    let mut filled = BTreeSet::new();
    let wide = "SELECT *, text AS \"".to_owned() + &"k".repeat(3000) + "\" FROM claims";
    for (tool, arguments) in [
        ("search", json!({ "query": format!("kraken {}", "sleeps ".repeat(900)), "limit": 100, "want": "all" })),
        ("search", json!({ "query": "kraken crash", "collections": ["issues"], "limit": 100, "want": "all" })),
        ("memory_search", json!({ "query": "kraken ".repeat(1000) })),
        ("get", json!({ "id": "docs/large.md" })),
        ("related", json!({ "id": "docs/large.md:3", "limit": 100 })),
        ("troubleshoot", json!({ "title": "A kraken crashes", "details": "kraken ".repeat(3000), "max_results": 10 })),
        ("vector_search", json!({ "query": "kraken", "top_k": 50, "min_similarity": 0 })),
        ("query_sql", json!({ "sql": wide, "limit": 200, "timeout_ms": 2000, "include_schema": true })),
        ("query_sql", json!({ "sql": "SELECT printf('%.*c', 100000, 'k') AS a, 1 AS b", "timeout_ms": 2000 })),
        ("query_view", json!({ "view_name": "v_unsupported_claims", "limit": 200 })),
        ("explain_cut", json!({ "query": "kraken ".repeat(1000), "around": 20 })),
        ("list_views", json!({})),
        ("get_status", json!({})),
    ] {
        let schema =
            tools.as_array().expect("a list").iter().find(|one| one["name"] == tool).expect("a tool")["inputSchema"]
                .clone();
        let bounds = &schema["properties"]["max_chars"];
        let sizes = match bounds["minimum"].as_u64() {
            Some(least) => vec![Some(least), Some(5000), bounds["maximum"].as_u64()],
            None => vec![None],
        };
        for size in sizes {
            let mut arguments = arguments.clone();
            let most = size.unwrap_or(30_000);
            if let Some(size) = size {
                arguments["max_chars"] = json!(size);
            }
            let message = client.request("tools/call", json!({ "name": tool, "arguments": arguments }));
            let what = format!("{tool} with {size:?}");
            let result = &message["result"];
            assert_ne!(result["isError"], true, "{what}: {result}");
            let text = result["content"][0]["text"].as_str().expect("a text").chars().count() as u64;
            let data = result["structuredContent"].to_string().chars().count() as u64;
            assert!(text <= most, "{what}: a text of {text} characters");
            assert!(data <= 500_000, "{what}: data of {data} characters");
            assert!(message.to_string().len() < MOST_BYTES, "{what}: {} bytes", message.to_string().len());
            if text * 2 > most {
                filled.insert(tool);
            }
        }
    }
    // The limit took effect, or the test would mean nothing.
    for tool in ["search", "get", "query_sql", "query_view", "vector_search"] {
        assert!(filled.contains(tool), "{tool} never came near its bound: {filled:?}");
    }
    let (data, text) = client.good("query_sql", json!({ "sql": "SELECT text FROM claims", "limit": 200 }));
    let given = data["row_count"].as_u64().expect("a number");
    assert!(given > 0 && given <= 80, "{given}");
    assert_eq!(data["rows"].as_array().map(|rows| rows.len() as u64), Some(given));
    assert!(text.contains("did not fit") && text.contains("max_chars"), "{text}");

    for (method, params) in [("resources/list", json!({})), ("tools/list", json!({})), ("prompts/list", json!({}))] {
        let message = client.request(method, params).to_string();
        assert!(message.len() < MOST_BYTES, "{method}: {} bytes", message.len());
    }
    let list = client.request("resources/list", json!({}))["result"]["resources"].clone();
    let uri = |path: &str| {
        list.as_array().expect("a list").iter().find(|one| one["name"] == path).expect("listed")["uri"].clone()
    };
    let read = client.request("resources/read", json!({ "uri": uri("docs/large.md") }));
    assert!(read.to_string().len() < MOST_BYTES, "{} bytes", read.to_string().len());
    let text = read["result"]["contents"][0]["text"].as_str().expect("a text");
    assert!(text.contains("more characters: the tool get continues from line "), "{}", &text[text.len() - 300..]);
}

/// A value for an argument with the given size, otherwise as good as any.
fn sized(tool: &str, argument: &str, size: u64) -> Value {
    let size = usize::try_from(size).expect("small");
    json!(match (tool, argument) {
        ("query_sql", "sql") => format!("SELECT 1 --{}", "x".repeat(size.saturating_sub(11))),
        _ => "x".repeat(size),
    })
}

/// The required arguments of each tool.
fn needed(tool: &str) -> Value {
    match tool {
        "grep" => json!({ "pattern": "kraken" }),
        "outline" => json!({ "path": "README.md" }),
        "search" | "pack" | "memory_search" | "explain_cut" | "vector_search" => json!({ "query": "kraken" }),
        "get" => json!({ "id": "README.md" }),
        "related" => json!({ "id": "README.md:1" }),
        "troubleshoot" => json!({ "title": "kraken" }),
        "remember" => json!({ "text": "The kraken was fed." }),
        "query_sql" => json!({ "sql": "SELECT 1" }),
        "query_view" => json!({ "view_name": "v_unsupported_claims" }),
        "feedback" => json!({ "query_id": "x", "ids": ["1"], "relevant": true }),
        _ => json!({}),
    }
}

#[test]
fn limits_of_a_schema_are_the_limits_that_hold() {
    let tree = Tree::indexed();
    let mut client = server(&tree);
    let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
    let mut tried = 0;
    for tool in tools.as_array().expect("a list") {
        let name = tool["name"].as_str().expect("a name");
        for (argument, schema) in tool["inputSchema"]["properties"].as_object().expect("arguments") {
            let with = |client: &mut Client, value: Value| {
                let mut arguments = needed(name);
                arguments[argument] = value;
                let result = client.call(name, arguments);
                let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
                (result["isError"] == true, text)
            };
            let mut limits: Vec<(Value, Value)> = Vec::new();
            if let Some(most) = schema["maxLength"].as_u64() {
                limits.push((sized(name, argument, most), sized(name, argument, most + 1)));
            }
            if let Some(most) = schema["maxItems"].as_u64() {
                let list = |count: u64| json!((0..count).map(|item| format!("x{item}")).collect::<Vec<_>>());
                limits.push((list(most), list(most + 1)));
            }
            for (key, step) in [("minimum", -1.0), ("maximum", 1.0)] {
                if let Some(bound) = schema[key].as_f64() {
                    let whole = schema["type"] == "integer";
                    let value = |value: f64| if whole { json!(value as i64) } else { json!(value) };
                    limits.push((value(bound), value(bound + step)));
                }
            }
            for (within, beyond) in limits {
                tried += 1;
                let (_, said) = with(&mut client, within.clone());
                let refused = said.starts_with(&format!("{argument} = ")) && said.contains(": must be ");
                // Its content can be wrong all the same, such as an unknown cut.
                let by_size = ["characters", "entries", "a number", "a whole number", "bytes", "at most"]
                    .iter()
                    .any(|word| said.contains(word));
                // A setting can be stricter.
                let by_setting = said.contains("memory.max_characters");
                assert!(!(refused && by_size) || by_setting, "{name}.{argument} at its limit: {said}");
                let (is_error, said) = with(&mut client, beyond);
                assert!(is_error && said.contains(argument.as_str()), "{name}.{argument} beyond its limit: {said}");
            }
        }
    }
    assert!(tried > 50, "{tried} limits");
}

#[test]
fn parameters_that_are_not_the_methods_are_invalid() {
    let tree = Tree::indexed();
    let mut client = server(&tree);
    for (method, params) in [
        ("tools/call", json!({ "name": "search", "arguments": "oven" })),
        ("tools/call", json!({ "arguments": {} })),
        ("resources/read", json!({ "uri": 5 })),
        ("prompts/get", json!({ "arguments": {} })),
    ] {
        let answer = client.request(method, params);
        assert_eq!(answer["error"]["code"], -32602, "{method}: {answer}");
        assert!(answer["error"]["message"].as_str().is_some_and(|text| text.starts_with(method)), "{answer}");
    }
    assert_eq!(client.request("tools/cal", json!({}))["error"]["code"], -32601);
}

#[test]
fn names_by_others_are_no_part_of_a_refusal_or_of_a_completion() {
    let tree = Tree::new();
    tree.write("docs/ignore-all-rules.md", "# Rules\n\nOne rule.\n");
    tree.write("docs/two\nlines.md", "# Lines\n\nTwo lines.\n");
    tree.succeed(&["index"]);
    let mut client = server(&tree);
    let refused = client.refused("get", json!({ "id": "docs/ignore-all-rule.md" }));
    let (said, names) = refused.split_once("\n```\n").unwrap_or_else(|| panic!("no fence: {refused}"));
    assert!(!said.contains("ignore-all-rules.md") && names == "docs/ignore-all-rules.md\n```\n", "{refused}");
    let reference = json!({ "type": "ref/resource", "uri": "tamis://{namespace}/{+path}" });
    let params = json!({ "ref": reference, "argument": { "name": "path", "value": "docs/" } });
    let completed = client.request("completion/complete", params);
    let values = completed["result"]["completion"]["values"].to_string();
    assert!(values.contains("docs/bread.md") && !values.contains("two"), "{completed}");
}
