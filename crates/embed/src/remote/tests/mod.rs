//! Tests against a server in the same process that fails in the usual ways.

mod rerank;
mod server;

use std::sync::mpsc::Receiver;
use std::time::Duration;

use super::*;
use server::{Reply, nobody, vectors};

/// An embeddings endpoint that gives these replies.
fn serve(replies: Vec<Reply>) -> (RemoteConfig, Receiver<String>) {
    let (address, requests) = server::serve(replies);
    let mut config = RemoteConfig::new(&format!("{address}/v1/embeddings"), "test");
    config.dimension = Some(4);
    config.endpoint.first_wait = Duration::from_millis(1);
    config.endpoint.timeout = Duration::from_secs(10);
    (config, requests)
}

fn direction(at: usize) -> Vec<f32> {
    (0..4).map(|n| if n == at { 1.0 } else { 0.0 }).collect()
}

fn fails(replies: Vec<Reply>, change: impl Fn(&mut RemoteConfig)) -> (EmbedError, usize) {
    let (mut config, requests) = serve(replies);
    config.endpoint.api_key = Some("sesame".to_owned());
    change(&mut config);
    let host = config.endpoint.url.clone();
    let error = Remote::connect(config).unwrap().embed_passages(&["a", "b"]).unwrap_err();
    let message = format!("{error} {error:?}");
    assert!(message.contains(&host) && !message.contains("sesame"), "{message}");
    (error, requests.try_iter().count())
}

#[test]
fn passages_are_sent_in_batches_with_prefix_and_key() {
    let (mut config, requests) = serve(vec![Reply::Vectors(4), Reply::Vectors(4)]);
    config.endpoint.api_key = Some("sesame".to_owned());
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
    let (error, requests) = fails(replies, |config| config.endpoint.max_retries = 2);
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
        config.endpoint.timeout = Duration::from_millis(100);
        config.endpoint.max_retries = 1;
    });
    assert!(error.to_string().contains("no answer in time"), "{error}");
    assert_eq!(requests, 2);
}

#[test]
fn wrong_answers_are_not_used() {
    for (body, named) in [
        (vectors(0..1, 4), "2 texts were sent and 1 vectors came"),
        ("<!doctype html>".to_owned(), "not an embeddings answer"),
    ] {
        let (error, requests) = fails(vec![Reply::Http(200, "", body)], |_| ());
        assert!(matches!(error, EmbedError::Answer { .. }) && error.to_string().contains(named), "{error}");
        assert_eq!(requests, 1);
    }
}

#[test]
fn a_refused_connection_is_named() {
    let unused = nobody();
    let mut config = RemoteConfig::new(&format!("{unused}/v1/embeddings"), "test");
    config.endpoint.max_retries = 1;
    config.endpoint.first_wait = Duration::from_millis(1);
    let error = Remote::connect(config).unwrap_err();
    assert!(matches!(error, EmbedError::Unavailable { attempts: 2, .. }), "{error}");
    assert!(error.to_string().contains("connection refused") && error.to_string().contains(&unused), "{error}");
}

#[test]
fn settings_out_of_range_are_named() {
    let refused = |change: fn(&mut RemoteConfig)| {
        let mut config = RemoteConfig::new("http://127.0.0.1:9/v1/embeddings", "test");
        config.endpoint.api_key = Some("sesame".to_owned());
        change(&mut config);
        match Remote::connect(config).unwrap_err() {
            EmbedError::Setting { setting, .. } => setting,
            other => panic!("{other}"),
        }
    };
    assert_eq!(refused(|config| config.endpoint.url = "localhost:1".to_owned()), "url");
    assert_eq!(refused(|config| config.endpoint.model.clear()), "model");
    assert_eq!(refused(|config| config.batch_size = 0), "batch_size");
    assert_eq!(refused(|config| config.dimension = Some(0)), "dimension");
    assert_eq!(refused(|config| config.endpoint.timeout = Duration::ZERO), "timeout");
    assert_eq!(refused(|config| config.endpoint.requests_per_minute = Some(0)), "requests_per_minute");
    assert_eq!(refused(|config| config.fusion_weight = f32::NAN), "fusion_weight");
}

#[test]
fn the_identifier_holds_model_and_prefixes_but_no_secrets() {
    let mut config = RemoteConfig::new("https://me:pass@api.example.org/v1/embeddings?key=k", "m");
    config.endpoint.api_key = Some("sesame".to_owned());
    assert_eq!(config.id(), "openai:m@api.example.org");
    config.query_prefix = "query: ".to_owned();
    assert!(config.id().starts_with("openai:m@api.example.org#"));
    let debug = format!("{config:?}");
    assert!(!debug.contains("sesame") && !debug.contains("pass@") && !debug.contains("key=k"), "{debug}");
}
