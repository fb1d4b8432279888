//! Tests of chat models.

use std::sync::mpsc::Receiver;
use std::time::Duration;

use super::server::{Reply, serve};
use crate::remote::*;

/// A chat model behind such a server.
fn chat(replies: Vec<Reply>) -> (Chat, Receiver<String>) {
    let (address, requests) = serve(replies);
    let mut config = ChatConfig::new(&format!("{address}/v1/chat/completions"), "judge");
    config.endpoint.api_key = Some("sesame".to_owned());
    config.endpoint.first_wait = Duration::from_millis(1);
    (Chat::new(config).unwrap(), requests)
}

fn said(text: &str) -> Reply {
    let body = serde_json::json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]});
    Reply::Http(200, "", body.to_string())
}

#[test]
fn a_message_is_sent_at_temperature_zero_and_retried_like_any_request() {
    let (chat, requests) = chat(vec![Reply::Http(503, "", "busy".to_owned()), Reply::CutShort("{"), said("yes")]);
    assert_eq!(chat.ask("is it?").unwrap().text, "yes");
    let request = requests.recv().unwrap();
    assert!(request.starts_with("POST /v1/chat/completions HTTP/1.1"), "{request}");
    assert!(request.to_lowercase().contains("authorization: bearer sesame"), "{request}");
    let body = r#"{"model":"judge","messages":[{"role":"user","content":"is it?"}],"temperature":0.0,"max_tokens":1024,"stream":false}"#;
    assert!(request.ends_with(body), "{request}");
    assert_eq!(requests.try_iter().count(), 2);
}

#[test]
fn a_model_that_refuses_a_parameter_gets_the_other_one_from_then_on() {
    let refusal = |text: &str| Reply::Http(400, "", text.to_owned());
    let replies = vec![
        refusal("'max_tokens' is not supported, use 'max_completion_tokens'"),
        refusal("'temperature' does not support 0"),
        said("one"),
        said("two"),
        refusal("temperature"),
    ];
    let (chat, requests) = chat(replies);
    assert_eq!((chat.ask("a").unwrap().text.as_str(), chat.ask("b").unwrap().text.as_str()), ("one", "two"));
    let last = requests.try_iter().nth(3).unwrap();
    assert!(last.contains("max_completion_tokens\":1024") && !last.contains("temperature"), "{last}");
    assert!(matches!(chat.ask("c"), Err(EmbedError::Refused { status: 400, .. })), "it is not asked for ever");
}

#[test]
fn a_chat_model_that_refuses_is_named_without_its_key() {
    let (chat, _requests) = chat(vec![Reply::Http(401, "", "bad key sesame".to_owned())]);
    let error = chat.ask("a").unwrap_err().to_string();
    assert!(error.contains("check the API key") && !error.contains("sesame"), "{error}");
}
