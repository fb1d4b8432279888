//! Tests of rerankers.

use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::server::{Reply, serve};
use crate::Reranker;
use crate::remote::*;

/// A reranker behind such a server.
fn reranker(replies: Vec<Reply>, change: impl Fn(&mut RemoteRerankerConfig)) -> (RemoteReranker, Receiver<String>) {
    let (address, requests) = serve(replies);
    let mut config = RemoteRerankerConfig::new(&format!("{address}/v1/rerank"), "judge");
    config.endpoint.api_key = Some("sesame".to_owned());
    config.endpoint.first_wait = Duration::from_millis(1);
    config.endpoint.timeout = Duration::from_secs(10);
    change(&mut config);
    (RemoteReranker::new(config).unwrap(), requests)
}

/// A score for each text: the number that it is, the largest first.
fn scores(texts: &Value, name: &str) -> Vec<Value> {
    let texts = texts.as_array().expect("a list of texts").iter().enumerate();
    let mut scores: Vec<(usize, f64)> = texts.map(|(at, text)| (at, text.as_str().unwrap().parse().unwrap())).collect();
    scores.sort_by(|one, other| other.1.total_cmp(&one.1));
    scores.into_iter().map(|(index, score)| json!({"index": index, (name): score})).collect()
}

/// Answers as Jina, Cohere, vLLM and llama.cpp do.
const USUAL: Reply = Reply::Made(|one| json!({"model": "m", "results": scores(&one["documents"], "relevance_score")}));

/// Answers as Text Embeddings Inference does.
const TEXTS: Reply = Reply::Made(|sent| json!(scores(&sent["texts"], "score")));

fn near(found: &[f32], expected: &[f32]) -> bool {
    found.len() == expected.len() && found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-4)
}

/// The error of a call, which never shows the key, and the number of requests.
fn fails(replies: Vec<Reply>, change: impl Fn(&mut RemoteRerankerConfig)) -> (EmbedError, usize) {
    let (reranker, requests) = reranker(replies, change);
    let error = reranker.score("q", &["0.1", "0.2"]).unwrap_err();
    let message = format!("{error} {error:?} {reranker:?}");
    assert!(message.contains("http://127.0.0.1") && !message.contains("sesame"), "{message}");
    (error, requests.try_iter().count())
}

#[test]
fn probabilities_become_log_odds_in_the_order_of_the_passages_and_nothing_is_sent_for_nothing() {
    let (reranker, requests) = reranker(vec![USUAL], |_| ());
    let odds = reranker.score("q", &["0.5", " ", "0.9", "0.1"]).unwrap();
    assert!(near(&odds, &[0.0, 0.0, 9f32.ln(), -9f32.ln()]), "{odds:?}");
    assert!(reranker.info().is_remote());
    let request = requests.recv().unwrap();
    assert!(request.starts_with("POST /v1/rerank HTTP/1.1"), "{request}");
    assert!(request.to_lowercase().contains("authorization: bearer sesame"), "{request}");
    let body = r#"{"model":"judge","query":"q","documents":["0.5","0.9","0.1"],"top_n":3,"return_documents":false}"#;
    assert!(request.ends_with(body), "{request}");
    let (reranker, requests) = self::reranker(Vec::new(), |_| ());
    assert_eq!(reranker.score(" ", &["0.5"]).unwrap(), [0.0]);
    assert_eq!(reranker.score("q", &["", "\n"]).unwrap(), [0.0, 0.0]);
    assert!(reranker.score("q", &[]).unwrap().is_empty());
    assert_eq!(requests.try_iter().count(), 0);
}

#[test]
fn many_passages_are_sent_in_batches_and_read_alike_and_the_meaning_of_scores_can_be_set() {
    let (reranker, requests) = reranker(vec![USUAL, USUAL, USUAL], |config| config.batch_size = 2);
    // A score outside 0 to 1 in the second batch shows that all are log odds, and so are later ones.
    assert!(near(&reranker.score("q", &["0.5", "0.9", "-3.5"]).unwrap(), &[0.5, 0.9, -3.5]));
    assert!(near(&reranker.score("q", &["0.75"]).unwrap(), &[0.75]));
    assert_eq!(requests.try_iter().count(), 3);
    let (logits, _requests) = self::reranker(vec![USUAL], |config| config.scores = RerankScores::LogOdds);
    assert!(near(&logits.score("q", &["0.5", "0.9"]).unwrap(), &[0.5, 0.9]));
    let (probabilities, _requests) = self::reranker(vec![USUAL], |config| config.scores = RerankScores::Probabilities);
    let error = probabilities.score("q", &["0.5", "7.5"]).unwrap_err().to_string();
    assert!(error.contains("7.5") && error.contains("set the scores to log odds"), "{error}");
}

#[test]
fn a_server_that_wants_texts_gets_them_from_then_on() {
    let refusal = || Reply::Http(422, "", "Failed to deserialize the JSON body: missing field `texts`".to_owned());
    let (reranker, requests) = reranker(vec![refusal(), TEXTS, TEXTS], |_| ());
    assert!(near(&reranker.score("q", &["0.5", "-0.25"]).unwrap(), &[0.5, -0.25]), "it is asked for log odds");
    assert!(near(&reranker.score("q", &["0.75"]).unwrap(), &[0.75]));
    let bodies: Vec<String> = requests.try_iter().collect();
    assert_eq!(bodies.len(), 3);
    let asked = r#"{"query":"q","texts":["0.5","-0.25"],"raw_scores":true,"truncate":true}"#;
    assert!(bodies[1].ends_with(asked), "{bodies:?}");
}

#[test]
fn a_server_that_refuses_a_key_is_asked_without_it() {
    let no_return = Reply::Http(400, "", "unknown field: return_documents".to_owned());
    let no_top = Reply::Http(400, "", r#"{"detail": "Argument 'top_n' is not supported by our API"}"#.to_owned());
    let (reranker, requests) = reranker(vec![no_return, no_top, USUAL, USUAL], |_| ());
    assert!(near(&reranker.score("q", &["0.5"]).unwrap(), &[0.0]));
    assert!(near(&reranker.score("q", &["0.5"]).unwrap(), &[0.0]));
    let bodies: Vec<String> = requests.try_iter().collect();
    assert!(bodies[1].ends_with(r#""top_n":1}"#) && bodies.len() == 4, "{bodies:?}");
    assert!(bodies[2..].iter().all(|body| body.ends_with(r#""documents":["0.5"]}"#)), "{bodies:?}");
}

#[test]
fn wrong_answers_are_not_used() {
    for (body, named) in [
        (r#"{"results": []}"#.to_owned(), "2 passages were sent and 0 scores came"),
        (" ".repeat(17 << 20), "longer than 16777216 bytes"),
    ] {
        let (error, requests) = fails(vec![Reply::Http(200, "", body)], |_| ());
        assert!(matches!(error, EmbedError::Answer { .. }) && error.to_string().contains(named), "{error}");
        assert_eq!(requests, 1);
    }
}

#[test]
fn a_call_ends_with_its_time() {
    let limited = |config: &mut RemoteRerankerConfig| config.time_limit = Some(Duration::from_millis(200));
    let began = Instant::now();
    let (error, requests) = fails(vec![Reply::Hang, Reply::Hang], limited);
    assert!(matches!(error, EmbedError::Unavailable { .. }), "{error}");
    assert!(error.to_string().contains("no answer in time"), "{error}");
    // The server asks for a wait that nobody has time for.
    let busy = Reply::Http(429, "retry-after: 30\r\n", "slow down".to_owned());
    let (error, waited) = fails(vec![busy], limited);
    assert!(error.to_string().contains("status 429: slow down"), "{error}");
    assert_eq!((requests, waited), (1, 1));
    // The second batch would exceed the rate.
    let (error, sent) = fails(vec![USUAL], |config| {
        limited(config);
        config.batch_size = 1;
        config.endpoint.requests_per_minute = Some(1);
    });
    assert!(error.to_string().contains("requests a minute"), "{error}");
    assert_eq!(sent, 1);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[test]
fn settings_out_of_range_are_named() {
    let refused = |change: fn(&mut RemoteRerankerConfig)| {
        let mut config = RemoteRerankerConfig::new("http://127.0.0.1:9/rerank", "judge");
        change(&mut config);
        match RemoteReranker::new(config).unwrap_err() {
            EmbedError::Setting { setting, .. } => setting,
            other => panic!("{other}"),
        }
    };
    assert_eq!(refused(|config| config.endpoint.url = "localhost:1".to_owned()), "url");
    assert_eq!(refused(|config| config.endpoint.model.clear()), "model");
    assert_eq!(refused(|config| config.batch_size = 0), "batch_size");
    assert_eq!(refused(|config| config.time_limit = Some(Duration::ZERO)), "time_limit");
}
