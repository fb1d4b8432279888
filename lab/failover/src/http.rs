//! Small requests over HTTP.

use anyhow::{Context, Result};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// The limit for an answer.
const TIMEOUT: Duration = Duration::from_secs(60);

/// An answer.
#[derive(Debug)]
pub struct Answer {
    /// Status.
    pub status: u16,
    /// Body.
    pub body: String,
}

impl Answer {
    /// Reads the body as JSON; null if it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

/// Asks over a connection of its own. A body is sent as JSON by POST.
///
/// # Errors
/// No answer comes.
pub fn ask(address: &str, target: &str, body: Option<&Value>) -> Result<Answer> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    let content = body.map(Value::to_string).unwrap_or_default();
    let method = if body.is_some() { "POST" } else { "GET" };
    let head = format!(
        "{method} {target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n",
        content.len()
    );
    stream.write_all(format!("{head}{content}").as_bytes())?;
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply)?;
    parsed(&String::from_utf8_lossy(&reply))
}

fn parsed(reply: &str) -> Result<Answer> {
    let (head, body) = reply.split_once("\r\n\r\n").context("no answer")?;
    let status = head.split_whitespace().nth(1).and_then(|status| status.parse().ok()).context("no status")?;
    Ok(Answer { status, body: body.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_and_body_are_read() {
        let answer = parsed("HTTP/1.1 503 Unavailable\r\nA: b\r\n\r\n{\"x\": 1}").expect("an answer");
        assert_eq!((answer.status, answer.json()["x"].as_i64()), (503, Some(1)));
        assert!(parsed("").is_err() && parsed("nothing\r\n\r\n").is_err());
    }
}
