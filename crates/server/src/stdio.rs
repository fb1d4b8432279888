//! One client on standard input and output, with one message on each line.

use crate::error::ServeError;
use crate::messages::{Incoming, error_response, read};
use crate::server::Server;
use rmcp::ServiceExt;
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, ServerJsonRpcMessage};
use rmcp::service::{RoleServer, ServerInitializeError};
use rmcp::transport::Transport;
use serde_json::Value;
use std::collections::VecDeque;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, stdin, stdout};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Most bytes of a line.
const MAX_LINE: usize = 16 << 20;

/// Lines that may wait to be written. When the client stops reading, the server stops reading too.
const OUTPUT_QUEUE: usize = 64;

/// Time for the last lines to be written when the server stops.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// Serves the client on standard input and output until it closes one of them, or until `stop`.
///
/// # Errors
/// The client breaks the protocol before a session begins.
pub(crate) async fn serve_stdio(server: Server, stop: CancellationToken) -> Result<(), ServeError> {
    let failed = |error: String| ServeError::Handshake(error);
    let running = tokio::select! {
        () = stop.cancelled() => return Ok(()),
        running = server.serve(LineTransport::new(stdin(), stdout(), stop.clone())) => running,
    };
    let running = match running {
        Ok(running) => running,
        // A client may leave before it begins a session.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(failed(error.to_string())),
    };
    tokio::select! {
        () = stop.cancelled() => Ok(()),
        ended = running.waiting() => ended.map(drop).map_err(|error| failed(error.to_string())),
    }
}

/// Messages, one on each line.
struct LineTransport<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    /// Set while the rest of an overlong line is skipped.
    discarding: bool,
    /// Answers to lines that are not messages.
    answers: VecDeque<Value>,
    output: Option<mpsc::Sender<Value>>,
    writer: Option<JoinHandle<()>>,
}

impl<R: AsyncRead + Send + Unpin> LineTransport<R> {
    /// A transport over two streams. `broken` is cancelled when the output closes, even if the input stays open.
    fn new(input: R, mut output: impl AsyncWrite + Send + Unpin + 'static, broken: CancellationToken) -> Self {
        let (sender, mut lines) = mpsc::channel::<Value>(OUTPUT_QUEUE);
        let writer = tokio::spawn(async move {
            while let Some(value) = lines.recv().await {
                let line = format!("{value}\n");
                let written = async {
                    output.write_all(line.as_bytes()).await?;
                    output.flush().await
                };
                if written.await.is_err() {
                    broken.cancel();
                    return;
                }
            }
        });
        LineTransport {
            input: BufReader::new(input),
            line: Vec::new(),
            discarding: false,
            answers: VecDeque::new(),
            output: Some(sender),
            writer: Some(writer),
        }
    }

    /// Reads a line into `line`. Returns false at the end of the input. Dropping the future loses nothing.
    async fn read_line(&mut self) -> bool {
        loop {
            let Ok(bytes) = self.input.fill_buf().await else { return false };
            if bytes.is_empty() {
                // The last line may lack its line end.
                return !self.line.is_empty() && !self.discarding;
            }
            let newline = bytes.iter().position(|byte| *byte == b'\n');
            let taken = newline.map_or(bytes.len(), |at| at + 1);
            if !self.discarding {
                self.line.extend_from_slice(&bytes[..taken]);
            }
            self.input.consume(taken);
            if self.line.len() > MAX_LINE {
                self.line.clear();
                self.discarding = true;
                let message = format!("a line may have at most {MAX_LINE} bytes");
                self.answers.push_back(error_response(ErrorCode::INVALID_REQUEST, message, None));
            }
            if newline.is_some() {
                self.discarding = false;
                return true;
            }
        }
    }

    /// Handles the line that was read. Returns its message, if it is one.
    fn handle_line(&mut self) -> Option<ClientJsonRpcMessage> {
        let line = std::mem::take(&mut self.line);
        let text = line.trim_ascii();
        if text.is_empty() {
            return None;
        }
        match read(text) {
            Incoming::One(message) => return Some(*message),
            Incoming::Ignored => {}
            Incoming::Bad(answer) => self.answers.push_back(answer),
        }
        None
    }
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for LineTransport<R> {
    type Error = io::Error;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = self.output.clone();
        async move {
            let closed = || io::Error::new(io::ErrorKind::NotConnected, "the client is gone");
            let line = serde_json::to_value(&message)?;
            output.ok_or_else(closed)?.send(line).await.map_err(|_| closed())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            while !self.answers.is_empty() {
                // Dropping the future here loses nothing.
                let slot = self.output.as_ref()?.reserve().await.ok()?;
                if let Some(answer) = self.answers.pop_front() {
                    slot.send(answer);
                }
            }
            match self.read_line().await {
                true => {
                    if let Some(message) = self.handle_line() {
                        return Some(message);
                    }
                }
                // Pending answers are written before the end.
                false if self.answers.is_empty() => return None,
                false => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output = None;
        if let Some(writer) = self.writer.take() {
            // The server does not wait for a client that has stopped reading.
            let _ = tokio::time::timeout(FLUSH_TIMEOUT, writer).await;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, duplex};

    /// Sends bytes through a transport. Returns the number of messages that it hands on, and its own answers.
    async fn through(sent: &[u8]) -> (usize, Vec<Value>) {
        let (mine, mut theirs) = duplex(1 << 20);
        let mut lines = LineTransport::new(sent, mine, CancellationToken::new());
        let mut messages = 0;
        while lines.receive().await.is_some() {
            messages += 1;
        }
        lines.close().await.expect("closed");
        drop(lines);
        let mut written = String::new();
        theirs.read_to_string(&mut written).await.expect("text");
        (messages, written.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect())
    }

    #[tokio::test]
    async fn a_line_that_is_not_a_message_is_answered_and_the_next_one_is_read() {
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let sent = format!("{{\n\n{ping}\r\nnonsense\n[{ping}]\n5\n{{\"jsonrpc\":\"2.0\",\"method\":\"x/y\"}}\n{ping}");
        let (messages, answers) = through(sent.as_bytes()).await;
        let codes: Vec<i64> = answers.iter().filter_map(|answer| answer["error"]["code"].as_i64()).collect();
        assert_eq!(codes, [-32700, -32700, -32600, -32600], "{answers:?}");
        assert!((2..=3).contains(&messages), "{messages}");
    }

    #[tokio::test]
    async fn an_overlong_line_is_answered_and_the_next_one_is_read() {
        let mut sent = vec![b'x'; MAX_LINE + 10];
        sent.extend_from_slice(b"\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
        let (messages, answers) = through(&sent).await;
        assert_eq!((messages, answers.len()), (1, 1), "{answers:?}");
        assert_eq!(answers[0]["error"]["code"], -32600);
    }
}
