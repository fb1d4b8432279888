//! Server rounds: SIGKILL of a server under load, over HTTP or standard input and output.

use super::check::{answers, doctor};
use super::fixture::change;
use super::random::Random;
use super::sandbox::{Running, Sandbox};
use super::setup::{Setup, VARIANTS};
use super::snapshot::Snapshot;
use super::table::Outcome;
use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The number of clients at a time over HTTP.
const CLIENTS: u64 = 3;

/// The limit for a server to start, and to answer.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The work that the server acknowledged.
#[derive(Debug, Default)]
pub struct Acknowledged {
    /// Words of notes.
    pub notes: Vec<String>,
    /// Searches whose first result was judged.
    pub judged: Vec<String>,
    /// Answers of any kind.
    pub answers: u64,
    /// Answers that no server should give.
    pub faults: Vec<String>,
}

impl Acknowledged {
    /// Records an answer to a call.
    pub fn take(&mut self, call: &Call, answer: &Value) {
        self.answers += 1;
        let failed = answer["error"].is_object() || answer["result"]["isError"] == true;
        match call {
            _ if failed && answer.to_string().contains("panicked") => self.faults.push(answer.to_string()),
            _ if failed => {}
            Call::Remember(word) => self.notes.push(word.clone()),
            Call::Feedback(query_id) => self.judged.push(query_id.clone()),
            Call::Search => {}
        }
    }
}

/// A call of a client.
#[derive(Clone, Debug)]
pub enum Call {
    Search,
    Remember(String),
    Feedback(String),
}

impl Call {
    fn params(&self) -> Value {
        match self {
            Call::Search => json!({ "name": "search", "arguments": { "query": "the glacier and the harbour" } }),
            Call::Remember(word) => {
                json!({ "name": "remember", "arguments": { "text": format!("the {word} is what was noted") } })
            }
            Call::Feedback(query_id) => {
                json!({ "name": "feedback", "arguments": { "query_id": query_id, "ids": ["1"], "relevant": true } })
            }
        }
    }

    /// Returns the call after an answer to this one: notes and searches in turn, and a judgement after each search.
    pub fn next(&self, answer: &Value, word: impl FnOnce() -> String) -> Call {
        let query_id = answer["result"]["structuredContent"]["query_id"].as_str();
        match (self, query_id) {
            (Call::Search, Some(query_id)) => Call::Feedback(query_id.to_owned()),
            (Call::Remember(_), _) => Call::Search,
            _ => Call::Remember(word()),
        }
    }
}

/// Kills a server under load and checks the index it leaves.
///
/// # Errors
/// Something acknowledged was lost.
pub fn round(setup: &Setup, random: &mut Random, sandbox: &mut Option<Sandbox>) -> Result<Outcome> {
    let sandbox = &*sandbox.insert(Sandbox::copy_of(&setup.base.sandbox)?);
    let before = Snapshot::of(sandbox)?;
    // Changed files give the server background work.
    if random.below(2) == 0 {
        change(sandbox, random.below(VARIANTS))?;
    }
    let after = random.below(24);
    let then = Duration::from_micros(random.below(60_000));
    let over_http = random.below(2) == 0;
    let acknowledged = Mutex::new(Acknowledged::default());
    let landed = match over_http {
        true => over_http_until(sandbox, &acknowledged, after, then)?,
        false => over_stdio_until(sandbox, &acknowledged, after, then)?,
    };
    let work = acknowledged.into_inner().unwrap_or_else(PoisonError::into_inner);
    let summary = format!(
        "over {}, killed {then:?} after {after} answers of {}, {} notes and {} judgements acknowledged, landed: {landed}",
        if over_http { "HTTP" } else { "standard input" },
        work.answers,
        work.notes.len(),
        work.judged.len()
    );
    check(sandbox, &before, &work).with_context(|| summary.clone())?;
    Ok(Outcome { landed, summary })
}

fn check(sandbox: &Sandbox, before: &Snapshot, work: &Acknowledged) -> Result<()> {
    ensure!(work.faults.is_empty(), "{:?}", work.faults);
    let left = Snapshot::of(sandbox)?;
    ensure!(before.judgements.is_subset(&left.judgements), "judgements were lost: {}", before.difference(&left));
    for query_id in &work.judged {
        let found = left.judgements.iter().any(|row| row.starts_with(&format!("{query_id}\t")));
        ensure!(found, "the judgement of {query_id} was acknowledged and is missing");
    }
    let mut notes = String::new();
    for entry in fs::read_dir(sandbox.tree().join("memory"))? {
        notes.push_str(&fs::read_to_string(entry?.path())?);
    }
    for word in &work.notes {
        ensure!(
            notes.contains(&format!("the {word} is what was noted\n")),
            "the note {word} was acknowledged and is missing"
        );
    }
    doctor(sandbox, false)?;
    // Another server takes over.
    let again = Mutex::new(Acknowledged::default());
    ensure!(over_stdio_until(sandbox, &again, 2, Duration::ZERO)?, "the next server ended before it was killed");
    sandbox.done(&["index"])?;
    doctor(sandbox, true)?;
    answers(sandbox, false)?;
    if let Some(word) = work.notes.last() {
        let found = sandbox.json(&["search", "--json", "--no-refresh", "--mode", "lexical", word])?;
        ensure!(found.to_string().contains("is what was noted"), "the note {word} is not found: {found}");
    }
    Ok(())
}

fn lock(acknowledged: &Mutex<Acknowledged>) -> std::sync::MutexGuard<'_, Acknowledged> {
    acknowledged.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for a number of answers and a moment more, or for a server that stops answering.
fn wait(acknowledged: &Mutex<Acknowledged>, after: u64, then: Duration, running: impl Fn() -> bool) {
    let started = Instant::now();
    while lock(acknowledged).answers < after && started.elapsed() < TIMEOUT && running() {
        std::thread::sleep(Duration::from_micros(200));
    }
    std::thread::sleep(then);
}

/// Makes a word that occurs nowhere else.
fn word(client: u64, number: u64) -> String {
    let letter = |digit: u64| char::from(b'a' + (digit % 26) as u8);
    format!("quill{}{}{}", letter(client), letter(number / 26), letter(number))
}

/// Serves clients over HTTP and kills the server. Returns true when the kill hit a running server.
fn over_http_until(sandbox: &Sandbox, acknowledged: &Mutex<Acknowledged>, after: u64, then: Duration) -> Result<bool> {
    let arguments = ["mcp", "--output-schemas", "--http", "127.0.0.1:0", "--allow-remember", "--allow-feedback"];
    let running = Running::start(&mut sandbox.command(&arguments))?;
    let address = loop {
        let Ok(line) = running.lines.recv_timeout(TIMEOUT) else {
            bail!("the server did not print its address: {}", running.kill()?);
        };
        if let Some(address) = line.strip_prefix("tamis: serving http://").and_then(|rest| rest.strip_suffix("/mcp")) {
            break address.to_owned();
        }
    };
    let ended = std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let address = &address;
            scope.spawn(move || {
                let mut call = if client == 0 { Call::Search } else { Call::Remember(word(client, 0)) };
                for number in 1.. {
                    let Ok(answer) = post(address, &call) else { break };
                    lock(acknowledged).take(&call, &answer);
                    call = call.next(&answer, || word(client, number));
                }
            });
        }
        wait(acknowledged, after, then, || true);
        running.kill()
    })?;
    ensure!(!ended.err.contains("panicked at"), "the server panicked: {ended}");
    Ok(ended.is_killed())
}

/// Makes a call over its own connection.
///
/// # Errors
/// There is no whole answer.
pub fn post(address: &str, call: &Call) -> Result<Value> {
    let mut params = call.params();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "torture", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let name = params["name"].as_str().unwrap_or_default().to_owned();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\nContent-Type: \
         application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {name}\r\nConnection: \
         close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let (head, body) = exchange(address, &format!("{head}{body}"))?;
    ensure!(head.starts_with("HTTP/1.1 200"), "{head}");
    Ok(serde_json::from_str(&body)?)
}

/// Sends a request over its own connection, and returns the head and the body of the answer.
///
/// # Errors
/// There is no whole answer.
pub fn exchange(address: &str, request: &str) -> Result<(String, String)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.write_all(request.as_bytes())?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply)?;
    let (head, body) = reply.split_once("\r\n\r\n").context("an answer")?;
    Ok((head.to_owned(), body.to_owned()))
}

/// Serves a client on standard input and output and kills the server. Returns true when the kill hit a running server.
fn over_stdio_until(sandbox: &Sandbox, acknowledged: &Mutex<Acknowledged>, after: u64, then: Duration) -> Result<bool> {
    let mut command: Command = sandbox.command(&["mcp", "--output-schemas", "--allow-remember", "--allow-feedback"]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().context("the server")?;
    let mut input = child.stdin.take().context("standard input is piped")?;
    let output = BufReader::new(child.stdout.take().context("standard output is piped")?);
    let ended = std::thread::scope(|scope| {
        let client = scope.spawn(|| talk(&mut input, output, acknowledged));
        wait(acknowledged, after, then, || !client.is_finished());
        child.kill()?;
        child.wait()
    })?;
    Ok(ended.signal() == Some(libc::SIGKILL))
}

/// Runs a session until the server ends.
fn talk(input: &mut ChildStdin, output: impl BufRead, acknowledged: &Mutex<Acknowledged>) {
    let mut lines = output.lines().map_while(Result::ok);
    let mut send = |message: Value| writeln!(input, "{message}").and_then(|()| input.flush()).is_ok();
    let begun = send(json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "torture", "version": "1" } } }))
        && lines.next().is_some()
        && send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    if !begun {
        return;
    }
    let mut call = Call::Remember(word(25, 0));
    for number in 1_u64.. {
        if !send(json!({ "jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call.params() })) {
            return;
        }
        // Notifications may come in between.
        let answer = lines
            .by_ref()
            .find_map(|line| serde_json::from_str::<Value>(&line).ok().filter(|message| message["id"] == number));
        let Some(answer) = answer else { return };
        lock(acknowledged).take(&call, &answer);
        call = call.next(&answer, || word(25, number));
    }
}
