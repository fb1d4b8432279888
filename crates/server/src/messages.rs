//! Reads incoming messages: a single one, a batch, or bytes that are neither.
//!
//! The protocol's library ignores bytes that are not JSON, and refuses batches. JSON-RPC demands an error for the former, and
//! version 2025-03-26 of the protocol, alone among all versions, allows the latter.

use crate::sanitize;
use rmcp::ErrorData;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, JsonRpcMessage, ProtocolVersion, RequestId,
};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::HashSet;

/// Most messages of a batch.
const MAX_MESSAGES: usize = 100;

/// Most bytes of all answers of a batch, since some clients read no more than a megabyte at a time.
const MAX_ANSWER_BYTES: usize = 900_000;

/// An incoming message.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// One message.
    One(Box<ClientJsonRpcMessage>),
    /// Several messages in a list.
    Batch(Vec<Value>),
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
    match value {
        Value::Array(messages) if messages.is_empty() => Incoming::Bad(error_response(
            ErrorCode::INVALID_REQUEST,
            "the batch is empty; send at least one message",
            None,
        )),
        Value::Array(messages) => Incoming::Batch(messages),
        one => single(one),
    }
}

/// Reads one message, on its own or as part of a batch.
fn single(value: Value) -> Incoming {
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
    let error = sanitize::error(ErrorData::new(code, message.into(), None));
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

/// True if a session of this protocol version may send batches.
pub(crate) fn supports_batches(version: &str) -> bool {
    version == ProtocolVersion::V_2025_03_26.as_str()
}

/// The answer to a batch that the session's version does not support.
pub(crate) fn batches_unsupported() -> Value {
    let message = "only sessions of protocol version 2025-03-26 support batches; send each message separately";
    error_response(ErrorCode::INVALID_REQUEST, message, None)
}

/// The answers to a batch, collected until all of them are there.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    waiting: HashSet<RequestId>,
    answers: Vec<Value>,
    bytes: usize,
}

impl Batch {
    /// Takes a batch apart, and returns the messages to handle. `taken` says which identifiers are in use.
    ///
    /// # Errors
    /// The batch is too long; the value is the answer to it.
    pub fn of(
        messages: Vec<Value>,
        taken: impl Fn(&RequestId) -> bool,
    ) -> Result<(Self, Vec<ClientJsonRpcMessage>), Value> {
        if messages.len() > MAX_MESSAGES {
            let message = format!("the batch has {} messages; at most {MAX_MESSAGES} are allowed", messages.len());
            return Err(error_response(ErrorCode::INVALID_REQUEST, message, None));
        }
        let (mut batch, mut work) = (Batch::default(), Vec::new());
        for message in messages {
            match single(message) {
                Incoming::One(message) => match batch.refuses(&message, &taken) {
                    Some(answer) => batch.push(answer),
                    None => work.push(*message),
                },
                Incoming::Bad(answer) => batch.push(answer),
                Incoming::Ignored | Incoming::Batch(_) => {}
            }
        }
        Ok((batch, work))
    }

    fn refuses(&mut self, message: &ClientJsonRpcMessage, taken: impl Fn(&RequestId) -> bool) -> Option<Value> {
        let JsonRpcMessage::Request(request) = message else { return None };
        let refused = |message: &str| Some(error_response(ErrorCode::INVALID_REQUEST, message, Some(&request.id)));
        if matches!(request.request, ClientRequest::InitializeRequest(_)) {
            return refused("initialize must not be part of a batch");
        }
        if taken(&request.id) || !self.waiting.insert(request.id.clone()) {
            return refused("another request of this session has this id");
        }
        None
    }

    fn push(&mut self, answer: Value) {
        self.answers.push(answer);
    }

    /// True if the batch waits for the answer to a request.
    pub fn waits_for(&self, id: &RequestId) -> bool {
        self.waiting.contains(id)
    }

    /// Adds the answer to a request of the batch.
    pub fn answer(&mut self, id: &RequestId, answer: Value) {
        if self.waiting.remove(id) {
            self.bytes += answer.to_string().len();
            let fits = self.bytes <= MAX_ANSWER_BYTES;
            let message = "the answers of the batch are too long together; send this request separately";
            self.push(if fits { answer } else { error_response(ErrorCode::INTERNAL_ERROR, message, Some(id)) });
        }
    }

    /// Stops waiting for a request that was cancelled.
    pub fn cancel(&mut self, id: &RequestId) {
        self.waiting.remove(id);
    }

    /// All answers, once none is missing. The inner value is `None` when no message of the batch gets an answer.
    pub fn done(&mut self) -> Option<Option<Value>> {
        self.waiting.is_empty().then(|| {
            let answers = std::mem::take(&mut self.answers);
            (!answers.is_empty()).then_some(Value::Array(answers))
        })
    }
}

/// The request that a message cancels.
pub(crate) fn cancelled(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Notification(notification) => match &notification.notification {
            ClientNotification::CancelledNotification(cancelled) => cancelled.params.request_id.as_ref(),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::NumberOrString;

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
        assert!(matches!(read(format!("[{good}]").as_bytes()), Incoming::Batch(_)));
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

    fn ping(id: u64) -> Value {
        json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })
    }

    #[test]
    fn a_batch_is_answered_when_all_of_it_is() {
        let notification = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let begin = json!({ "jsonrpc": "2.0", "id": 9, "method": "initialize", "params": {
            "protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
        let messages = vec![ping(1), ping(2), ping(2), json!(5), notification.clone(), begin, ping(3)];
        let (mut batch, work) = Batch::of(messages, |id| *id == NumberOrString::Number(3)).expect("short enough");
        assert_eq!(work.len(), 3, "{work:?}");
        assert!(batch.done().is_none());
        batch.answer(&NumberOrString::Number(1), json!({ "id": 1, "result": {} }));
        batch.cancel(&NumberOrString::Number(2));
        let answers = batch.done().flatten().expect("answers");
        let codes: Vec<Option<i64>> =
            answers.as_array().expect("a list").iter().map(|one| one["error"]["code"].as_i64()).collect();
        assert_eq!(codes, [Some(-32600), Some(-32600), Some(-32600), Some(-32600), None]);
        let (mut silent, work) = Batch::of(vec![notification], |_| false).expect("short enough");
        assert_eq!((work.len(), silent.done()), (1, Some(None)));
        assert!(Batch::of(vec![ping(1); MAX_MESSAGES + 1], |_| false).is_err());
    }

    #[test]
    fn answers_that_are_too_long_together_are_refused_one_by_one() {
        let (mut batch, _) = Batch::of((0..3).map(ping).collect(), |_| false).expect("short enough");
        for id in 0..3 {
            batch.answer(&NumberOrString::Number(id), json!({ "id": id, "result": "x".repeat(400_000) }));
        }
        let answers = batch.done().flatten().expect("answers");
        assert!(answers.to_string().len() < 1_000_000 && answers[2]["error"]["code"] == -32603, "{}", answers[2]);
    }
}
