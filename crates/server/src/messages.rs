//! Reads incoming messages, and answers bytes that are none.
//!
//! The protocol's library ignores bytes that are not JSON. JSON-RPC demands an error for them.

use crate::sanitize;
use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, RequestId};
use serde_json::{Value, json};
use std::borrow::Cow;

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
    let error = sanitize::error(ErrorData::new(code, message.into(), None));
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::{JsonRpcMessage, NumberOrString};

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
