//! The progress of indexing as a stream of events, and reading the tree on demand.

use crate::served::{get, kitchen, post, send, serve, served_kitchen};
use crate::support::{PATIENCE, Server, request, tamis, token, two_namespaces};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// A stream of events.
struct Events {
    lines: BufReader<TcpStream>,
}

impl Events {
    fn of(server: &Server, headers: &[(&str, &str)]) -> Events {
        let mut stream = server.connect();
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("set");
        let all = [&[("Host", "localhost")], headers].concat();
        stream.write_all(&request("GET /v1/events HTTP/1.1", &all, "")).expect("sent");
        let mut events = Events { lines: BufReader::new(stream) };
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(events.lines.read_line(&mut head).expect("UTF-8") > 0, "{head}");
        }
        assert!(head.starts_with("HTTP/1.1 200") && head.contains("text/event-stream"), "{head}");
        assert!(head.to_ascii_lowercase().contains("cache-control: no-store"), "{head}");
        events
    }

    /// The next event with its data; `None` at the end of the stream.
    fn next(&mut self) -> Option<(String, Value)> {
        let mut name = String::new();
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let line = line.trim_end();
            if let Some(event) = line.strip_prefix("event: ") {
                name = event.to_owned();
            } else if let Some(data) = line.strip_prefix("data: ") {
                return Some((name, serde_json::from_str(data).expect("JSON")));
            }
        }
    }

    /// The data of the first event that fits.
    fn until(&mut self, what: impl Fn(&str, &Value) -> bool) -> Value {
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            let (name, data) = self.next().expect("the stream goes on");
            if what(&name, &data) {
                return data;
            }
        }
        panic!("the event does not come");
    }
}

/// A server that reads the tree by itself, and whenever it is asked to.
fn refreshed_on_demand(root: &Path) -> Server {
    let arguments = ["serve", "--http", "127.0.0.1:0", "--allow-refresh", "--log-format", "json"];
    Server::of(tamis(root).args(arguments))
}

#[test]
fn events_follow_the_index_and_reading_on_demand() {
    let root = kitchen();
    let mut server = refreshed_on_demand(&root);
    let mut events = Events::of(&server, &[]);
    events.until(|name, data| name == "progress" && data["phase"] == "fresh");
    let mut events = Events::of(&server, &[]);
    let first = events.until(|name, _| name == "index")["change"].as_u64().expect("a number");
    // A change that the server notices by itself.
    std::fs::write(root.join("rye.md"), "# Rye\n\nRye bread needs a sourdough starter.\n").expect("written");
    let second = events.until(|name, data| name == "index" && data["change"].as_u64() > Some(first));
    // Asked for a read, it says at once that it reads, and then that it is fresh again, however short the read was.
    let asked = post(&server, "/v1/refresh", &json!({}));
    assert_eq!((asked.status, &asked.json()["phase"]), (200, &json!("indexing")), "{}", asked.body);
    assert!(second["change"].as_u64() > Some(first), "{second}");
    events.until(|name, data| name == "progress" && data["phase"] == "fresh");
    // An open stream does not keep the server from stopping.
    server.terminate();
    assert_eq!(server.ended().0, Some(0));
    while events.next().is_some() {}
}

#[test]
fn reading_on_demand_is_off_until_it_is_allowed() {
    let (root, server) = served_kitchen();
    let refused = post(&server, "/v1/refresh", &json!({}));
    assert!(refused.status == 403 && refused.body.contains("--allow-refresh"), "{}", refused.body);
    assert_eq!(get(&server, "/v1/refresh").status, 405);
    let server = serve(&root, &["--allow-refresh"]);
    let refused = post(&server, "/v1/refresh", &json!({}));
    assert!(refused.status == 409 && refused.body.contains("--no-refresh"), "{}", refused.body);
    assert_eq!(send(&server, "HEAD /v1/events", &[], "").status, 200);
    assert_eq!(post(&server, "/v1/events", &json!({})).status, 405);
}

#[test]
fn a_token_limited_to_namespaces_learns_nothing_of_others() {
    let root = two_namespaces();
    let (narrow, wide) =
        (token(&root, &["narrow", "--namespace", "open", "--refresh"]), token(&root, &["wide", "--refresh"]));
    let server = refreshed_on_demand(&root);
    assert_eq!(get(&server, "/v1/events").status, 401);
    let (narrow, wide) = (format!("Bearer {narrow}"), format!("Bearer {wide}"));
    let mut seen = Events::of(&server, &[("Authorization", &narrow)]);
    let mut all = Events::of(&server, &[("Authorization", &wide)]);
    all.until(|name, data| name == "progress" && data["phase"] == "fresh");
    let mut all = Events::of(&server, &[("Authorization", &wide)]);
    let first = all.until(|name, _| name == "index");
    let body = [("Authorization", narrow.as_str()), ("Content-Type", "application/json")];
    let asked = send(&server, "POST /v1/refresh", &body, "{}").json();
    assert_eq!(asked, json!({ "phase": "indexing", "done": 0, "total": 0 }));
    std::fs::write(root.join("secret/more.md"), "# More\n\nMore of the vault.\n").expect("written");
    all.until(|name, data| name == "index" && *data != first);
    drop(server);
    let mut count = 0;
    while let Some((name, data)) = seen.next() {
        assert_eq!((name.as_str(), &data["done"], &data["total"]), ("progress", &json!(0), &json!(0)), "{data}");
        count += 1;
    }
    assert!(count > 0);
}
