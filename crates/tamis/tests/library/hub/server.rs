//! A hub in this process that speaks the protocol of huggingface.co as far as a download needs it, with a second host for large
//! files, and with the faults that a test asks for.

#![allow(dead_code)]

use serde_json::{Value, json};
use sha1::Sha1;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A model at the hub.
#[derive(Clone, Debug, Default)]
pub struct Repository {
    pub commit: String,
    /// Further revisions, each with the same files.
    pub revisions: Vec<String>,
    pub files: BTreeMap<String, Vec<u8>>,
    /// The model card's entry in the list.
    pub card: Value,
    /// The token that may read it.
    pub token: Option<String>,
    /// The faults to play, by file.
    pub faults: BTreeMap<String, Fault>,
    /// Names that are in the list and nowhere else.
    pub listed: Vec<String>,
    /// The list has names alone, as some mirrors give it.
    pub is_bare: bool,
}

/// A fault of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// A byte is another one.
    Wrong,
    /// The connection ends after so many bytes, so many times.
    Breaks { after: usize, times: usize },
    /// As [`Fault::Breaks`], and every request is answered with the whole file.
    BreaksWithoutRanges { after: usize, times: usize },
    /// The server fails so many times.
    Fails { times: usize },
    /// It is in the list, and nowhere else.
    Missing,
    /// The list gives this size.
    Says(u64),
    /// The list has no size of it, and the server sends bytes without end.
    Endless,
    /// The list and the file have no sum.
    NoSum,
    /// The file names another commit.
    OtherCommit,
    /// The redirect leads there.
    Redirects(String),
}

/// A request.
#[derive(Clone, Debug)]
pub struct Request {
    /// True at the host of large files.
    pub is_cdn: bool,
    pub path: String,
    pub range: Option<usize>,
    pub authorization: Option<String>,
}

/// The hub, which ends with the test's process.
#[derive(Clone)]
pub struct Hub {
    pub url: String,
    state: Arc<Mutex<State>>,
}

struct State {
    cdn: String,
    repositories: BTreeMap<String, Repository>,
    requests: Vec<Request>,
}

pub const COMMIT: &str = "00112233445566778899aabbccddeeff00112233";

impl Repository {
    pub fn new(files: &[(&str, &[u8])]) -> Self {
        Repository {
            commit: COMMIT.to_owned(),
            files: files.iter().map(|(name, content)| ((*name).to_owned(), content.to_vec())).collect(),
            card: json!({"license": "apache-2.0"}),
            ..Repository::default()
        }
    }

    pub fn with(mut self, name: &str, content: &[u8]) -> Self {
        self.files.insert(name.to_owned(), content.to_vec());
        self
    }

    pub fn fault(mut self, name: &str, fault: Fault) -> Self {
        self.faults.insert(name.to_owned(), fault);
        self
    }
}

impl Hub {
    pub fn start(repositories: &[(&str, Repository)]) -> Self {
        let (hub, cdn) = (listener(), listener());
        let address = |listener: &TcpListener| format!("http://{}", listener.local_addr().expect("an address"));
        let url = address(&hub);
        let repositories = repositories.iter().map(|(name, repository)| ((*name).to_owned(), repository.clone()));
        let state = State { cdn: address(&cdn), repositories: repositories.collect(), requests: Vec::new() };
        let state = Arc::new(Mutex::new(state));
        for (listener, is_cdn) in [(hub, false), (cdn, true)] {
            let state = state.clone();
            std::thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    let state = state.clone();
                    std::thread::spawn(move || answer(stream, is_cdn, &state));
                }
            });
        }
        Hub { url, state }
    }

    /// Changes a model.
    pub fn change(&self, name: &str, change: impl FnOnce(&mut Repository)) {
        change(self.state.lock().expect("no panic").repositories.get_mut(name).expect("a model"));
    }

    /// The requests so far; forgets them.
    pub fn requests(&self) -> Vec<Request> {
        std::mem::take(&mut self.state.lock().expect("no panic").requests)
    }
}

fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").expect("a port")
}

pub fn sha256(content: &[u8]) -> String {
    hex(&Sha256::digest(content))
}

pub fn git(content: &[u8]) -> String {
    let head = format!("blob {}\0", content.len());
    hex(&Sha1::digest([head.as_bytes(), content].concat()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string");
        text
    })
}

fn is_large(name: &str) -> bool {
    [".safetensors", ".onnx", ".bin"].iter().any(|end| name.ends_with(end))
}

/// Answers one request and closes the connection.
fn answer(mut stream: TcpStream, is_cdn: bool, state: &Mutex<State>) {
    let Some(request) = read(&stream, is_cdn) else { return };
    let mut state = state.lock().expect("no panic");
    state.requests.push(request.clone());
    let reply = if is_cdn { stored(&request, &mut state) } else { hub(&request, &mut state) };
    let reply = reply.unwrap_or_else(|refused| refused);
    drop(state);
    let length = reply.announced.map(|length| format!("content-length: {length}\r\n")).unwrap_or_default();
    let head = format!("HTTP/1.1 {} X\r\nconnection: close\r\n{length}{}\r\n", reply.status, reply.headers);
    // A client that went away is not ours.
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(&reply.body);
    while reply.is_endless && stream.write_all(&[0; 4096]).is_ok() {}
}

struct Reply {
    status: u16,
    headers: String,
    announced: Option<usize>,
    body: Vec<u8>,
    is_endless: bool,
}

impl Reply {
    fn new(status: u16, headers: String, body: Vec<u8>) -> Self {
        Reply { status, headers, announced: Some(body.len()), body, is_endless: false }
    }

    fn error(status: u16, code: &str) -> Self {
        let body = json!({"error": "no \u{1b}[31m way, sesame"}).to_string().into_bytes();
        Reply::new(status, format!("x-error-code: {code}\r\n"), body)
    }
}

fn read(stream: &TcpStream, is_cdn: bool) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let mut lines = head.lines();
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers: BTreeMap<_, _> = headers.map(|(name, value)| (name.to_lowercase(), value.trim().to_owned())).collect();
    let range = headers.get("range").and_then(|range| range.strip_prefix("bytes=")?.trim_end_matches('-').parse().ok());
    Some(Request { is_cdn, path, range, authorization: headers.get("authorization").cloned() })
}

fn hub(request: &Request, state: &mut State) -> Result<Reply, Reply> {
    let path = request.path.split('?').next().unwrap_or_default();
    if let Some(rest) = path.strip_prefix("/api/models/") {
        let (name, revision) = rest.split_once("/revision/").ok_or(Reply::error(404, "EntryNotFound"))?;
        let revision = revision.replace("%2F", "/");
        let repository = allowed(name, request, state)?;
        let known = revision == "main" || revision == repository.commit || repository.revisions.contains(&revision);
        let listed = Reply::new(200, String::new(), list(name, repository).to_string().into_bytes());
        return if known { Ok(listed) } else { Err(Reply::error(404, "RevisionNotFound")) };
    }
    let cached = path.strip_prefix("/api/resolve-cache/models/");
    let asked = cached.unwrap_or(path.trim_start_matches('/')).split_once("/resolve/");
    let (name, rest) = asked.ok_or(Reply::error(404, "EntryNotFound"))?;
    let cdn = state.cdn.clone();
    let repository = allowed(name, request, state)?;
    let file = rest.strip_prefix(&format!("{}/", repository.commit)).ok_or(Reply::error(404, "RevisionNotFound"))?;
    let fault = repository.faults.get(file).cloned();
    let content = repository.files.get(file).cloned().filter(|_| fault != Some(Fault::Missing));
    let content = content.ok_or(Reply::error(404, "EntryNotFound"))?;
    let has_sum = fault != Some(Fault::NoSum);
    let commit = if fault == Some(Fault::OtherCommit) { "f".repeat(40) } else { repository.commit.clone() };
    let commit = format!("x-repo-commit: {commit}\r\n");
    if let Some(Fault::Redirects(location)) = &fault {
        return Ok(Reply::new(302, format!("{commit}location: {location}\r\n"), Vec::new()));
    }
    if is_large(file) {
        let sum = format!("x-linked-etag: \"{}\"\r\nx-linked-size: {}\r\n", sha256(&content), content.len());
        let sum = if has_sum { sum } else { String::new() };
        let location = format!("location: {cdn}/{name}/{file}?signature=secret\r\n");
        let headers = format!("{commit}{sum}etag: \"{}\"\r\n{location}", git(b"a pointer"));
        return Ok(Reply::new(302, headers, Vec::new()));
    }
    if cached.is_none() {
        let location = format!("location: /api/resolve-cache/models{path}\r\n");
        return Ok(Reply::new(307, format!("{commit}{location}"), Vec::new()));
    }
    let etag = if has_sum { format!("etag: \"{}\"\r\n", git(&content)) } else { String::new() };
    part(request, repository, file, format!("{commit}{etag}"))
}

/// The host of large files. Its tags mean nothing to the hub's clients.
fn stored(request: &Request, state: &mut State) -> Result<Reply, Reply> {
    let path = request.path.split('?').next().unwrap_or_default().trim_start_matches('/').to_owned();
    let found = state.repositories.iter_mut().find_map(|(name, repository)| {
        let file = path.strip_prefix(&format!("{name}/"))?.to_owned();
        Some((repository, file))
    });
    let (repository, file) = found.ok_or(Reply::error(404, "NoSuchKey"))?;
    part(request, repository, &file, format!("etag: \"{}\"\r\n", "0".repeat(64)))
}

/// A file, or the rest of it, with its fault.
fn part(request: &Request, repository: &mut Repository, file: &str, headers: String) -> Result<Reply, Reply> {
    let mut content = repository.files.get(file).cloned().unwrap_or_default();
    let fault = repository.faults.get_mut(file);
    let ranges = !matches!(fault, Some(Fault::BreaksWithoutRanges { .. }));
    let mut breaks = None;
    match fault {
        Some(Fault::Wrong) => {
            let middle = content.len() / 2;
            content[middle] ^= 1;
        }
        Some(Fault::Fails { times }) if *times > 0 => {
            *times -= 1;
            return Err(Reply::error(503, ""));
        }
        Some(Fault::Breaks { after, times } | Fault::BreaksWithoutRanges { after, times }) if *times > 0 => {
            *times -= 1;
            breaks = Some(*after);
        }
        Some(Fault::Endless) => {
            return Ok(Reply { announced: None, is_endless: true, ..Reply::new(200, headers, content) });
        }
        _ => {}
    }
    let from = request.range.filter(|_| ranges);
    let whole = content.len();
    let mut reply = match from {
        Some(from) if from >= whole => return Err(Reply::new(416, headers, Vec::new())),
        Some(from) => {
            let range = format!("content-range: bytes {from}-{}/{whole}\r\n", whole - 1);
            Reply::new(206, headers + &range, content.split_off(from))
        }
        None => Reply::new(200, headers, content),
    };
    if let Some(after) = breaks {
        reply.body.truncate(after);
    }
    Ok(reply)
}

/// A model that the request may read.
fn allowed<'a>(name: &str, request: &Request, state: &'a mut State) -> Result<&'a mut Repository, Reply> {
    // The hub does not say whether a model that nobody may see exists.
    let missing = Reply::error(if request.authorization.is_some() { 404 } else { 401 }, "RepoNotFound");
    let may_read = |repository: &&mut Repository| {
        let needed = repository.token.as_ref().map(|token| format!("Bearer {token}"));
        needed.is_none() || needed == request.authorization
    };
    state.repositories.get_mut(name).filter(may_read).ok_or(missing)
}

/// The list of a model's files.
fn list(name: &str, repository: &Repository) -> Value {
    let sibling = |(file, content): (&String, &Vec<u8>)| {
        let fault = repository.faults.get(file);
        let mut sibling = json!({"rfilename": file});
        if repository.is_bare || fault == Some(&Fault::Endless) || fault == Some(&Fault::NoSum) {
            return sibling;
        }
        let size = if let Some(Fault::Says(size)) = fault { *size } else { content.len() as u64 };
        sibling["size"] = json!(size);
        sibling["blobId"] = json!(git(content));
        if is_large(file) {
            sibling["blobId"] = json!(git(b"a pointer"));
            sibling["lfs"] = json!({"sha256": sha256(content), "size": size, "pointerSize": 130});
        }
        sibling
    };
    let siblings: Vec<Value> = repository.files.iter().map(sibling).collect();
    let listed = repository.listed.iter().map(|name| json!({"rfilename": name, "size": 1}));
    json!({
        "id": name, "modelId": name, "sha": repository.commit, "private": repository.token.is_some(), "gated": false,
        "cardData": repository.card, "siblings": siblings.into_iter().chain(listed).collect::<Vec<Value>>(),
    })
}
