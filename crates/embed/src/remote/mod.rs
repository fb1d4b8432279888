//! Endpoints of models: vectors ([`Remote`]) by OpenAI's protocol from OpenAI, Voyage, Gemini's compatible endpoint, Ollama,
//! LM Studio, vLLM and others, and rerankers ([`RemoteReranker`]) in the `/rerank` form that Jina, Cohere, vLLM, Text Embeddings
//! Inference and llama.cpp share.
//!
//! Texts leave the process here, so nothing is sent before the caller decides to call [`Remote::connect`] or
//! [`RemoteReranker::score`](crate::Reranker::score). A failure that may pass (no connection, a timeout, 429, 5xx, a truncated
//! body) is retried with exponential backoff and jitter, or after the time that `Retry-After` names. Any other failure is final.
//! `client` does that for both.

mod client;
mod endpoint;
mod reranker;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::{EmbedError, Embedder, ModelInfo, normalise};
use client::{Client, Deadline, Rejected, fill};

pub use endpoint::{EndpointConfig, RemoteConfig};
pub use reranker::{RemoteReranker, RemoteRerankerConfig, RerankScores};

/// The largest answer that is read, in bytes: a batch of 2,048 vectors of 4,096 entries is about half of it.
const MAX_ANSWER: u64 = 256 << 20;

/// A model behind an HTTP endpoint.
#[derive(Debug)]
pub struct Remote {
    config: RemoteConfig,
    info: ModelInfo,
    client: Client,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    input: &'a [String],
    encoding_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
}

impl Remote {
    /// Checks the settings. When no dimension is configured, embeds one word to learn it.
    ///
    /// # Errors
    /// A setting is out of range, or the first request fails.
    pub fn connect(config: RemoteConfig) -> Result<Self, EmbedError> {
        config.validate()?;
        let info = config.info();
        let client = Client::new(&config.endpoint, MAX_ANSWER);
        let mut remote = Self { config, info, client };
        if remote.config.dimension.is_none() {
            let answer = remote.request(&["dimension".to_owned()])?;
            remote.info.dimension = answer.first().map_or(0, Vec::len);
        }
        Ok(remote)
    }

    fn embed(&self, prefix: &str, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        // Endpoints refuse empty texts. Their vector is zero, as with every other model.
        let full: Vec<usize> = (0..texts.len()).filter(|&at| !texts[at].trim().is_empty()).collect();
        let mut vectors = vec![vec![0.0; self.info.dimension]; texts.len()];
        for batch in full.chunks(self.config.batch_size) {
            let inputs: Vec<String> = batch.iter().map(|&at| format!("{prefix}{}", texts[at])).collect();
            for (&at, vector) in batch.iter().zip(self.request(&inputs)?) {
                vectors[at] = vector;
            }
        }
        Ok(vectors)
    }

    /// Sends one request.
    fn request(&self, inputs: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let config = &self.config;
        let dimension = Some(self.info.dimension).filter(|&dimension| dimension > 0);
        let dimensions = config.dimension.filter(|_| config.request_dimension);
        let body = Body { model: &config.endpoint.model, input: inputs, encoding_format: "float", dimensions };
        self.client.send(Deadline::NONE, &body, |answer| parse(answer, inputs.len(), dimension))
    }
}

impl Embedder for Remote {
    fn model(&self) -> &ModelInfo {
        &self.info
    }

    fn embed_passages(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.embed(&self.config.passage_prefix, texts)
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        Ok(self.embed(&self.config.query_prefix, &[text])?.pop().unwrap_or_default())
    }
}

// Reads the body of an answer into vectors, in the order of the texts.

#[derive(Deserialize)]
struct Answer {
    data: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    /// Some servers leave it out. The order of the entries counts then.
    index: Option<usize>,
    /// Some servers write `null` for a number that is not finite.
    embedding: Vec<Option<f32>>,
}

/// Returns unit vectors, one for each of `count` texts. All have the same number of entries: `dimension`, when it is known.
pub fn parse(body: &[u8], count: usize, dimension: Option<usize>) -> Result<Vec<Vec<f32>>, Rejected> {
    let answer: Answer =
        serde_json::from_slice(body).map_err(|error| Rejected::unparsed(body, "an embeddings answer", &error))?;
    let wrong = |reason| Err(Rejected::Wrong(reason));
    if answer.data.len() != count {
        return wrong(format!("{count} texts were sent and {} vectors came", answer.data.len()));
    }
    let mut vectors = vec![None; count];
    let mut dimension = dimension;
    for (position, entry) in answer.data.into_iter().enumerate() {
        let index = entry.index.unwrap_or(position);
        let found = entry.embedding.len();
        let expected = *dimension.get_or_insert(found);
        if found != expected || found == 0 {
            return wrong(format!(
                "vector {index} has {found} entries; expected {expected}, so the model may have changed"
            ));
        }
        let Some(mut vector) =
            entry.embedding.into_iter().map(|x| x.filter(|x| x.is_finite())).collect::<Option<Vec<f32>>>()
        else {
            return wrong(format!("vector {index} has an entry that is not a finite number"));
        };
        normalise(&mut vector);
        fill(&mut vectors, index, vector, "texts")?;
    }
    // There are as many entries as slots and no index came twice, so every slot is filled.
    Ok(vectors.into_iter().flatten().collect())
}

#[cfg(test)]
mod answer_tests {
    use super::*;
    use proptest::prelude::*;

    fn reason(body: &str, count: usize, dimension: Option<usize>) -> String {
        match parse(body.as_bytes(), count, dimension) {
            Err(Rejected::Wrong(reason)) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn vectors_go_where_their_index_says() {
        let body = r#"{"data": [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [3, 0]}]}"#;
        assert_eq!(parse(body.as_bytes(), 2, None), Ok(vec![vec![1.0, 0.0], vec![0.0, 1.0]]));
        let unnumbered = r#"{"data": [{"embedding": [0, 2]}, {"embedding": [3, 0]}]}"#;
        assert_eq!(parse(unnumbered.as_bytes(), 2, None), Ok(vec![vec![0.0, 1.0], vec![1.0, 0.0]]));
    }

    #[test]
    fn unexpected_answers_are_described() {
        let two = r#"{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}"#;
        assert!(reason(two, 2, None).contains("index 0 came twice"));
        assert!(reason(two, 3, None).contains("3 texts were sent and 2 vectors came"));
        assert!(reason(two, 2, Some(3)).contains("1 entries; expected 3"));
        assert!(reason(&two.replace("\"index\": 0", "\"index\": 7"), 2, None).contains("index 7 came for 2"));
        assert!(reason(&two.replace("[1]", "[null]"), 2, None).contains("not a finite number"));
        assert!(!reason(&two.replace("[1]", "[1e39]"), 2, None).is_empty(), "more than f32 holds");
        assert!(reason(&two.replace("[1]", "[]"), 2, None).contains("0 entries"));
        assert!(reason("<html>", 1, None).contains("not an embeddings answer"));
        assert!(reason(r#"{"error": "no such model"}"#, 1, None).contains("missing field `data`"));
    }

    #[test]
    fn truncated_bodies_differ_from_wrong_ones() {
        assert!(matches!(parse(br#"{"data": [{"index""#, 1, None), Err(Rejected::Truncated(_))));
        assert!(matches!(parse(b"", 1, None), Err(Rejected::Truncated(_))));
    }

    proptest! {
        #[test]
        fn no_body_makes_it_panic(body in prop::collection::vec(any::<u8>(), 0..80), count in 0usize..4) {
            let _ = parse(&body, count, None);
        }
    }
}
