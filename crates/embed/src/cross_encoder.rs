//! The built-in judge: a small cross-encoder that reads a query and a passage together.

use std::num::NonZeroUsize;
use std::sync::OnceLock;

use crate::bert::{Batching, Config, Encoder, Parts, Pooling, Tokens, Weights, all_cores, assemble, pool_threads};
use crate::minilm::WEIGHTS as MINILM;
use crate::{EmbedError, Provider, Purpose, Reranker, RerankerInfo, WordPiece};

/// The judge's weights without word embeddings, a safetensors file. The compiler joins the parts.
static FILE: &[u8] = &{
    let mut file = [0; PARTS[0].len() + PARTS[1].len()];
    let (first, second) = file.split_at_mut(PARTS[0].len());
    first.copy_from_slice(PARTS[0]);
    second.copy_from_slice(PARTS[1]);
    file
};

/// The registry takes ten megabytes a crate, so the file comes in two.
const PARTS: [&[u8]; 2] = [tamis_model_judge_1::PART, tamis_model_judge_2::PART];

/// The identifier of the built-in judge.
pub(crate) const ID: &str = "judge-v1";

/// The number of tokens of a pair that count, `[CLS]` and both `[SEP]` included, as in training.
const MAX_TOKENS: usize = 128;

/// The number of tokens of a query that count.
const MAX_QUERY_TOKENS: usize = 48;

/// The judge of this crate: a query of at most 48 tokens and the first tokens of a passage, 128 together, in; log odds out.
///
/// It is a BERT encoder of the shape of all-MiniLM-L6-v2 with fewer layers, whose word embeddings it shares, and one linear
/// layer on the first token and the mean of all. Its matrices are signed bytes and are multiplied in integers, each pair by
/// itself, so that a pair's score depends on nothing else. `docs/judge.md` says what it learned from and how far to trust it.
///
/// ```no_run
/// use tamis_embed::{CrossEncoder, Reranker};
///
/// let judge = CrossEncoder::built_in()?;
/// let odds = judge.score("how hot must the oven be", &["Heat the oven to 220 degrees.", "Ships wait for the tide."])?;
/// assert!(odds[0] > odds[1]);
/// # Ok::<(), tamis_embed::EmbedError>(())
/// ```
pub struct CrossEncoder {
    info: RerankerInfo,
    encoder: Encoder,
    tokenizer: &'static WordPiece,
    /// `[CLS]` and `[SEP]`.
    start: i32,
    end: i32,
    head: Head,
    threads: NonZeroUsize,
}

/// The last layer, with the calibration that turns its output into log odds.
struct Head {
    weights: Vec<f32>,
    bias: f32,
    slope: f32,
    offset: f32,
}

impl Head {
    fn of(weights: &Weights<'_>, hidden: usize) -> Result<Self, String> {
        let one = |name: &str| Ok::<f32, String>(weights.vector(name, 1)?[0]);
        let matrix = weights.rows("classifier.weight", 2 * hidden)?;
        if matrix.rows != 1 {
            return Err(format!("classifier.weight has {} rows; expected 1", matrix.rows));
        }
        Ok(Head {
            weights: matrix.values,
            bias: one("classifier.bias")?,
            slope: one("calibration.slope")?,
            offset: one("calibration.offset")?,
        })
    }

    fn log_odds(&self, states: &[f32]) -> f32 {
        let sum: f32 = self.weights.iter().zip(states).map(|(weight, state)| weight * state).sum();
        self.slope * (sum + self.bias) + self.offset
    }
}

impl CrossEncoder {
    /// Returns the shared model, loaded for [`Purpose::Passages`] on first use.
    ///
    /// # Errors
    /// The runtime cannot load the model. Every later call returns the same error.
    pub fn built_in() -> Result<&'static Self, EmbedError> {
        static SHARED: OnceLock<Result<CrossEncoder, String>> = OnceLock::new();
        let shared = SHARED.get_or_init(|| Self::read(FILE, Purpose::Passages));
        shared.as_ref().map_err(|reason| unusable(reason.clone()))
    }

    /// Loads a model of one's own.
    ///
    /// # Errors
    /// The runtime cannot load the model.
    pub fn load(purpose: Purpose) -> Result<Self, EmbedError> {
        Self::read(FILE, purpose).map_err(unusable)
    }

    fn read(file: &'static [u8], purpose: Purpose) -> Result<Self, String> {
        let (words, layers) = (Weights::new(MINILM)?, Weights::without_words(file)?);
        let config =
            Config { num_hidden_layers: layers.layers(), max_position_embeddings: MAX_TOKENS, ..Config::minilm() };
        let parts = Parts { words: &words, layers: &layers, pairs: true };
        let model = assemble(&config, &parts, purpose == Purpose::Passages, |options, name, bytes| {
            options.external_data_static(name, bytes);
        })?;
        let tokenizer = WordPiece::uncased_bert();
        let special =
            |name| tokenizer.id(name).map(|id| id as i32).ok_or_else(|| format!("the vocabulary has no {name}"));
        Ok(Self {
            info: Self::description(),
            encoder: Encoder::new(model, Pooling::FirstAndMean)?,
            tokenizer,
            start: special("[CLS]")?,
            end: special("[SEP]")?,
            head: Head::of(&layers, config.hidden_size)?,
            threads: all_cores(),
        })
    }

    /// Describes the model without loading it.
    #[must_use]
    pub fn description() -> RerankerInfo {
        RerankerInfo { id: ID.to_owned(), provider: Provider::Judge }
    }

    /// Sets the number of pairs that are read at a time, each on its own thread. One for each core by default.
    #[must_use]
    pub fn with_threads(mut self, threads: NonZeroUsize) -> Self {
        self.threads = threads;
        self
    }

    /// `[CLS] query [SEP] passage [SEP]`.
    fn pair(&self, query: &[u32], passage: &str, buffer: &mut Vec<u32>) -> Tokens {
        self.tokenizer.tokenize_into(passage, MAX_TOKENS - 3 - query.len(), buffer);
        let ids = |tokens: &[u32]| tokens.iter().map(|&id| id as i32).collect::<Vec<i32>>();
        let parts = [vec![self.start], ids(query), vec![self.end], ids(buffer), vec![self.end]];
        Tokens { ids: parts.concat(), second: query.len() + 2 }
    }
}

fn unusable(reason: String) -> EmbedError {
    EmbedError::Model { model: ID.to_owned(), reason }
}

impl Reranker for CrossEncoder {
    fn info(&self) -> &RerankerInfo {
        &self.info
    }

    fn score(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, EmbedError> {
        let query = self.tokenizer.tokenize(query, MAX_QUERY_TOKENS);
        let mut buffer = Vec::new();
        let pairs: Vec<Tokens> = passages.iter().map(|passage| self.pair(&query, passage, &mut buffer)).collect();
        let states = self
            .encoder
            .encode(&pairs, Batching::AsGiven { texts: 1 }, self.threads.min(pool_threads()))
            .map_err(|reason| EmbedError::Inference { model: ID.to_owned(), texts: passages.len(), reason })?;
        Ok(states.iter().map(|states| self.head.log_odds(states)).collect())
    }
}

impl std::fmt::Debug for CrossEncoder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("CrossEncoder").field("info", &self.info).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    /// Pairs with the log odds that PyTorch gives them in full precision, made by `tools/judge/export.py`.
    const REFERENCE: &str = include_str!("../tests/fixtures/judge-reference.json");

    #[derive(Deserialize)]
    struct Pair {
        query: String,
        passage: String,
        log_odds: f32,
    }

    fn reference() -> Vec<Pair> {
        serde_json::from_str(REFERENCE).expect("a list of pairs")
    }

    #[test]
    fn log_odds_are_near_those_of_full_precision() {
        let judge = CrossEncoder::built_in().expect("loaded");
        let mut furthest = 0.0f32;
        for pair in reference() {
            let found = judge.score(&pair.query, &[&pair.passage]).expect("read")[0];
            furthest = furthest.max((found - pair.log_odds).abs());
        }
        println!("furthest {furthest}");
        assert!(furthest < 0.3, "{furthest}");
    }

    #[test]
    fn the_passage_that_answers_comes_first() {
        let judge = CrossEncoder::built_in().expect("loaded");
        let pairs = reference();
        let mut queries: Vec<&str> = pairs.iter().map(|pair| pair.query.as_str()).collect();
        queries.dedup();
        for (answer, query) in queries.into_iter().enumerate() {
            let passages: Vec<&str> =
                pairs.iter().filter(|pair| pair.query == query).map(|pair| pair.passage.as_str()).collect();
            let odds = judge.score(query, &passages).expect("read");
            let best = (0..odds.len()).max_by(|&a, &b| odds[a].total_cmp(&odds[b])).expect("some");
            assert_eq!(best, answer, "{query}: {odds:?}");
        }
    }

    #[test]
    fn a_pair_does_not_depend_on_the_others_and_any_text_is_read() {
        let judge = CrossEncoder::load(Purpose::Query).expect("loaded");
        let long = "the oven ".repeat(3000);
        let passages = ["Heat the oven.", "", "\u{1F9EC}", &long, "Ships wait for the tide."];
        let together = judge.score("how hot is the oven", &passages).expect("read");
        for (passage, &odds) in passages.iter().zip(&together) {
            assert_eq!(judge.score("how hot is the oven", &[passage]).expect("read"), [odds]);
            assert!(odds.is_finite());
        }
        assert!(judge.score(&long, &passages).expect("read").iter().all(|odds| odds.is_finite()));
        assert!(judge.score("", &[]).expect("nothing").is_empty());
    }
}
