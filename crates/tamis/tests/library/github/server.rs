//! A small GitHub in the same process: lists sorted by the time of the last update, paged, with `ETag`s; and every
//! fault of a server.

#![allow(dead_code)]

use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};

/// The fault that the server shows instead of an answer.
#[derive(Clone)]
pub enum ServerFault {
    /// Status, headers, body.
    Status(u16, Vec<(&'static str, String)>, String),
    /// The answer, with these headers instead of its own.
    Headers(Vec<(&'static str, String)>),
    /// The answer, with the connection cut in the middle.
    CutConnection,
    /// The answer, of which the server only sends the first half.
    CutBody,
    /// The connection ends without an answer.
    Nothing,
    /// The connection stays open without an answer.
    Silence,
}

/// A received request.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub target: String,
    pub headers: BTreeMap<String, String>,
}

/// The content of the server, and its planned faults.
#[derive(Default)]
pub struct World {
    pub issues: Vec<Value>,
    pub comments: Vec<Value>,
    pub remarks: Vec<Value>,
    pub reviews: BTreeMap<u64, Vec<Value>>,
    /// The root of the repository; requests to others get 404.
    pub root: String,
    /// Paths with these prefixes are redirected to the same path at another root.
    pub redirects: Vec<(String, String)>,
    /// The number of entries on a page.
    pub page: usize,
    /// The number of pages shown of a list.
    pub pages: usize,
    /// Faults by the number of the request, from 0.
    pub faults: BTreeMap<usize, ServerFault>,
    /// The request from which on all get this fault.
    pub broken_from: Option<(usize, ServerFault)>,
    /// Changes after a request was answered, by its number.
    pub changes: BTreeMap<usize, fn(&mut World)>,
    pub requests: Vec<Request>,
}

pub struct Server {
    pub url: String,
    world: Arc<Mutex<World>>,
}

impl Server {
    pub fn start(world: World) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let world = Arc::new(Mutex::new(world));
        let (shared, base) = (world.clone(), url.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                serve(stream, &shared, &base);
            }
        });
        Server { url, world }
    }

    pub fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().expect("no test failed while it held this")
    }

    /// Returns the requests since the last call.
    pub fn requests(&self) -> Vec<Request> {
        std::mem::take(&mut self.world().requests)
    }

    /// Returns their addresses.
    pub fn targets(&self) -> Vec<String> {
        self.requests().into_iter().map(|request| request.target).collect()
    }
}

fn serve(mut stream: TcpStream, world: &Mutex<World>, base: &str) {
    let mut reader = BufReader::new(stream.try_clone().expect("cloned"));
    let Some(request) = read(&mut reader) else { return };
    let mut world = world.lock().expect("no test failed while it held this");
    let number = world.requests.len();
    world.requests.push(request.clone());
    let broken = world.broken_from.clone().filter(|(from, _)| number >= *from).map(|(_, fault)| fault);
    let fault = world.faults.remove(&number).or(broken);
    let (mut status, mut headers, mut body) = answer(&world, &request, base);
    let mut length = None;
    match fault {
        Some(ServerFault::Status(other, others, text)) => (status, headers, body) = (other, others, text),
        Some(ServerFault::Headers(others)) => headers = others,
        Some(ServerFault::CutConnection) => length = Some(body.len() + 1000),
        Some(ServerFault::CutBody) => {
            let mut half = body.len() / 2;
            while !body.is_char_boundary(half) {
                half -= 1;
            }
            body.truncate(half);
        }
        Some(ServerFault::Nothing) => return,
        Some(ServerFault::Silence) => return std::mem::forget((reader, stream)),
        None => {}
    }
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = length.unwrap_or(body.len());
    let head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n");
    // A client that is gone needs no answer.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
    if let Some(change) = world.changes.remove(&number) {
        change(&mut world);
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let mut request = Request { method: words.next()?, target: words.next()?, headers: BTreeMap::new() };
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        request.headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    Some(request)
}

type Reply = (u16, Vec<(&'static str, String)>, String);

fn answer(world: &World, request: &Request, base: &str) -> Reply {
    let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
    if let Some((old, new)) = world.redirects.iter().find(|(old, _)| path.starts_with(old.as_str())) {
        let target = request.target.replacen(old.as_str(), new, 1);
        return (301, vec![("location", target)], json!({ "message": "Moved Permanently" }).to_string());
    }
    let missing = || (404, Vec::new(), json!({ "message": "Not Found" }).to_string());
    let Some(below) = path.strip_prefix(world.root.as_str()) else { return missing() };
    let parameters: BTreeMap<&str, &str> = query.split('&').filter_map(|part| part.split_once('=')).collect();
    let parts: Vec<&str> = below.trim_start_matches('/').split('/').collect();
    let of = |entries: &[Value], field: &str, number: &str| -> Vec<Value> {
        let end = format!("/{number}");
        entries.iter().filter(|entry| entry[field].as_str().is_some_and(|url| url.ends_with(&end))).cloned().collect()
    };
    let entries = match parts.as_slice() {
        [""] => return (200, Vec::new(), json!({ "full_name": "new-owner/new-name" }).to_string()),
        ["issues"] => {
            let state = parameters.get("state").copied().unwrap_or("open");
            world.issues.iter().filter(|issue| state == "all" || issue["state"] == state).cloned().collect()
        }
        ["issues", "comments"] => world.comments.clone(),
        ["pulls", "comments"] => world.remarks.clone(),
        ["issues", number, "comments"] => of(&world.comments, "issue_url", number),
        ["pulls", number, "comments"] => of(&world.remarks, "pull_request_url", number),
        ["pulls", number, "reviews"] => {
            number.parse().ok().and_then(|number: u64| world.reviews.get(&number)).cloned().unwrap_or_default()
        }
        _ => return missing(),
    };
    paged(world, request, entries, path, &parameters, base)
}

fn paged(
    world: &World,
    request: &Request,
    mut entries: Vec<Value>,
    path: &str,
    parameters: &BTreeMap<&str, &str>,
    base: &str,
) -> Reply {
    let updated = |entry: &Value| entry["updated_at"].as_str().unwrap_or_default().to_owned();
    if let Some(since) = parameters.get("since") {
        entries.retain(|entry| updated(entry).as_str() >= *since);
    }
    entries.sort_by_key(|entry| (updated(entry), entry["number"].as_u64(), entry["id"].as_u64()));
    let number: usize = parameters.get("page").and_then(|page| page.parse().ok()).unwrap_or(1);
    if number > world.pages {
        return (422, Vec::new(), json!({ "message": "pagination is limited for this resource" }).to_string());
    }
    let start = (number - 1) * world.page;
    let shown: Vec<&Value> = entries.iter().skip(start).take(world.page).collect();
    let body = serde_json::to_string(&shown).expect("JSON");
    let etag = format!("W/\"{}\"", blake3::hash(body.as_bytes()).to_hex());
    let mut headers = vec![("etag", etag.clone()), ("date", "Sun, 01 Jun 2025 12:00:00 GMT".to_owned())];
    if request.headers.get("if-none-match") == Some(&etag) {
        return (304, headers, String::new());
    }
    if entries.len() > start + world.page {
        let others: String = parameters
            .iter()
            .filter(|(name, _)| **name != "page")
            .map(|(name, value)| format!("{name}={value}&"))
            .collect();
        headers.push(("link", format!("<{base}{path}?{others}page={}>; rel=\"next\"", number + 1)));
    }
    (200, headers, body)
}

/// The moment so many minutes after the beginning of 2025, as GitHub writes it.
pub fn minute(minutes: i64) -> String {
    Timestamp::from_second(1_735_689_600 + minutes * 60).expect("a time").to_string()
}

/// An issue written and updated at these minutes.
pub fn issue(number: u64, title: &str, created: i64, updated: i64) -> Value {
    json!({
        "url": format!("https://api.github.com/repos/ada/engine/issues/{number}"),
        "html_url": format!("https://github.com/ada/engine/issues/{number}"),
        "id": 1000 + number,
        "number": number,
        "title": title,
        "user": { "login": "ada", "type": "User" },
        "labels": [{ "name": "bug" }],
        "state": "open",
        "locked": false,
        "comments": 1,
        "created_at": minute(created),
        "updated_at": minute(updated),
        "closed_at": null,
        "body": format!("{title}. It happens each time."),
    })
}

/// A pull request that was merged.
pub fn pull(number: u64, title: &str, created: i64, updated: i64) -> Value {
    let mut pull = issue(number, title, created, updated);
    pull["html_url"] = json!(format!("https://github.com/ada/engine/pull/{number}"));
    pull["state"] = json!("closed");
    pull["closed_at"] = json!(minute(updated));
    pull["pull_request"] = json!({
        "url": format!("https://api.github.com/repos/ada/engine/pulls/{number}"),
        "merged_at": minute(updated),
    });
    pull
}

pub fn comment(id: u64, number: u64, updated: i64, body: &str) -> Value {
    json!({
        "id": id,
        "html_url": format!("https://github.com/ada/engine/issues/{number}#issuecomment-{id}"),
        "issue_url": format!("https://api.github.com/repos/ada/engine/issues/{number}"),
        "user": { "login": "grace", "type": "User" },
        "created_at": minute(updated),
        "updated_at": minute(updated),
        "body": body,
    })
}

pub fn remark(id: u64, number: u64, updated: i64, body: &str) -> Value {
    json!({
        "id": id,
        "pull_request_review_id": 9,
        "diff_hunk": "@@ -1 +1 @@",
        "path": "src/valve.rs",
        "line": 3,
        "html_url": format!("https://github.com/ada/engine/pull/{number}#discussion_r{id}"),
        "pull_request_url": format!("https://api.github.com/repos/ada/engine/pulls/{number}"),
        "user": { "login": "grace", "type": "User" },
        "created_at": minute(updated),
        "updated_at": minute(updated),
        "body": body,
    })
}

pub fn review(id: u64, number: u64, submitted: i64, body: &str) -> Value {
    json!({
        "id": id,
        "state": "APPROVED",
        "html_url": format!("https://github.com/ada/engine/pull/{number}#pullrequestreview-{id}"),
        "pull_request_url": format!("https://api.github.com/repos/ada/engine/pulls/{number}"),
        "user": { "login": "grace", "type": "User" },
        "submitted_at": minute(submitted),
        "body": body,
    })
}
