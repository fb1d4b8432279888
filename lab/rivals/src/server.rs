//! Warm searches: a server for agents on standard input and output, asked one question after another.

use crate::run::Place;
use crate::tools::{Server, call};
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// A server that answers.
struct Connection {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    limit: Duration,
    id: u64,
}

impl Drop for Connection {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Connection {
    fn start(server: Server, place: &Place) -> Result<Self> {
        let mut command = server.command;
        place.prepare(&mut command);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let input = child.stdin.take().context("no standard input")?;
        let output = BufReader::new(child.stdout.take().context("no standard output")?);
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut connection = Connection { child, input, lines, limit: place.limit, id: 0 };
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "rivals", "version": "1" } });
        connection.ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }))?;
        connection.id = 1;
        connection.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(connection)
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        writeln!(self.input, "{message}")?;
        Ok(self.input.flush()?)
    }

    fn ask(&mut self, message: &Value) -> Result<Value> {
        self.send(message)?;
        let ends = Instant::now() + self.limit;
        loop {
            let left = ends.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left).context("the server does not answer")?;
            let Ok(answer) = serde_json::from_str::<Value>(&line) else { continue };
            if answer["id"] == message["id"] {
                if answer.get("error").is_some() || answer["result"]["isError"] == true {
                    bail!("the server refuses: {}", answer.to_string().chars().take(200).collect::<String>());
                }
                return Ok(answer);
            }
        }
    }
}

/// Returns the time of each question, each asked once before.
///
/// # Errors
/// The server cannot be started, or refuses a question.
pub fn warm(server: Server, place: &Place, queries: &[&str]) -> Result<Vec<Duration>> {
    let (tool, arguments) = (server.tool, server.arguments.clone());
    let mut connection = Connection::start(server, place)?;
    let mut times = Vec::new();
    for round in 0..2 {
        for query in queries {
            connection.id += 1;
            let message = call(connection.id, tool, &arguments, query);
            let started = Instant::now();
            connection.ask(&message)?;
            if round > 0 {
                times.push(started.elapsed());
            }
        }
    }
    Ok(times)
}
