//! Tests against a server in the same process that fails in the usual ways.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use super::*;

/// The server's reaction to one request.
enum Reply {
    /// Status, headers beyond the usual, body.
    Http(u16, &'static str, String),
    /// The requested vectors, with this many entries: text `n` gets the unit vector of axis `n`.
    Vectors(usize),
    /// A content length larger than the body.
    CutShort(&'static str),
    /// Nothing, until the client gives up.
    Hang,
}

/// Serves the replies in order. The channel yields the requests.
fn serve(replies: Vec<Reply>) -> (RemoteConfig, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut config = RemoteConfig::new(&format!("http://{}/v1/embeddings", listener.local_addr().unwrap()), "test");
    config.dimension = Some(4);
    config.first_wait = Duration::from_millis(1);
    config.timeout = Duration::from_secs(10);
    let (requests, received) = channel();
    std::thread::spawn(move || {
        for reply in replies {
            let (stream, _) = listener.accept().unwrap();
            answer(stream, reply, &requests);
        }
    });
    (config, received)
}

fn answer(mut stream: TcpStream, reply: Reply, requests: &Sender<String>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        reader.read_line(&mut head).unwrap();
    }
    let lower = head.to_lowercase();
    let length = lower.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()).map(str::trim);
    let mut body = vec![0; length.expect("a request has a length").parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    let body = String::from_utf8(body).unwrap();
    let sent: serde_json::Value = serde_json::from_str(&body).unwrap();
    let count = sent["input"].as_array().map_or(0, Vec::len);
    requests.send(format!("{head}{body}")).unwrap();
    let http = |status: u16, headers: &str, length: usize, body: &str| {
        format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}")
    };
    let text = match reply {
        Reply::Http(status, headers, body) => http(status, headers, body.len(), &body),
        Reply::Vectors(dimension) => {
            let body = vectors(0..count, dimension);
            http(200, "", body.len(), &body)
        }
        Reply::CutShort(body) => http(200, "", body.len() + 100, body),
        Reply::Hang => {
            // Ends when the client closes the connection.
            let _ = reader.read(&mut [0]);
            return;
        }
    };
    let _ = stream.write_all(text.as_bytes());
}

/// Makes an answer with the given indices in the given order.
fn vectors(indices: impl IntoIterator<Item = usize>, dimension: usize) -> String {
    let entry = |index: usize| {
        let embedding: Vec<f32> = (0..dimension).map(|at| if at == index % dimension { 2.0 } else { 0.0 }).collect();
        serde_json::json!({"index": index, "embedding": embedding})
    };
    serde_json::json!({"data": indices.into_iter().map(entry).collect::<Vec<_>>()}).to_string()
}

fn direction(at: usize) -> Vec<f32> {
    (0..4).map(|n| if n == at { 1.0 } else { 0.0 }).collect()
}

fn fails(replies: Vec<Reply>, change: impl Fn(&mut RemoteConfig)) -> (EmbedError, usize) {
    let (mut config, requests) = serve(replies);
    config.api_key = Some("sesame".to_owned());
    change(&mut config);
    let host = config.url.clone();
    let error = Remote::connect(config).unwrap().embed_passages(&["a", "b"]).unwrap_err();
    let message = format!("{error} {error:?}");
    assert!(message.contains(&host) && !message.contains("sesame"), "{message}");
    (error, requests.try_iter().count())
}

#[test]
fn passages_are_sent_in_batches_with_prefix_and_key() {
    let (mut config, requests) = serve(vec![Reply::Vectors(4), Reply::Vectors(4)]);
    config.api_key = Some("sesame".to_owned());
    config.batch_size = 2;
    config.passage_prefix = "passage: ".to_owned();
    let vectors = Remote::connect(config).unwrap().embed_passages(&["a", " ", "b", "c"]).unwrap();
    assert_eq!(vectors, [direction(0), vec![0.0; 4], direction(1), direction(0)]);
    let (first, second) = (requests.recv().unwrap(), requests.recv().unwrap());
    assert!(first.starts_with("POST /v1/embeddings HTTP/1.1"), "{first}");
    assert!(first.to_lowercase().contains("authorization: bearer sesame"), "{first}");
    let body = r#"{"model":"test","input":["passage: a","passage: b"],"encoding_format":"float"}"#;
    assert!(first.ends_with(body), "{first}");
    assert!(second.contains(r#"["passage: c"]"#), "{second}");
}

#[test]
fn the_dimension_is_learned_and_can_be_asked_for() {
    let (mut config, requests) = serve(vec![Reply::Vectors(3), Reply::Vectors(3)]);
    config.dimension = None;
    let remote = Remote::connect(config).unwrap();
    assert_eq!((remote.model().dimension, remote.model().is_remote()), (3, true));
    assert_eq!(remote.embed_query("q").unwrap(), [1.0, 0.0, 0.0]);
    assert_eq!(requests.iter().take(2).count(), 2);

    let (mut config, requests) = serve(vec![Reply::Vectors(4)]);
    config.request_dimension = true;
    Remote::connect(config).unwrap().embed_query("q").unwrap();
    assert!(requests.recv().unwrap().contains(r#""dimensions":4"#));
}

#[test]
fn transient_failures_are_retried() {
    let replies = vec![
        Reply::Http(429, "retry-after: 0\r\n", "slow down".to_owned()),
        Reply::Http(500, "", String::new()),
        Reply::Http(503, "", "busy".to_owned()),
        Reply::CutShort("{\"data\": ["),
        Reply::Http(200, "", "{\"data\": [".to_owned()),
        Reply::Vectors(4),
    ];
    let (config, requests) = serve(replies);
    let vectors = Remote::connect(config).unwrap().embed_passages(&["a", "b"]).unwrap();
    assert_eq!(vectors, [direction(0), direction(1)]);
    assert_eq!(requests.try_iter().count(), 6);
}

#[test]
fn retries_end() {
    let replies = (0..3).map(|_| Reply::Http(500, "", "out of memory".to_owned())).collect();
    let (error, requests) = fails(replies, |config| config.max_retries = 2);
    assert!(matches!(error, EmbedError::Unavailable { attempts: 3, .. }), "{error}");
    assert!(error.to_string().contains("status 500: out of memory"), "{error}");
    assert_eq!(requests, 3);
}

#[test]
fn a_wait_beyond_the_longest_is_an_error() {
    let (error, requests) = fails(vec![Reply::Http(429, "retry-after: 3600\r\n", String::new())], |_| ());
    assert!(matches!(error, EmbedError::Unavailable { attempts: 1, .. }), "{error}");
    assert_eq!(requests, 1);
}

#[test]
fn refusals_are_final() {
    for (status, hint) in [(401, "API key"), (403, "API key"), (404, "address"), (400, "settings"), (302, "redirect")] {
        let (error, requests) = fails(vec![Reply::Http(status, "", "bad key sesame".to_owned())], |_| ());
        assert!(matches!(error, EmbedError::Refused { status: found, .. } if found == status), "{error}");
        assert!(error.to_string().contains(hint), "{error}");
        assert_eq!(requests, 1);
    }
}

#[test]
fn a_server_that_hangs_times_out() {
    let (error, requests) = fails(vec![Reply::Hang, Reply::Hang], |config| {
        config.timeout = Duration::from_millis(100);
        config.max_retries = 1;
    });
    assert!(error.to_string().contains("no answer in time"), "{error}");
    assert_eq!(requests, 2);
}

#[test]
fn wrong_answers_are_not_used() {
    for (body, named) in [
        (vectors(0..1, 4), "2 texts were sent and 1 vectors came"),
        (vectors(0..2, 5), "5 entries; expected 4"),
        (vectors([1, 1], 4), "index 1 came twice"),
        (vectors(0..2, 4).replace("2.0", "null"), "not a finite number"),
        ("{\"data\": 7}".to_owned(), "not an embeddings answer"),
        ("<!doctype html>".to_owned(), "not an embeddings answer"),
    ] {
        let (error, requests) = fails(vec![Reply::Http(200, "", body)], |_| ());
        assert!(matches!(error, EmbedError::Answer { .. }) && error.to_string().contains(named), "{error}");
        assert_eq!(requests, 1);
    }
}

#[test]
fn shuffled_answers_are_put_in_order() {
    let (config, _requests) = serve(vec![Reply::Http(200, "", vectors([2, 0, 1], 4))]);
    let vectors = Remote::connect(config).unwrap().embed_passages(&["a", "b", "c"]).unwrap();
    assert_eq!(vectors, [direction(0), direction(1), direction(2)]);
}

#[test]
fn a_refused_connection_is_named() {
    let unused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut config = RemoteConfig::new(&format!("http://{unused}/v1/embeddings"), "test");
    config.max_retries = 1;
    config.first_wait = Duration::from_millis(1);
    let error = Remote::connect(config).unwrap_err();
    assert!(matches!(error, EmbedError::Unavailable { attempts: 2, .. }), "{error}");
    assert!(
        error.to_string().contains("connection refused") && error.to_string().contains(&unused.to_string()),
        "{error}"
    );
}

#[test]
fn settings_out_of_range_are_named() {
    let refused = |change: fn(&mut RemoteConfig)| {
        let mut config = RemoteConfig::new("http://127.0.0.1:9/v1/embeddings", "test");
        config.api_key = Some("sesame".to_owned());
        change(&mut config);
        match Remote::connect(config).unwrap_err() {
            EmbedError::Setting { setting, .. } => setting,
            other => panic!("{other}"),
        }
    };
    assert_eq!(refused(|config| config.url = "localhost:1".to_owned()), "url");
    assert_eq!(refused(|config| config.model.clear()), "model");
    assert_eq!(refused(|config| config.batch_size = 0), "batch_size");
    assert_eq!(refused(|config| config.dimension = Some(0)), "dimension");
    assert_eq!(refused(|config| config.timeout = Duration::ZERO), "timeout");
    assert_eq!(refused(|config| config.requests_per_minute = Some(0)), "requests_per_minute");
    assert_eq!(refused(|config| config.fusion_weight = f32::NAN), "fusion_weight");
}

#[test]
fn the_identifier_holds_model_and_prefixes_but_no_secrets() {
    let mut config = RemoteConfig::new("https://me:pass@api.example.org/v1/embeddings?key=k", "m");
    config.api_key = Some("sesame".to_owned());
    assert_eq!(config.id(), "openai:m@api.example.org");
    config.query_prefix = "query: ".to_owned();
    assert!(config.id().starts_with("openai:m@api.example.org#"));
    let debug = format!("{config:?}");
    assert!(!debug.contains("sesame") && !debug.contains("pass") && !debug.contains("key=k"), "{debug}");
}

/// A chat model behind such a server.
fn chat(replies: Vec<Reply>) -> (Chat, Receiver<String>) {
    let (remote, requests) = serve(replies);
    let mut config = ChatConfig::new(&remote.url.replace("embeddings", "chat/completions"), "judge");
    config.api_key = Some("sesame".to_owned());
    config.first_wait = Duration::from_millis(1);
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
