//! A cross-encoder read from a directory.

use std::path::Path;

use tokenizers::{Encoding, PostProcessor, Tokenizer, TruncationDirection};

use super::files::Files;
use super::{LocalOptions, onnx_encoder, tokenizer};
use crate::bert::{Batching, Encoder, Pooling, Tokens, all_cores, pool_threads};
use crate::{EmbedError, Provider, Reranker, RerankerInfo};

/// The most tokens of a pair, whatever the files say: attention over more takes too long while somebody waits.
const MOST_TOKENS: usize = 512;

/// The fewest tokens of a pair that leave room for something besides the special ones.
const FEWEST_TOKENS: usize = 16;

/// A cross-encoder read from a directory: `model.onnx` or `onnx/model.onnx`, and `tokenizer.json`.
///
/// The model takes `input_ids`, `attention_mask` and, if it has that input, `token_type_ids`. Its output `logits` has one number
/// for a pair, the log odds, or two, whose difference (the second less the first) is the log odds. A sigmoid must not follow.
/// A pair has at most 512 tokens, or `max_seq_length` of `sentence_bert_config.json`, or the positions in `config.json`. The query
/// gets at most half of them, and the passage is cut to fit. Every pair is read by itself, so that its score depends on nothing
/// else. The identifier holds the directory's name and a checksum of the files.
///
/// ```no_run
/// use tamis_embed::{LocalReranker, Reranker};
///
/// let judge = LocalReranker::open("models/ms-marco-MiniLM-L-6-v2".as_ref())?;
/// let odds = judge.score("how hot must the oven be", &["Heat the oven to 220 degrees.", "Ships wait for the tide."])?;
/// assert!(odds[0] > odds[1]);
/// # Ok::<(), tamis_embed::EmbedError>(())
/// ```
pub struct LocalReranker {
    info: RerankerInfo,
    tokenizer: Tokenizer,
    encoder: Encoder,
    /// The most tokens of a pair.
    max_tokens: usize,
}

impl LocalReranker {
    /// Reads the model of a directory and scores one pair with it, so that a faulty model fails here.
    ///
    /// # Errors
    /// A file is missing, unreadable or unsupported. The message names the file.
    pub fn open(directory: &Path) -> Result<Self, EmbedError> {
        let files = Files::new(directory, &LocalOptions::default())?;
        let tokenizer = tokenizer(&files)?;
        let max_tokens = files.max_tokens.min(MOST_TOKENS);
        if max_tokens < FEWEST_TOKENS {
            let reason =
                format!("its limit of {max_tokens} tokens leaves no room for a pair; at least {FEWEST_TOKENS}");
            return Err(files.unusable(reason));
        }
        let (name, path) = files.onnx.as_ref().ok_or_else(|| {
            files.unusable("it has no model.onnx; export the cross-encoder as ONNX into the directory".to_owned())
        })?;
        let encoder = onnx_encoder(name, path, || Ok(Pooling::Logits)).map_err(|reason| files.unusable(reason))?;
        let info = RerankerInfo { id: files.id.clone(), provider: Provider::Local };
        let model = Self { info, tokenizer, encoder, max_tokens };
        model.score("query", &["passage"])?;
        Ok(model)
    }

    /// Returns the tokens of a text without special ones, at most this many.
    fn tokens(&self, text: &str, second: bool, most: usize) -> Result<Encoding, String> {
        let mut encoding = self.tokenizer.encode_fast(text, false).map_err(|error| error.to_string())?;
        encoding.truncate(most, 0, TruncationDirection::Right);
        // The rest of the text would be joined to the pair as well.
        encoding.take_overflowing();
        encoding.set_type_ids(vec![u32::from(second); encoding.len()]);
        Ok(encoding)
    }

    fn pair(&self, query: &Encoding, passage: &str) -> Result<Tokens, String> {
        let special = self.tokenizer.get_post_processor().map_or(0, |processor| processor.added_tokens(true));
        let room = self.max_tokens.saturating_sub(special + query.len());
        let passage = self.tokens(passage, true, room)?;
        let pair =
            self.tokenizer.post_process(query.clone(), Some(passage), true).map_err(|error| error.to_string())?;
        let types = pair.get_type_ids();
        let second = types.iter().position(|&of| of > 0).unwrap_or(types.len());
        Ok(Tokens { ids: pair.get_ids().iter().map(|&id| id as i32).collect(), second })
    }

    fn log_odds(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, String> {
        let query = self.tokens(query, false, self.max_tokens / 2)?;
        let pairs: Vec<Tokens> =
            passages.iter().map(|passage| self.pair(&query, passage)).collect::<Result<_, String>>()?;
        if pairs.iter().any(|pair| pair.ids.is_empty()) {
            return Err("its tokenizer.json makes no token of a pair; is it the model's own?".to_owned());
        }
        let threads = all_cores().min(pool_threads());
        let logits = self.encoder.encode(&pairs, Batching::AsGiven { texts: 1 }, threads)?;
        logits.iter().map(|logits| odds_of(logits)).collect()
    }
}

/// Returns the log odds that logits stand for.
fn odds_of(logits: &[f32]) -> Result<f32, String> {
    let odds = match *logits {
        [odds] => odds,
        [against, for_it] => for_it - against,
        _ => return Err(format!("it gives {} numbers for a pair; a cross-encoder gives one or two", logits.len())),
    };
    if odds.is_finite() { Ok(odds) } else { Err(format!("it gives {odds} for a pair, which is not a finite number")) }
}

impl Reranker for LocalReranker {
    fn info(&self) -> &RerankerInfo {
        &self.info
    }

    fn score(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, EmbedError> {
        let failed = |reason| EmbedError::Inference { model: self.info.id.clone(), texts: passages.len(), reason };
        self.log_odds(query, passages).map_err(failed)
    }
}

impl std::fmt::Debug for LocalReranker {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("LocalReranker").field("info", &self.info).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bert::graph::{Attribute, Element, Graph};
    use crate::local::tests::{WORDS, directory, write};
    use tempfile::TempDir;

    /// Makes a model whose logit is a sum over the tokens of the passage, of all tokens where it reads no token types: 3 for
    /// `cat`, -4 for `dog`, 1 for `##s`, 5 for the first token. With more classes the last one gets that sum, the others half of it.
    fn model(token_types: bool, classes: usize, output: &str) -> Vec<u8> {
        let mut graph = Graph::default();
        for input in ["input_ids", "attention_mask"].into_iter().chain(token_types.then_some("token_type_ids")) {
            graph.input(input, Element::Int64, &["batch", "tokens"]);
        }
        let table = graph.integers(&[WORDS.len(), 1], &[0, 10, 0, 6, -8, 2, 0, 0]);
        let rows = graph.node("Gather", &[&table, "input_ids"], &[]);
        let last = graph.integers(&[1], &[2]);
        let values = graph.node("Squeeze", &[&rows, &last], &[]);
        let mut values = graph.node("Mul", &[&values, "attention_mask"], &[]);
        if token_types {
            values = graph.node("Mul", &[&values, "token_type_ids"], &[]);
        }
        let values = graph.node("Cast", &[&values], &[("to", Attribute::Int(1))]);
        let (tokens, half) = (graph.integers(&[1], &[1]), graph.scalar(0.5));
        let double = graph.node("ReduceSum", &[&values, &tokens], &[("keepdims", Attribute::Int(1))]);
        let sum = graph.node("Mul", &[&double, &half], &[]);
        let other = graph.node("Mul", &[&sum, &half], &[]);
        let columns: Vec<&str> =
            std::iter::repeat_n(other.as_str(), classes - 1).chain(std::iter::once(sum.as_str())).collect();
        let logits = graph.node("Concat", &columns, &[("axis", Attribute::Int(1))]);
        graph.rename(&logits, output);
        graph.output(output, Element::Float, &["batch", "classes"]);
        graph.finish("reranker")
    }

    fn opened(model: &[u8]) -> LocalReranker {
        let directory = directory();
        write(&directory, "model.onnx", model);
        LocalReranker::open(directory.path()).unwrap()
    }

    fn refused(directory: &TempDir) -> String {
        LocalReranker::open(directory.path()).unwrap_err().to_string()
    }

    #[test]
    fn a_passage_is_read_after_its_query() {
        let judge = opened(&model(true, 1, "logits"));
        assert!(judge.info().id.starts_with("local:") && !judge.info().is_remote());
        let passages = ["cat", "dog", "cats dog", "", "unknown"];
        let odds = judge.score("dog dog", &passages).unwrap();
        assert_eq!(odds, [3.0, -4.0, 0.0, 0.0, 0.0]);
        for (passage, &odds) in passages.iter().zip(&odds) {
            assert_eq!(judge.score("dog dog", &[passage]).unwrap(), [odds]);
        }
        assert_eq!(judge.score("", &["cat"]).unwrap(), [3.0]);
        assert!(judge.score("dog", &[]).unwrap().is_empty());
    }

    #[test]
    fn a_model_without_token_types_reads_both_alike() {
        let judge = opened(&model(false, 1, "logits"));
        // The first token, the query, the passage.
        assert_eq!(judge.score("dog", &["cat", "cat cat"]).unwrap(), [5.0 - 4.0 + 3.0, 5.0 - 4.0 + 6.0]);
    }

    #[test]
    fn two_numbers_stand_for_their_difference() {
        let judge = opened(&model(true, 2, "logits"));
        assert_eq!(judge.score("dog", &["cat", "dog"]).unwrap(), [1.5, -2.0]);
    }

    #[test]
    fn a_long_passage_is_cut_and_a_long_query_leaves_it_room() {
        let directory = directory();
        write(&directory, "model.onnx", &model(true, 1, "logits"));
        write(&directory, "config.json", br#"{"max_position_embeddings": 20}"#);
        let judge = LocalReranker::open(directory.path()).unwrap();
        let long = "cat ".repeat(5000);
        // Three special tokens and the query leave 16 and 7 of 20.
        assert_eq!(judge.score("dog", &[&long]).unwrap(), [48.0]);
        assert_eq!(judge.score(&"dog ".repeat(1000), &[&long]).unwrap(), [21.0]);
        write(&directory, "config.json", br#"{"max_position_embeddings": 8}"#);
        assert!(refused(&directory).contains("8 tokens leaves no room for a pair"));
    }

    #[test]
    fn what_is_no_cross_encoder_is_named() {
        let directory = directory();
        assert!(refused(&directory).contains("no model.onnx"));
        write(&directory, "model.onnx", &model(true, 3, "logits"));
        assert!(refused(&directory).contains("3 numbers for a pair"));
        write(&directory, "model.onnx", &model(true, 1, "last_hidden_state"));
        let message = refused(&directory);
        assert!(message.contains("no output logits; its outputs are last_hidden_state"), "{message}");
        write(&directory, "model.onnx", b"no");
        assert!(refused(&directory).contains("model.onnx"));
        assert!(odds_of(&[f32::NAN]).unwrap_err().contains("not a finite number"));
        assert!(refused(&tempfile::tempdir().unwrap()).contains("no tokenizer.json"));
    }
}
