//! The built-in transformer: all-MiniLM-L6-v2, with its weights as int8 in the binary.

use std::num::NonZeroUsize;
use std::sync::OnceLock;

use crate::bert::{Batching, Config, Int8Encoder, Precision, Weights, all_cores, in_batches, pool_threads};
use crate::{EmbedError, Embedder, ModelInfo, Provider, WordPiece};

/// Weights of all-MiniLM-L6-v2 (Apache-2.0) as int8, a safetensors file. The compiler joins the parts, so the binary holds
/// the weights once and nothing is copied at start.
pub static WEIGHTS: &[u8] = &{
    let mut file = [0; PARTS[0].len() + PARTS[1].len() + PARTS[2].len()];
    let (first, rest) = file.split_at_mut(PARTS[0].len());
    let (second, third) = rest.split_at_mut(PARTS[1].len());
    first.copy_from_slice(PARTS[0]);
    second.copy_from_slice(PARTS[1]);
    third.copy_from_slice(PARTS[2]);
    file
};

/// The registry takes ten megabytes a crate, so the file comes in three.
const PARTS: [&[u8]; 3] = [tamis_model_minilm_1::PART, tamis_model_minilm_2::PART, tamis_model_minilm_3::PART];

/// The identifier of the built-in transformer.
pub const ID: &str = "minilm-l6-v2-int8";

/// The number of tokens of a text that count, `[CLS]` and `[SEP]` included.
const MAX_TOKENS: usize = 128;

/// all-MiniLM-L6-v2: 384 dimensions, the first 128 tokens of a text, about a hundred passages a second on one core.
///
/// The weights are signed bytes and stay so. A query is computed in f32, and its vector agrees with the original's to a cosine of 0.999
/// or better. Passages are multiplied as bytes where the processor has instructions for it, which takes half the time; their vectors
/// agree with the original's to 0.99 or better, and they are found in the same order.
///
/// ```no_run
/// use tamis_embed::{Embedder, MiniLm};
///
/// let vector = MiniLm::built_in()?.embed_query("how is a stale index detected")?;
/// assert_eq!(vector.len(), 384);
/// # Ok::<(), tamis_embed::EmbedError>(())
/// ```
pub struct MiniLm {
    info: ModelInfo,
    encoder: Int8Encoder<'static>,
    tokenizer: &'static WordPiece,
    /// `[CLS]` and `[SEP]`.
    start: i32,
    end: i32,
    batching: Batching,
    threads: NonZeroUsize,
}

impl MiniLm {
    /// Returns the shared model, loaded on first use.
    ///
    /// # Errors
    /// The weights are unusable. Every later call returns the same error.
    pub fn built_in() -> Result<&'static Self, EmbedError> {
        static SHARED: OnceLock<Result<MiniLm, String>> = OnceLock::new();
        SHARED.get_or_init(Self::try_load).as_ref().map_err(|reason| unusable(reason.clone()))
    }

    /// Loads a model of one's own.
    ///
    /// # Errors
    /// The weights are unusable.
    pub fn load() -> Result<Self, EmbedError> {
        Self::try_load().map_err(unusable)
    }

    /// Describes the model without loading it.
    #[must_use]
    pub fn info() -> ModelInfo {
        ModelInfo {
            id: ID.to_owned(),
            dimension: Config::minilm().hidden_size,
            max_tokens: Some(MAX_TOKENS),
            provider: Provider::MiniLm,
            fusion_weight: 0.7,
        }
    }

    /// Sets the number of batches of passages that run at a time, each on its own thread. One for each core by default.
    #[must_use]
    pub fn with_threads(mut self, threads: NonZeroUsize) -> Self {
        self.threads = threads;
        self
    }

    /// Divides passages into batches in another way than the default. Changes speed, not vectors.
    #[must_use]
    pub fn with_batching(mut self, batching: Batching) -> Self {
        self.batching = batching;
        self
    }

    fn try_load() -> Result<Self, String> {
        let tokenizer = WordPiece::uncased_bert();
        let special =
            |name| tokenizer.id(name).map(|id| id as i32).ok_or_else(|| format!("the vocabulary has no {name}"));
        Ok(Self {
            info: Self::info(),
            encoder: Int8Encoder::new(&Config::minilm(), &Weights::new(WEIGHTS)?)?,
            tokenizer,
            start: special("[CLS]")?,
            end: special("[SEP]")?,
            batching: Batching::default(),
            threads: all_cores(),
        })
    }

    /// Returns the text's tokens between `[CLS]` and `[SEP]`, cut at the limit; `None` when all are unknown. Names of code are
    /// divided into their words, since the vocabulary knows few of them.
    fn tokens(&self, text: &str, ids: &mut Vec<u32>) -> Option<Vec<i32>> {
        self.tokenizer.words(text, MAX_TOKENS - 2, ids);
        let unknown = self.tokenizer.unknown();
        if ids.iter().all(|&id| id == unknown) {
            return None;
        }
        Some([self.start].into_iter().chain(ids.iter().map(|&id| id as i32)).chain([self.end]).collect())
    }

    fn failed(&self, texts: usize, reason: String) -> EmbedError {
        EmbedError::Inference { model: self.info.id.clone(), texts, reason }
    }
}

fn unusable(reason: String) -> EmbedError {
    EmbedError::Model { model: ID.to_owned(), reason }
}

impl Embedder for MiniLm {
    fn model(&self) -> &ModelInfo {
        &self.info
    }

    fn embed_passages(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut ids = Vec::new();
        let mut vectors = vec![vec![0.0; self.info.dimension]; texts.len()];
        let (known, tokens): (Vec<usize>, Vec<Vec<i32>>) =
            texts.iter().enumerate().filter_map(|(at, text)| Some((at, self.tokens(text, &mut ids)?))).unzip();
        let lengths: Vec<usize> = tokens.iter().map(Vec::len).collect();
        let encoded = in_batches(&lengths, self.batching, self.threads.min(pool_threads()), |members| {
            let batch: Vec<&[i32]> = members.iter().map(|&text| tokens[text].as_slice()).collect();
            Ok(self.encoder.encode(&batch, Precision::Bytes))
        })
        .map_err(|reason| self.failed(texts.len(), reason))?;
        for (at, vector) in known.into_iter().zip(encoded) {
            vectors[at] = vector;
        }
        Ok(vectors)
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        Ok(match self.tokens(text, &mut Vec::new()) {
            Some(tokens) => self.encoder.encode(&[&tokens], Precision::Full).remove(0),
            None => vec![0.0; self.info.dimension],
        })
    }
}

impl std::fmt::Debug for MiniLm {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("MiniLm").field("info", &self.info).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dot;
    use sha2::{Digest, Sha256};

    const TEXTS: &str = include_str!("../tests/fixtures/multilingual.txt");

    /// Vectors of the original in full precision, made by `lab/models/reference_vectors.py`.
    const REFERENCE: &[u8] = include_bytes!("../tests/fixtures/minilm-reference.f32");

    fn texts() -> Vec<&'static str> {
        TEXTS.trim_end_matches('\n').split('\n').chain([TEXTS]).collect()
    }

    #[test]
    fn the_parts_make_the_recorded_file() {
        let checksum: String = Sha256::digest(WEIGHTS).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(checksum, "726a8ca21641661feef1ef189b46525705aae9cf0ac52912e298ba63d0f0c63a");
    }

    /// Queries differ from the original by the rounding of weights alone. Passages are rounded to seven bits as well: what counts is the
    /// order in which they are found, which `docs/research/minilm-throughput.md` measures.
    #[test]
    fn vectors_are_those_of_the_original() {
        let reference: Vec<f32> = REFERENCE.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
        let model = MiniLm::built_in().unwrap();
        let vectors = model.embed_passages(&texts()).unwrap();
        assert_eq!(reference.len(), vectors.len() * 384);
        let mut lowest = (0, 1.0f32, 1.0f32);
        for ((text, passage), original) in texts().iter().zip(&vectors).zip(reference.chunks_exact(384)) {
            let tokens = WordPiece::uncased_bert().tokenize(text, usize::MAX);
            if tokens.iter().all(|&id| id == WordPiece::uncased_bert().unknown()) {
                assert_eq!(passage, &[0.0; 384], "{text:?} has only unknown words");
                continue;
            }
            // The original does not divide names.
            let mut words = Vec::new();
            WordPiece::uncased_bert().words(text, MAX_TOKENS - 2, &mut words);
            if words != WordPiece::uncased_bert().tokenize(text, MAX_TOKENS - 2) || tokens.len() > MAX_TOKENS - 2 {
                continue;
            }
            let query = dot(&model.embed_query(text).unwrap(), original);
            lowest = (lowest.0 + 1, lowest.1.min(query), lowest.2.min(dot(passage, original)));
        }
        println!("texts, lowest cosine of a query and of a passage: {lowest:?}");
        assert!(lowest.0 > 30 && lowest.1 >= 0.999 && lowest.2 >= 0.99, "{lowest:?}");
    }

    #[test]
    fn a_vector_does_not_depend_on_its_batch() {
        let texts = texts();
        let load = |tokens, threads| {
            let threads = NonZeroUsize::new(threads).unwrap();
            MiniLm::load().unwrap().with_batching(Batching::ByLength { tokens }).with_threads(threads)
        };
        let alone = load(1, 1).embed_passages(&texts).unwrap();
        for (tokens, threads) in [(256, 1), (256, 2), (1000, 3)] {
            let embedded = load(tokens, threads).embed_passages(&texts).unwrap();
            assert!(embedded == alone, "{tokens} tokens, {threads} threads");
        }
    }

    #[test]
    fn texts_without_known_words_have_zero_vectors() {
        let model = MiniLm::built_in().unwrap();
        let texts = ["", " \u{7} ", "\u{1F9EC}"];
        for vector in model.embed_passages(&texts).unwrap() {
            assert_eq!(vector, vec![0.0; 384]);
        }
        for text in texts {
            assert_eq!(model.embed_query(text).unwrap(), vec![0.0; 384]);
        }
        assert!(model.embed_passages(&[]).unwrap().is_empty());
    }
}
