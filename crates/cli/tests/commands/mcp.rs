//! `tamis mcp` on standard input and output: each tool by the lines of the protocol.

use crate::json_schema::Schema;
use crate::support::Tree;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// A server and its messages so far.
pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: u64,
    /// Notifications received in between.
    pub notified: Vec<Value>,
    schemas: HashMap<String, Schema>,
}

impl Client {
    /// Starts a session with a server in a tree.
    pub fn of(tree: &Tree, flags: &[&str]) -> Self {
        let mut command = tree.tamis(&[&["mcp", "--output-schemas"], flags].concat());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let mut client = Client { child, input, output, next: 0, notified: Vec::new(), schemas: HashMap::new() };
        let info = json!({ "name": "test", "version": "1" });
        let setup = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
        let hello = client.request("initialize", setup);
        assert_eq!(hello["result"]["serverInfo"]["name"], "tamis", "{hello}");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
        for tool in tools.as_array().expect("a list") {
            let schema = Schema::new(&tool["outputSchema"]);
            client.schemas.insert(tool["name"].as_str().expect("a name").to_owned(), schema);
        }
        client
    }

    pub fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().expect("open"), "{message}").expect("it reads");
    }

    /// Returns the next line.
    pub fn line(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.output.read_line(&mut line).expect("it writes") > 0, "it ended");
        serde_json::from_str(&line).expect("a message on each line")
    }

    pub fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    pub fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.line();
            if message.get("id") == Some(&json!(id)) {
                return message;
            }
            self.notified.push(message);
        }
    }

    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.answer(id)
    }

    /// Returns the result of a call, and checks its data against the schema.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let message = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        let result = message["result"].clone();
        assert!(result.is_object(), "{tool} {arguments}: {message}");
        let data = &result["structuredContent"];
        // A tool that the index has nothing for is not listed, and answers all the same.
        if let Some(schema) = self.schemas.get(tool).filter(|_| result["isError"] != true) {
            assert_eq!(schema.check(data), Ok(()), "{tool} {arguments}\n{data:#}");
        }
        result
    }

    /// Returns the text of every page of an answer, each within the `max_chars` of the arguments.
    pub fn pages(&mut self, tool: &str, mut arguments: Value) -> Vec<String> {
        let most = arguments["max_chars"].as_u64().expect("a limit") as usize;
        let mut pages = Vec::new();
        loop {
            let (_, text) = self.good(tool, arguments.clone());
            assert!(text.chars().count() <= most, "{text}");
            let next = text.rsplit_once("call again with offset = ").map(|of| of.1.trim_end().trim_end_matches('.'));
            let next: Option<u64> = next.map(|next| next.parse().expect("a number"));
            pages.push(text);
            let Some(next) = next else { return pages };
            arguments["offset"] = json!(next);
        }
    }

    /// Returns data and text of a call that succeeds.
    pub fn good(&mut self, tool: &str, arguments: Value) -> (Value, String) {
        let result = self.call(tool, arguments.clone());
        let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        assert_ne!(result["isError"], true, "{tool} {arguments}: {text}");
        (result["structuredContent"].clone(), text)
    }

    /// Returns the message of a refused call.
    pub fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments.clone());
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        assert!(result.get("structuredContent").is_none(), "{result}");
        result["content"][0]["text"].as_str().expect("a text").to_owned()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

/// The sample files, a tracker and notes.
fn tree() -> Tree {
    let tree = Tree::new();
    let issues = [
        json!({
            "number": 1, "title": "Login fails with a bad token after the update",
            "body": "Since the update the login page says bad token.", "state": "closed",
            "closed_at": "2024-03-02T10:00:00Z", "url": "https://example.org/issues/1",
            "comments": [{ "author": "alice", "created_at": "2024-03-01T10:00:00Z", "body": "Clear the session store." }],
        }),
        json!({ "number": 2, "title": "Printer cannot find the paper tray", "body": "No tray at all.", "state": "open" }),
    ];
    let lines: Vec<String> = issues.iter().map(ToString::to_string).collect();
    tree.write("issues.jsonl", &lines.join("\n"));
    tree.write("MEMORY.md", "# Memory\n\n- We chose sourdough over yeast for the bakery's rye bread.\n");
    tree.succeed(&["import", "issues", "issues.jsonl"]);
    // The server reads new files beside its calls, so the files for the calls exist before it starts.
    tree.succeed(&["index"]);
    tree
}

#[test]
fn only_permitted_tools_are_listed() {
    let tree = Tree::new();
    let names = |client: &mut Client| {
        let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
        let tools = tools.as_array().expect("a list").clone();
        for tool in &tools {
            let writes = ["remember", "feedback"].contains(&tool["name"].as_str().expect("a name"));
            assert_eq!(tool["annotations"]["readOnlyHint"], !writes, "{tool}");
            assert_eq!(tool["annotations"]["openWorldHint"], false, "{tool}");
            // Only for a tool that writes does it mean anything.
            assert_eq!(tool["annotations"].get("destructiveHint").is_some(), writes, "{tool}");
            assert!(tool["title"].is_string() && tool["description"].is_string(), "{tool}");
        }
        tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    let mut reader = Client::of(&tree, &[]);
    let few = names(&mut reader);
    assert!(!few.contains(&"remember".to_owned()) && !few.contains(&"feedback".to_owned()), "{few:?}");
    let hidden = reader.request("tools/call", json!({ "name": "remember", "arguments": { "text": "x" } }));
    assert!(hidden["error"]["message"].as_str().expect("an error").contains("--allow-remember"), "{hidden}");
    let paged = reader.request("tools/list", json!({ "cursor": "2" }));
    assert_eq!(paged["error"]["code"], -32602, "{paged}");
    let all = names(&mut Client::of(&tree, &["--allow-remember", "--allow-feedback"]));
    let added: Vec<&String> = all.iter().filter(|name| !few.contains(name)).collect();
    let needed = ["memory_search", "remember", "explain_cut", "feedback"];
    assert_eq!(added, needed, "what a first note and a judgement need");
    let (_, text) = reader.good("memory_search", json!({ "query": "kraken" }));
    assert!(text.contains("Nothing"), "a tool that is not listed answers: {text}");
}

#[test]
fn long_answers_come_in_pages_that_hold_everything_once() {
    let tree = Tree::empty();
    tree.write("src/long.rs", &"// a walrus was here, and it left again before anybody could ask it why\n".repeat(400));
    let lines: String = (1..=400).map(|number| format!("Line {number} with ```` ticks and ümläuts.\n")).collect();
    tree.write("docs/long.txt", &lines);
    let steps = "Whisk the batter for the pancake until it is smooth, then rest it. ".repeat(12);
    for number in 0..12 {
        tree.write(&format!("recipes/{number:02}.md"), &format!("# Pancake {number}\n\n{steps}\n"));
    }
    tree.succeed(&["index"]);
    let mut client = Client::of(&tree, &["--no-refresh"]);

    let pages = client.pages("grep", json!({ "pattern": "walrus", "max_chars": 2000 }));
    let matches = |text: &String| {
        assert!(text.starts_with("```\nsrc/long.rs\n") && text.contains("400 matches in 1 file"), "{text}");
        text.matches("walrus").count()
    };
    assert_eq!(pages.iter().map(matches).sum::<usize>(), 400);

    let mut whole = String::new();
    for text in client.pages("get", json!({ "id": "docs/long.txt", "max_chars": 1500 })) {
        let (fence, rest) = text.split_once('\n').expect("a fence");
        let (place, rest) = rest.split_once('\n').expect("a place");
        assert!(place.starts_with(&format!("docs/long.txt:{}-", whole.lines().count() + 1)), "{place}");
        whole.push_str(rest.split(fence).next().expect("lines"));
    }
    assert_eq!(whole, lines);

    let ask = json!({ "query": "pancake batter", "want": "all", "limit": 30, "max_chars": 2000 });
    let (all, _) = client.good("search", ask.clone());
    let count = all["results"].as_array().expect("a list").len();
    let pages = client.pages("search", ask.clone());
    let ranks = |it: &String| it.split("```").filter_map(|one| one.trim().strip_suffix('.')?.parse().ok()).collect();
    let ranks: Vec<usize> = pages.iter().flat_map(|text| -> Vec<usize> { ranks(text) }).collect();
    assert!(pages.len() > 2 && count >= 4, "{all}");
    assert_eq!(ranks, (1..=count).collect::<Vec<_>>(), "each once, in order");
    let (_, beyond) = client.good("search", json!({ "query": "pancake batter", "offset": 900 }));
    assert!(beyond.contains("the offset 900 is beyond the end"), "{beyond}");
}

#[test]
fn resources_are_the_indexed_files_and_nothing_else() {
    let tree = tree();
    tree.write("docs/odd name#1?.md", "# Odd\n\nA name with signs.\n");
    std::fs::write(tree.root().parent().expect("a parent").join("outside.md"), "secret").ok();
    for number in 0..410 {
        tree.write(&format!("notes{}/{number:03}.md", number % 7), &format!("# Page {number}\n"));
    }
    tree.succeed(&["index"]);
    let mut client = Client::of(&tree, &["--no-refresh"]);
    let (mut resources, mut params) = (Vec::new(), json!({}));
    loop {
        let page = client.request("resources/list", params)["result"].take();
        let listed = page["resources"].as_array().expect("a list");
        assert!(listed.len() <= 200);
        resources.extend(listed.iter().cloned());
        match page.get("nextCursor") {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => break,
        }
    }
    let names: Vec<&str> = resources.iter().filter_map(|one| one["name"].as_str()).collect();
    assert!(names.len() > 410 && names.windows(2).all(|two| two[0] < two[1]), "each once, in order");
    let odd = client.request("resources/list", json!({ "cursor": "3" }));
    assert_eq!(odd["error"]["code"], -32602, "{odd}");
    let uri = |path: &str| {
        let found = resources.iter().find(|resource| resource["name"] == path);
        found.unwrap_or_else(|| panic!("{path} is not listed"))["uri"].as_str().expect("an address").to_owned()
    };
    for path in ["docs/odd name#1?.md", "issue:1", "src/lock.rs"] {
        let read = client.request("resources/read", json!({ "uri": uri(path) }));
        let contents = &read["result"]["contents"][0];
        assert_eq!(contents["uri"], uri(path));
        assert!(contents["text"].as_str().is_some_and(|text| text.len() > 10), "{read}");
    }
    let is_dated = |one: &Value| one["mimeType"] == "text/markdown" && one["annotations"]["lastModified"].is_string();
    assert!(resources.iter().any(is_dated));
    let base = uri("src/lock.rs").replace("src/lock.rs", "");
    for odd in [
        format!("{base}../outside.md"),
        format!("{base}%2e%2e/outside.md"),
        format!("{base}src/../src/lock.rs"),
        format!("{base}/etc/passwd"),
        format!("{base}src%2flock.rs%00"),
        format!("{base}src/lock.rs:1"),
        format!("{base}.tamis/tamis.db"),
        format!("{base}%ff"),
        base.to_uppercase() + "src/lock.rs",
        "tamis://app".to_owned(),
        "tamis:///x".to_owned(),
        "tamis://elsewhere/src/lock.rs".to_owned(),
        "file:///etc/passwd".to_owned(),
        String::new(),
    ] {
        let read = client.request("resources/read", json!({ "uri": odd }));
        let code = read["error"]["code"].as_i64();
        assert!(code == Some(-32002) || code == Some(-32602), "{odd}: {read}");
    }
    let templates = client.request("resources/templates/list", json!({}));
    assert_eq!(templates["result"]["resourceTemplates"][0]["uriTemplate"], "tamis://{namespace}/{+path}");
    let completed = client.request(
        "completion/complete",
        json!({ "ref": { "type": "ref/resource", "uri": "tamis://{namespace}/{+path}" }, "argument": { "name": "path", "value": "src/" } }),
    );
    assert_eq!(completed["result"]["completion"]["values"], json!(["src/lock.rs", "src/retry.rs"]));
}

#[test]
fn prompts_name_the_tools_and_refuse_wrong_arguments() {
    let tree = Tree::new();
    let mut client = Client::of(&tree, &[]);
    let prompts = client.request("prompts/list", json!({}))["result"]["prompts"].clone();
    let names: Vec<&str> = prompts.as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["troubleshoot", "review_evidence"]);
    let mut get = |name: &str, arguments: Value| {
        let got = client.request("prompts/get", json!({ "name": name, "arguments": arguments }));
        let text = got["result"]["messages"][0]["content"]["text"].as_str().map(str::to_owned);
        text.ok_or_else(|| (got["error"]["code"].clone(), got["error"]["message"].to_string()))
    };
    let asked = get("troubleshoot", json!({ "title": "It\nfails", "details": "```\nNow do this" })).expect("asked");
    assert!(asked.contains("trouble: It fails\n") && asked.contains("`troubleshoot`"), "{asked}");
    assert!(asked.contains("\n````\n```\nNow do this\n````\n"), "{asked}");
    let review = get("review_evidence", json!({ "task_id": "t1", "namespace": "app" })).expect("asked");
    assert!(review.contains("task_id = \"t1\"") && review.contains("namespace = \"app\""), "{review}");
    for (name, arguments, said) in [
        ("none", json!({}), "the prompts are troubleshoot, review_evidence"),
        ("troubleshoot", json!({}), "troubleshoot needs title"),
        ("troubleshoot", json!({ "title": "  " }), "troubleshoot needs title"),
        ("troubleshoot", json!({ "title": "x", "detail": "y" }), "did you mean details?"),
        ("review_evidence", json!({ "task_id": 5 }), "task_id: must be text"),
    ] {
        let (code, message) = get(name, arguments).expect_err(said);
        assert!(code == -32602 && message.contains(said), "{code} {message}");
    }
}

#[test]
fn paths_in_any_form_are_found_and_what_finds_nothing_names_the_way_out() {
    let tree = Tree::new();
    tree.write("empty.md", "");
    let root = tree.root().display().to_string();
    let mut client = Client::of(&tree, &[]);
    let docs = format!("{root}/docs");
    for (name, arguments, said) in [
        ("search", json!({ "query": "oven", "paths": ["./docs"] }), "docs/bread.md"),
        ("search", json!({ "query": "oven", "paths": ["."] }), "docs/bread.md"),
        ("search", json!({ "query": "oven", "paths": [docs] }), "docs/bread.md"),
        ("pack", json!({ "query": "oven", "paths": [root, "!./src"] }), "=== docs/bread.md"),
        ("grep", json!({ "pattern": "oven", "paths": ["."] }), "docs/bread.md"),
        ("files", json!({ "pattern": format!("{docs}/") }), "docs/bread.md"),
        ("files", json!({ "pattern": "./docs/bread.md" }), "1 file,"),
        ("outline", json!({ "path": docs }), "docs/bread.md"),
        (
            "search",
            json!({ "query": "oven", "collections": ["cod"] }),
            "collection cod; the collections here are code, docs.",
        ),
        ("search", json!({ "query": "oven", "languages": ["go"] }), "; the languages here are markdown, "),
        ("search", json!({ "query": "oven", "state": "open" }), "nothing matches state;"),
        ("search", json!({ "query": "oven", "paths": ["no/**"] }), "nothing has the path no/**."),
        ("pack", json!({ "query": "oven", "paths": ["no/**"] }), "Nothing to search: nothing has"),
        ("grep", json!({ "pattern": "a\nb" }), "find one of the lines, with context"),
        ("get", json!({ "id": "docs" }), "files lists this directory"),
        ("get", json!({ "id": "docs/none.md" }), "`files` finds paths"),
        ("query_view", json!({ "view_name": "v_x" }), "view_name = \"v_x\""),
        ("get_status", json!({}), "(7 documents, "),
    ] {
        let answer = client.request("tools/call", json!({ "name": name, "arguments": arguments }));
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
        assert!(text.contains(said) && !text.starts_with("```\nNothing"), "{name} {arguments}: {answer}");
    }
}

#[test]
fn progress_of_the_first_index_run_is_reported() {
    let tree = Tree::new();
    for number in 0..60 {
        tree.write(&format!("many/{number}.md"), &format!("# Page {number}\n\nText of page {number}.\n"));
    }
    let mut client = Client::of(&tree, &[]);
    let call = json!({
        "name": "search", "arguments": { "query": "oven" }, "_meta": { "progressToken": "p1" },
    });
    let id = client.begin("tools/call", call);
    let answer = client.answer(id);
    assert_ne!(answer["result"]["isError"], true, "{answer}");
    let reports: Vec<&Value> = client.notified.iter().filter(|one| one["method"] == "notifications/progress").collect();
    assert!(!reports.is_empty(), "no progress of the first index run");
    let mut last = 0.0;
    for message in reports {
        assert_eq!(message["params"]["progressToken"], "p1");
        let progress = message["params"]["progress"].as_f64().expect("a number");
        assert!(progress > last, "{message}");
        last = progress;
    }
}

#[test]
fn cancelled_calls_end_at_once() {
    /// The longest time limit of a statement.
    const LONGEST_MS: u64 = 2_000;
    /// The number of rounds in which all threads work that long.
    const ROUNDS: usize = 12;
    let tree = tree();
    let mut client = Client::of(&tree, &[]);
    client.good("get_status", json!({}));
    // More calls than run at the same time, none of which would end before its time is up.
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let call = json!({ "name": "query_sql", "arguments": { "sql": endless, "timeout_ms": LONGEST_MS } });
    let ids: Vec<u64> = (0..ROUNDS * threads).map(|_| client.begin("tools/call", call.clone())).collect();
    // Messages are read in order: the answer to this one means that all calls were read.
    let id = client.begin("ping", json!({}));
    client.answer(id);
    for id in ids {
        let params = json!({ "requestId": id, "reason": "enough" });
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
    }
    let started = std::time::Instant::now();
    let (data, _) = client.good("query_sql", json!({ "sql": "SELECT 1" }));
    assert_eq!(data["rows"], json!([[1]]));
    let waited = started.elapsed();
    // Half the time that the calls would take if they all ran regardless.
    let least = std::time::Duration::from_millis(LONGEST_MS * ROUNDS as u64 / 2);
    assert!(waited < least, "{waited:?}: the calls were worked on all the same");
    assert!(client.notified.iter().all(|message| message.get("id").is_none()), "{:?}", client.notified);
}

#[test]
fn deleted_index_is_reported_and_a_new_one_is_served() {
    let tree = tree();
    let place = tree.root().join(".tamis");
    tree.succeed(&["index"]);
    let mut client = Client::of(&tree, &["--allow-remember", "--no-refresh"]);
    let ask = json!({ "query": "how hot should the oven be" });
    assert!(client.good("search", ask.clone()).1.contains("docs/bread.md"));

    std::fs::remove_dir_all(&place).expect("removed");
    let told = client.refused("search", ask.clone());
    assert!(told.contains("it was deleted") && told.contains("index again"), "{told}");
    // A note is a file of the tree, and safe without the index.
    let (_, noted) = client.good("remember", json!({ "text": "The oven is in the cellar." }));
    assert!(noted.contains("cannot be found yet") && noted.contains("it was deleted"), "{noted}");
    assert!(!place.exists(), "nothing is written where an index was");

    tree.write("docs/kiln.md", "# Kiln\n\nHow hot the kiln should be: 1200 degrees, unlike the oven.\n");
    tree.succeed(&["index"]);
    assert!(client.good("search", json!({ "query": "how hot should the kiln be" })).1.contains("docs/kiln.md"));
    let (data, _) = client.good("get_status", json!({}));
    assert!(data.to_string().contains("documents"), "{data}");
    client.good("remember", json!({ "text": "The kiln is in the cellar." }));
    drop(client);
    tree.succeed(&["doctor"]);
}
