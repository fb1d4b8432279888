//! Several messages in one request. Each goes to the protocol by itself, and the answers return together.

use super::protocol::Protocol;
use crate::messages::Batch;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::response::Response;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage};
use serde_json::Value;
use tokio::task::JoinSet;

/// The answers to the messages of a batch; `None` when none of them gets an answer.
pub(super) async fn answered(
    protocol: &Protocol,
    parts: &Parts,
    mut batch: Batch,
    messages: Vec<ClientJsonRpcMessage>,
) -> Option<Value> {
    // Dropping the set stops the calls in progress, just as closing the connection stops a single call.
    let mut working = JoinSet::new();
    for message in messages {
        let (protocol, parts) = (protocol.clone(), parts.clone());
        working.spawn(async move {
            let body = serde_json::to_vec(&message).unwrap_or_default();
            let response = protocol.handle(Request::from_parts(parts, Body::from(body))).await.map(Body::new);
            match message {
                JsonRpcMessage::Request(request) => Some((request.id, answer(response).await)),
                // Notifications and responses get no answer.
                _ => None,
            }
        });
    }
    while let Some(done) = working.join_next().await {
        let Ok(Some((id, answer))) = done else { continue };
        match answer {
            Some(answer) => batch.answer(&id, answer),
            // The client cancelled it.
            None => batch.cancel(&id),
        }
    }
    batch.done().flatten()
}

/// The answer in a response: its only message, or the last of a stream of events.
async fn answer(response: Response) -> Option<Value> {
    let body = to_bytes(response.into_body(), usize::MAX).await.ok()?;
    let has_id = |value: &Value| value.get("id").is_some_and(|id| id.is_string() || id.is_i64());
    let is_answer = |value: &Value| has_id(value) && value.get("method").is_none();
    if let Ok(value) = serde_json::from_slice::<Value>(&body) {
        return Some(value).filter(is_answer);
    }
    let text = std::str::from_utf8(&body).ok()?;
    let events = text.lines().filter_map(|line| line.strip_prefix("data:"));
    events.filter_map(|data| serde_json::from_str(data).ok()).find(is_answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_answer_is_found_as_json_and_among_events() {
        let of = |body: &'static str| async move { answer(Response::new(Body::from(body))).await };
        assert!(of(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await.is_some());
        let events = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n\
                      id: 0/1\ndata:{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{}}\n\n";
        assert_eq!(of(events).await.expect("an answer")["id"], "a");
        assert!(of("Not Found").await.is_none() && of("").await.is_none());
    }
}
