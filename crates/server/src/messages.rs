//! Messages as they come in: one, a batch, or bytes that are no message and what is answered to them.
//!
//! The protocol's library passes over bytes that are not JSON, and refuses batches. JSON-RPC wants an error for the first, and
//! version 2025-03-26 of the protocol, alone among them, has the second.

use crate::seal;
use rmcp::ErrorData;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, JsonRpcMessage, NumberOrString,
    ProtocolVersion, RequestId,
};
use serde_json::{Value, json};
use std::collections::HashSet;

/// Most messages of a batch.
const MOST: usize = 100;

/// Most bytes of the answers of a batch together: some clients read no more than a megabyte at a time.
const MOST_BYTES: usize = 900_000;

/// What came in.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// A message.
    One(Box<ClientJsonRpcMessage>),
    /// Several in a list.
    Batch(Vec<Value>),
    /// A notification that nobody knows, which nobody answers.
    Ignored,
    /// None, and what is answered.
    Bad(Value),
}

/// Reads what came in.
pub(crate) fn read(bytes: &[u8]) -> Incoming {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let value: Value = match serde_json::from_slice(bytes) {
        Ok(value) => value,
        Err(error) => return Incoming::Bad(refused(ErrorCode::PARSE_ERROR, format!("not JSON: {error}"), None)),
    };
    match value {
        Value::Array(messages) if messages.is_empty() => {
            Incoming::Bad(refused(ErrorCode::INVALID_REQUEST, "a batch of no messages", None))
        }
        Value::Array(messages) => Incoming::Batch(messages),
        one => single(one),
    }
}

/// One message, as its own line or as part of a batch.
fn single(value: Value) -> Incoming {
    let id = value.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
    let is_notification = value.get("id").is_none() && value.get("method").is_some_and(Value::is_string);
    match serde_json::from_value(value) {
        Ok(message) => Incoming::One(Box::new(message)),
        // Nobody waits for an answer to a notification.
        Err(_) if is_notification => Incoming::Ignored,
        Err(error) => Incoming::Bad(refused(
            ErrorCode::INVALID_REQUEST,
            format!("no message of JSON-RPC 2.0 that this server knows: {error}"),
            id.as_ref(),
        )),
    }
}

/// An error as it is sent.
pub(crate) fn refused(code: ErrorCode, message: impl Into<String>, id: Option<&RequestId>) -> Value {
    let error = seal::error(ErrorData::new(code, message.into(), None));
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

/// Whether a session of this version may send batches.
pub(crate) fn has_batches(version: &str) -> bool {
    version == ProtocolVersion::V_2025_03_26.as_str()
}

/// Why a batch is refused.
pub(crate) fn no_batches() -> Value {
    let message = "a batch: only sessions of protocol version 2025-03-26 have them; send each message by itself";
    refused(ErrorCode::INVALID_REQUEST, message, None)
}

/// A batch: the messages to work on, and what is to be answered together.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    waiting: HashSet<RequestId>,
    answers: Vec<Value>,
    bytes: usize,
}

impl Batch {
    /// Takes a batch apart. `taken` says which identifiers are in use.
    ///
    /// # Errors
    /// The batch is too long, as the answer that says so.
    pub fn of(
        messages: Vec<Value>,
        taken: impl Fn(&RequestId) -> bool,
    ) -> Result<(Self, Vec<ClientJsonRpcMessage>), Value> {
        if messages.len() > MOST {
            let message = format!("a batch of {} messages: must have at most {MOST}", messages.len());
            return Err(refused(ErrorCode::INVALID_REQUEST, message, None));
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
        let refused = |message: &str| Some(refused(ErrorCode::INVALID_REQUEST, message, Some(&request.id)));
        if matches!(request.request, ClientRequest::InitializeRequest(_)) {
            return refused("initialize: must not be part of a batch");
        }
        if taken(&request.id) || !self.waiting.insert(request.id.clone()) {
            return refused("id: another request of this session has it");
        }
        None
    }

    fn push(&mut self, answer: Value) {
        self.answers.push(answer);
    }

    /// Whether a request of this identifier is waited for.
    pub fn waits_for(&self, id: &RequestId) -> bool {
        self.waiting.contains(id)
    }

    /// Takes the answer to a request of the batch.
    pub fn answer(&mut self, id: &RequestId, answer: Value) {
        if self.waiting.remove(id) {
            self.bytes += answer.to_string().len();
            let fits = self.bytes <= MOST_BYTES;
            let message = "the answers of the batch are too long together; send this request by itself";
            self.push(if fits { answer } else { refused(ErrorCode::INTERNAL_ERROR, message, Some(id)) });
        }
    }

    /// A request of the batch gets no answer any more.
    pub fn cancel(&mut self, id: &RequestId) {
        self.waiting.remove(id);
    }

    /// All answers, once there is nothing more to wait for; `None` in it: there is nothing to answer.
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
        JsonRpcMessage::Notification(told) => match &told.notification {
            ClientNotification::CancelledNotification(cancelled) => cancelled.params.request_id.as_ref(),
            _ => None,
        },
        _ => None,
    }
}

/// An identifier as a message has it.
pub(crate) fn id_of(value: &Value) -> Option<RequestId> {
    match value.get("id")? {
        Value::String(text) => Some(NumberOrString::String(text.as_str().into())),
        Value::Number(number) => number.as_i64().map(NumberOrString::Number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(bytes: &str) -> Option<(i64, Value)> {
        match read(bytes.as_bytes()) {
            Incoming::Bad(answer) => Some((answer["error"]["code"].as_i64().expect("a code"), answer["id"].clone())),
            _ => None,
        }
    }

    #[test]
    fn what_is_no_message_is_answered_by_what_is_wrong_with_it() {
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
        let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let begin = json!({ "jsonrpc": "2.0", "id": 9, "method": "initialize", "params": {
            "protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
        let messages = vec![ping(1), ping(2), ping(2), json!(5), told.clone(), begin, ping(3)];
        let (mut batch, work) = Batch::of(messages, |id| *id == NumberOrString::Number(3)).expect("short enough");
        assert_eq!(work.len(), 3, "{work:?}");
        assert!(batch.done().is_none());
        batch.answer(&NumberOrString::Number(1), json!({ "id": 1, "result": {} }));
        batch.cancel(&NumberOrString::Number(2));
        let answers = batch.done().flatten().expect("answers");
        let codes: Vec<Option<i64>> =
            answers.as_array().expect("a list").iter().map(|one| one["error"]["code"].as_i64()).collect();
        assert_eq!(codes, [Some(-32600), Some(-32600), Some(-32600), Some(-32600), None]);
        let (mut silent, work) = Batch::of(vec![told], |_| false).expect("short enough");
        assert_eq!((work.len(), silent.done()), (1, Some(None)));
        assert!(Batch::of(vec![ping(1); MOST + 1], |_| false).is_err());
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
