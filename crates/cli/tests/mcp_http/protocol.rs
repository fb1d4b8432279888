//! The protocol's and JSON-RPC's rules on bytes that are not a message, on batches, and on the end of a session.

use crate::support::{Server, Session, initialize, token, two_served_namespaces};
use serde_json::{Value, json};

#[test]
fn a_session_that_is_ended_says_so_and_is_gone() {
    let (_root, server) = two_served_namespaces();
    let session = Session::open(&server, None, "2025-06-18");
    let ended = session.send("DELETE", "");
    assert_eq!((ended.status, ended.body.as_str()), (204, ""), "{ended:?}");
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }).to_string();
    assert_eq!([session.send("POST", &list).status, session.send("DELETE", "").status], [404, 404]);
}

#[test]
fn a_client_that_accepts_anything_is_answered_and_a_browser_is_told_where_it_is() {
    let (_root, server) = two_served_namespaces();
    let initialize = initialize("2025-06-18");
    let host = ("Host", "localhost");
    for path in ["/mcp", "/mcp/"] {
        for accept in [Some("*/*"), Some("application/*, text/*;q=0.5"), None] {
            let mut headers = vec![host, ("Content-Type", "application/json")];
            headers.extend(accept.map(|accept| ("Accept", accept)));
            let opened = server.request(&format!("POST {path} HTTP/1.1"), &headers, &initialize.to_string());
            assert!(opened.status == 200 && opened.body.contains("serverInfo"), "{path} {accept:?}: {opened:?}");
        }
        let refused = [host, ("Content-Type", "application/json"), ("Accept", "text/html")];
        assert_eq!(server.request(&format!("POST {path} HTTP/1.1"), &refused, &initialize.to_string()).status, 406);
        let looked = server.request(&format!("GET {path} HTTP/1.1"), &[host, ("Accept", "text/html,*/*;q=0.8")], "");
        assert_eq!((looked.status, looked.header("allow")), (405, Some("POST")), "{looked:?}");
        assert!(looked.body.contains("Model Context Protocol"), "{looked:?}");
    }
}

#[test]
fn bytes_that_are_no_message_are_answered_as_json_rpc_says() {
    let (_root, server) = two_served_namespaces();
    let session = Session::open(&server, None, "2025-06-18");
    let plain = Session::none(&server, None);
    for session in [&session, &plain] {
        for (body, code, id) in [
            ("{", -32700, Value::Null),
            ("nonsense", -32700, Value::Null),
            ("{\"jsonrpc\":\"2.0\",\"id\":7,", -32700, Value::Null),
            ("[]", -32600, Value::Null),
            ("5", -32600, Value::Null),
            ("{\"jsonrpc\":\"1.0\",\"id\":\"a\",\"method\":\"ping\"}", -32600, json!("a")),
        ] {
            let reply = session.send("POST", body);
            assert_eq!(reply.status, 400, "{body}: {reply:?}");
            assert_eq!(reply.header("content-type"), Some("application/json"));
            let answer = reply.json();
            assert_eq!((answer["error"]["code"].as_i64(), &answer["id"]), (Some(code), &id), "{body}: {answer}");
        }
    }
    let half = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"search","arguments":{"query":"oven \ud83d"}}}"#;
    let reply = session.send("POST", half);
    assert!(reply.status == 200 && reply.body.contains("220 degrees"), "{reply:?}");
    // A body that is not declared as JSON is another error.
    let headers =
        [("Host", "localhost"), ("Accept", "application/json, text/event-stream"), ("Content-Type", "text/plain")];
    assert_eq!(server.request("POST /mcp HTTP/1.1", &headers, "{").status, 415);
}

#[test]
fn batches_are_refused_in_every_version() {
    let (_root, server) = two_served_namespaces();
    let batch = json!([{ "jsonrpc": "2.0", "id": 11, "method": "ping" }]).to_string();
    for session in [
        Session::open(&server, None, "2025-03-26"),
        Session::open(&server, None, "2025-06-18"),
        Session::none(&server, None),
    ] {
        let reply = session.send("POST", &batch);
        assert_eq!((reply.status, &reply.json()["error"]["code"]), (400, &json!(-32600)), "{reply:?}");
        assert!(reply.body.contains("send each message separately"), "{reply:?}");
    }
}

#[test]
fn a_session_or_token_says_who_opens_what() {
    let (root, server) = two_served_namespaces();
    let call = |id: u64, tool: &str, arguments: Value| {
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": arguments } })
            .to_string()
    };
    let opened = || {
        let stats = crate::support::tamis(&root).args(["stats", "--json"]).output().expect("it runs");
        let stats: Value = serde_json::from_slice(&stats.stdout).expect("JSON");
        stats["opened"]["passages"].as_u64().expect("a count")
    };
    let (one, other) = (Session::open(&server, None, "2025-06-18"), Session::open(&server, None, "2025-06-18"));
    let query = json!({ "query": "how hot should the oven be", "namespace": "open" });
    assert!(one.send("POST", &call(2, "search", query.clone())).body.contains("220 degrees"));
    let get = call(3, "get", json!({ "id": "open:note.md" }));
    assert!(other.send("POST", &get).body.contains("220 degrees"));
    assert_eq!(opened(), 0, "another session's search is not credited");
    // Without a session, each connection is somebody else.
    server.call(None, "search", query.clone());
    server.call(None, "get", json!({ "id": "open:note.md" }));
    assert_eq!(opened(), 0);
    one.send("POST", &get);
    assert_eq!(opened(), 1);
    drop(server);

    let (first, second) =
        (token(&root, &["first", "--namespace", "open"]), token(&root, &["second", "--namespace", "open"]));
    let server = Server::start(&root, &["--no-refresh"]);
    server.call(Some(&first), "search", query);
    server.call(Some(&second), "get", json!({ "id": "open:note.md" }));
    assert_eq!(opened(), 1, "another token's search is not credited");
    server.call(Some(&first), "get", json!({ "id": "open:note.md" }));
    assert_eq!(opened(), 2);
}
