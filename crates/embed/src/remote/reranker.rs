//! A cross-encoder behind an HTTP endpoint: a query and passages in, a score for each passage out.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::client::{Client, Deadline, Rejected, fill};
use super::endpoint::{EndpointConfig, check};
use crate::{EmbedError, Provider, Reranker, RerankerInfo};

/// The largest answer that is read, in bytes. Some servers send the passages back.
const MAX_ANSWER: u64 = 16 << 20;

/// What the scores of an endpoint mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RerankScores {
    /// Probabilities, unless a score of the same call or an earlier one lies outside 0 to 1: then log odds. Endpoints in the form
    /// of Text Embeddings Inference are asked for log odds.
    #[default]
    Auto,
    /// Probabilities. They become log odds; 0 and 1 count as one in a million from there. A score outside 0 to 1 is refused.
    Probabilities,
    /// Log odds, also called logits or raw scores.
    LogOdds,
}

/// The settings of a remote reranker.
///
/// ```
/// use std::time::Duration;
/// use tamis_embed::RemoteRerankerConfig;
///
/// let mut config = RemoteRerankerConfig::new("https://api.jina.ai/v1/rerank", "jina-reranker-v2-base-multilingual");
/// config.time_limit = Some(Duration::from_secs(2));
/// assert_eq!(config.id(), "rerank:jina-reranker-v2-base-multilingual@api.jina.ai");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteRerankerConfig {
    /// The endpoint, with the whole address, and the model there.
    pub endpoint: EndpointConfig,
    /// The number of passages in a request, at least 1. 32 by default, the most that Text Embeddings Inference takes by default.
    pub batch_size: usize,
    /// What the scores mean.
    pub scores: RerankScores,
    /// The time for one call of [`Reranker::score`], over all its requests, retries and waits; `None`, the default, for any time.
    pub time_limit: Option<Duration>,
}

impl RemoteRerankerConfig {
    /// Names an endpoint and a model. Everything else gets the defaults documented on the fields.
    #[must_use]
    pub fn new(url: &str, model: &str) -> Self {
        Self { endpoint: EndpointConfig::new(url, model), batch_size: 32, scores: RerankScores::Auto, time_limit: None }
    }

    /// Returns the model's identifier: `rerank:MODEL@HOST`.
    #[must_use]
    pub fn id(&self) -> String {
        self.endpoint.id("rerank")
    }

    fn validate(&self) -> Result<(), EmbedError> {
        self.endpoint.validate()?;
        check(self.batch_size > 0, "batch_size", "0", "it must be at least 1")?;
        let allowed = "it must be longer than zero; leave it out to lift the limit";
        check(self.time_limit != Some(Duration::ZERO), "time_limit", "0", allowed)
    }
}

/// A cross-encoder behind an HTTP endpoint in the `/rerank` form of Jina, Cohere (v1 and v2), Voyage, vLLM and llama.cpp, or in
/// that of Text Embeddings Inference.
///
/// The first form is tried first. A server that refuses it for want of `texts` gets the second one, from then on. A key that a
/// server refuses, as Voyage does `top_n`, is left out from then on. Passages without text are not sent; their log odds are 0.
/// The result does not depend on the order of the scores in the answer.
///
/// ```no_run
/// use tamis_embed::{RemoteReranker, RemoteRerankerConfig, Reranker};
///
/// let config = RemoteRerankerConfig::new("http://localhost:8080/v1/rerank", "bge-reranker-v2-m3");
/// let judge = RemoteReranker::new(config)?;
/// let odds = judge.score("how hot must the oven be", &["Heat the oven to 220 degrees.", "Ships wait for the tide."])?;
/// assert!(odds[0] > odds[1]);
/// # Ok::<(), tamis_embed::EmbedError>(())
/// ```
#[derive(Debug)]
pub struct RemoteReranker {
    config: RemoteRerankerConfig,
    info: RerankerInfo,
    client: Client,
    /// The server wants the form of Text Embeddings Inference.
    takes_texts: AtomicBool,
    /// The server refuses `return_documents`.
    refuses_return: AtomicBool,
    /// The server refuses `top_n`.
    refuses_top: AtomicBool,
    /// A score was outside 0 to 1.
    sends_log_odds: AtomicBool,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    query: &'a str,
    documents: &'a [&'a str],
    #[serde(skip_serializing_if = "Option::is_none")]
    top_n: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    return_documents: Option<bool>,
}

/// The form of Text Embeddings Inference. Without `truncate` it refuses long passages.
#[derive(Serialize)]
struct TextsBody<'a> {
    query: &'a str,
    texts: &'a [&'a str],
    raw_scores: bool,
    truncate: bool,
}

impl RemoteReranker {
    /// Checks the settings. Nothing is sent.
    ///
    /// # Errors
    /// A setting is out of range.
    pub fn new(config: RemoteRerankerConfig) -> Result<Self, EmbedError> {
        config.validate()?;
        let info = RerankerInfo { id: config.id(), provider: Provider::Remote };
        let client = Client::new(&config.endpoint, MAX_ANSWER);
        let [takes_texts, refuses_return, refuses_top, sends_log_odds] = [const { AtomicBool::new(false) }; 4];
        Ok(Self { config, info, client, takes_texts, refuses_return, refuses_top, sends_log_odds })
    }

    /// Sends one request in the form that the server takes, and finds that out if need be.
    fn request(&self, query: &str, texts: &[&str], deadline: Deadline) -> Result<Vec<f64>, EmbedError> {
        if self.takes_texts.load(Ordering::Relaxed) {
            return self.request_texts(query, texts, deadline);
        }
        loop {
            let model = &self.config.endpoint.model;
            let sends_return = !self.refuses_return.load(Ordering::Relaxed);
            let sends_top = !self.refuses_top.load(Ordering::Relaxed);
            let return_documents = sends_return.then_some(false);
            let top_n = sends_top.then_some(texts.len());
            let body = Body { model, query, documents: texts, top_n, return_documents };
            let answer = self.client.send(deadline, &body, |answer| parse(answer, texts.len()));
            let Err(EmbedError::Refused { status: 400 | 422, reason, .. }) = &answer else { return answer };
            // A server that refuses a body names the key.
            if sends_return && reason.contains("return_documents") {
                self.refuses_return.store(true, Ordering::Relaxed);
            } else if sends_top && reason.contains("top_n") {
                self.refuses_top.store(true, Ordering::Relaxed);
            } else if reason.contains("texts") {
                let answer = self.request_texts(query, texts, deadline)?;
                self.takes_texts.store(true, Ordering::Relaxed);
                return Ok(answer);
            } else {
                return answer;
            }
        }
    }

    fn request_texts(&self, query: &str, texts: &[&str], deadline: Deadline) -> Result<Vec<f64>, EmbedError> {
        let raw_scores = self.config.scores != RerankScores::Probabilities;
        let body = TextsBody { query, texts, raw_scores, truncate: true };
        self.client.send(deadline, &body, |answer| parse(answer, texts.len()))
    }

    /// Turns the scores of one call into log odds.
    fn log_odds(&self, scores: &[f64]) -> Result<Vec<f32>, EmbedError> {
        let outside = scores.iter().find(|&&score| !is_probability(score));
        let probabilities = match self.config.scores {
            RerankScores::LogOdds => false,
            RerankScores::Probabilities => match outside {
                None => true,
                Some(score) => {
                    let reason =
                        format!("a score is {score}; probabilities lie in 0..=1, so set the scores to log odds");
                    return Err(EmbedError::Answer { url: self.config.endpoint.shown(), reason });
                }
            },
            RerankScores::Auto => {
                let known = self.takes_texts.load(Ordering::Relaxed) || outside.is_some();
                !(self.sends_log_odds.fetch_or(known, Ordering::Relaxed) || known)
            }
        };
        Ok(scores.iter().map(|&score| if probabilities { of_probability(score) } else { of_logit(score) }).collect())
    }
}

impl Reranker for RemoteReranker {
    fn info(&self) -> &RerankerInfo {
        &self.info
    }

    fn score(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, EmbedError> {
        let deadline = Deadline::after(self.config.time_limit);
        let mut odds = vec![0.0; passages.len()];
        if query.trim().is_empty() {
            return Ok(odds);
        }
        // Endpoints refuse empty texts.
        let full: Vec<usize> = (0..passages.len()).filter(|&at| !passages[at].trim().is_empty()).collect();
        let mut scores = Vec::with_capacity(full.len());
        for batch in full.chunks(self.config.batch_size) {
            let texts: Vec<&str> = batch.iter().map(|&at| passages[at]).collect();
            scores.extend(self.request(query, &texts, deadline)?);
        }
        for (at, value) in full.into_iter().zip(self.log_odds(&scores)?) {
            odds[at] = value;
        }
        Ok(odds)
    }
}

// Reads the body of a reranker's answer into scores, in the order of the passages, and turns scores into log odds.

/// The largest distance of log odds from 0. Nothing that a model says is surer, and sums stay finite.
const MOST: f64 = 100.0;

/// The least distance of a probability from 0 and 1.
const LEAST: f64 = 1e-6;

#[derive(Deserialize)]
struct Answer {
    /// Voyage calls them `data`.
    #[serde(alias = "data")]
    results: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    index: usize,
    /// Some servers write `null` for a number that is not finite.
    relevance_score: Option<f64>,
    /// The other name of the same.
    score: Option<f64>,
}

/// Returns the score of each of `count` passages.
pub fn parse(body: &[u8], count: usize) -> Result<Vec<f64>, Rejected> {
    let is_list = body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
    let entries: Result<Vec<Entry>, _> = if is_list {
        serde_json::from_slice(body)
    } else {
        serde_json::from_slice(body).map(|Answer { results }| results)
    };
    let entries = entries.map_err(|error| Rejected::unparsed(body, "a reranker's answer", &error))?;
    let wrong = |reason| Err(Rejected::Wrong(reason));
    if entries.len() != count {
        return wrong(format!("{count} passages were sent and {} scores came", entries.len()));
    }
    let mut scores = vec![None; count];
    for Entry { index, relevance_score, score } in entries {
        let Some(score) = relevance_score.or(score).filter(|score| score.is_finite()) else {
            return wrong(format!("the score of passage {index} is missing or not a finite number"));
        };
        fill(&mut scores, index, score, "passages")?;
    }
    // There are as many entries as slots and no index came twice, so every slot is filled.
    Ok(scores.into_iter().flatten().collect())
}

pub fn is_probability(score: f64) -> bool {
    (0.0..=1.0).contains(&score)
}

/// Returns the log odds of a probability.
pub fn of_probability(probability: f64) -> f32 {
    let probability = probability.clamp(LEAST, 1.0 - LEAST);
    (probability / (1.0 - probability)).ln() as f32
}

/// Returns log odds as they came, within bounds.
pub fn of_logit(logit: f64) -> f32 {
    logit.clamp(-MOST, MOST) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reason(body: &str, count: usize) -> String {
        match parse(body.as_bytes(), count) {
            Err(Rejected::Wrong(reason)) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn scores_go_where_their_index_says() {
        for body in [
            r#"{"id": "x", "results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.2}]}"#,
            r#"{"data": [{"index": 1, "relevance_score": 0.9, "document": {"text": "b"}}, {"index": 0, "score": 0.2}]}"#,
            r#" [{"index": 1, "score": 0.9}, {"index": 0, "score": 0.2}]"#,
        ] {
            assert_eq!(parse(body.as_bytes(), 2), Ok(vec![0.2, 0.9]), "{body}");
        }
    }

    #[test]
    fn unexpected_answers_are_described() {
        let twice = r#"[{"index": 0, "score": 1}, {"index": 0, "score": 1}]"#;
        assert!(reason(twice, 2).contains("index 0 came twice"));
        assert!(reason(twice, 3).contains("3 passages were sent and 2 scores came"));
        assert!(reason(&twice.replacen("0", "7", 1), 2).contains("index 7 came for 2 passages"));
        assert!(reason(&twice.replacen("0", "-1", 1), 2).contains("not a reranker's answer"));
        assert!(reason(&twice.replacen(": 1", ": null", 1), 2).contains("passage 0 is missing or not a finite number"));
        assert!(reason(&twice.replacen(": 1", ": NaN", 1), 2).contains("not a reranker's answer"));
        assert!(reason(&twice.replacen(": 1", ": 1e999", 1), 2).contains("not a reranker's answer"));
        assert!(reason(&twice.replacen("\"index\": 0, ", "", 1), 2).contains("missing field `index`"));
        assert!(reason("<html>", 1).contains("not a reranker's answer"));
        assert!(reason(r#"{"error": "no such model"}"#, 1).contains("missing field `results`"));
        assert!(matches!(parse(br#"{"results": [{"ind"#, 1), Err(Rejected::Truncated(_))));
        assert!(matches!(parse(b"", 1), Err(Rejected::Truncated(_))));
    }

    #[test]
    fn probabilities_become_log_odds() {
        assert!(of_probability(0.5).abs() < 1e-6);
        assert!((of_probability(0.9) - 9f32.ln()).abs() < 1e-5);
        assert!((of_probability(0.0) + of_probability(1.0)).abs() < 1e-3);
        assert!(of_probability(1.0) > 13.0 && of_probability(1.0) < 14.0);
        assert_eq!([of_logit(-3.5), of_logit(1e308)], [-3.5, 100.0]);
    }

    proptest! {
        #[test]
        fn no_body_makes_it_panic(body in prop::collection::vec(any::<u8>(), 0..80), count in 0usize..4) {
            let _ = parse(&body, count);
        }
    }
}
