//! One client on standard input and output, with one message on each line.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use rmcp::model::{ClientJsonRpcMessage, ErrorCode, RequestId, ServerJsonRpcMessage};
use rmcp::service::{RoleServer, ServerInitializeError};
use rmcp::transport::Transport;
use rmcp::{ErrorData, ServiceExt};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, stdin, stdout};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::process::ServeError;
use crate::server::Server;
use crate::untrusted_text;

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

// Reads incoming messages, and answers bytes that are none.
//
// The protocol's library ignores bytes that are not JSON. JSON-RPC demands an error for them.

/// An incoming message.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// One message.
    One(Box<ClientJsonRpcMessage>),
    /// An unknown notification, which gets no answer.
    Ignored,
    /// Anything else, with the answer to it.
    Bad(Value),
}

/// A message without halves of characters. A client that shortens a text in the middle of an emoji sends one as `\ud83d`, which is no
/// text: U+FFFD takes its place, so that the request is answered.
pub(crate) fn well_formed(bytes: &[u8]) -> Cow<'_, [u8]> {
    const REPLACEMENT: &[u8] = b"fffd";
    let mut mended = Cow::Borrowed(bytes);
    let unit = |at: usize| {
        let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut at = 0;
    while let Some(found) = bytes.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == b'\\')) {
        at += found;
        at += match (unit(at), unit(at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                mended.to_mut()[at + 2..at + 6].copy_from_slice(REPLACEMENT);
                6
            }
            // Another escape, such as a backslash by itself.
            _ => 2,
        };
    }
    mended
}

/// Reads incoming bytes.
pub(crate) fn read(bytes: &[u8]) -> Incoming {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let value: Value = match serde_json::from_slice(&well_formed(bytes)) {
        Ok(value) => value,
        Err(error) => return Incoming::Bad(error_response(ErrorCode::PARSE_ERROR, format!("not JSON: {error}"), None)),
    };
    if value.is_array() {
        // Since version 2025-06-18 of the protocol there are no batches, so earlier ones get none here either.
        let message = "batches are not supported; send each message separately";
        return Incoming::Bad(error_response(ErrorCode::INVALID_REQUEST, message, None));
    }
    let id = value.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
    let is_notification = value.get("id").is_none() && value.get("method").is_some_and(Value::is_string);
    match serde_json::from_value(value) {
        Ok(message) => Incoming::One(Box::new(message)),
        // A notification expects no answer.
        Err(_) if is_notification => Incoming::Ignored,
        Err(error) => Incoming::Bad(error_response(
            ErrorCode::INVALID_REQUEST,
            format!("not a JSON-RPC 2.0 message that this server supports: {error}"),
            id.as_ref(),
        )),
    }
}

/// An error response.
pub(crate) fn error_response(code: ErrorCode, message: impl Into<String>, id: Option<&RequestId>) -> Value {
    let error = untrusted_text::error(ErrorData::new(code, message.into(), None));
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::{JsonRpcMessage, NumberOrString};
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
    async fn an_overlong_line_is_answered_and_the_next_one_is_read() {
        let mut sent = vec![b'x'; MAX_LINE + 10];
        sent.extend_from_slice(b"\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
        let (messages, answers) = through(&sent).await;
        assert_eq!((messages, answers.len()), (1, 1), "{answers:?}");
        assert_eq!(answers[0]["error"]["code"], -32600);
    }

    fn code(bytes: &str) -> Option<(i64, Value)> {
        match read(bytes.as_bytes()) {
            Incoming::Bad(answer) => Some((answer["error"]["code"].as_i64().expect("a code"), answer["id"].clone())),
            _ => None,
        }
    }

    #[test]
    fn bytes_that_are_not_a_message_are_answered_with_the_reason() {
        let deep = "[".repeat(100_000);
        for bytes in ["", "{", "{\"jsonrpc\":", "nonsense", "{}{}", "\u{0}", &deep, "{\"id\":1e400}"] {
            assert_eq!(code(bytes), Some((-32700, Value::Null)), "{bytes:.40}");
        }
        assert_eq!(read(b"\xff\xfe").is_bad(), Some(-32700));
        for (bytes, id) in [
            ("1", json!(null)),
            ("null", json!(null)),
            ("{}", json!(null)),
            ("[]", json!(null)),
            (r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, json!(7)),
            (r#"{"jsonrpc":"2.0","id":"a","method":5}"#, json!("a")),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, json!(null)),
        ] {
            assert_eq!(code(bytes), Some((-32600, id)), "{bytes}");
        }
        let good = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        assert!(matches!(read(good.as_bytes()), Incoming::One(_)));
        assert!(matches!(read(format!("\u{feff}{good}").as_bytes()), Incoming::One(_)));
        assert_eq!(code(&format!("[{good}]")), Some((-32600, Value::Null)), "a batch");
        assert!(code(r#"{"jsonrpc":"2.0","method":"notifications/odd"}"#).is_none(), "a notification is not answered");
    }

    #[test]
    fn half_a_character_leaves_the_rest_of_a_message_as_it_is() {
        for (given, expected) in [
            (r#"{"a":"x\ud83d"}"#, r#"{"a":"x\ufffd"}"#),
            (r#""\uDE00\ud83d\ud83d\ude00""#, r#""\ufffd\ufffd\ud83d\ude00""#),
            (r#""\\ud83d \n\u0041""#, r#""\\ud83d \n\u0041""#),
            (r#""\ud8"#, r#""\ud8"#),
            ("\\", "\\"),
        ] {
            assert_eq!(String::from_utf8_lossy(&well_formed(given.as_bytes())), expected);
        }
        let Incoming::One(message) = read(br#"{"jsonrpc":"2.0","id":7,"method":"x\ud83d"}"#) else {
            panic!("a message")
        };
        assert!(matches!(*message, JsonRpcMessage::Request(request) if request.id == NumberOrString::Number(7)));
    }

    impl Incoming {
        fn is_bad(&self) -> Option<i64> {
            match self {
                Incoming::Bad(answer) => answer["error"]["code"].as_i64(),
                _ => None,
            }
        }
    }
}
