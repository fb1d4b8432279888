//! Models read from a directory in the layout of the Hugging Face hub.
//!
//! | file | use |
//! | --- | --- |
//! | `tokenizer.json` | required |
//! | `model.onnx` or `onnx/model.onnx` | a transformer as ONNX; preferred when present |
//! | `model.safetensors` | a BERT encoder (with `config.json`), or a static table as Model2Vec writes it |
//! | `1_Pooling/config.json` | pooling of a transformer: the mean (the default), the first or last token, or a weighted mean |
//! | `config_sentence_transformers.json` | prompts: the text before each query and each passage |
//! | `tamis-model.json` | pooling and prefixes that go before those of the other files |
//! | `sentence_bert_config.json` | `max_seq_length`; without it, the number of positions in `config.json` |
//!
//! A cross-encoder ([`LocalReranker`]) is an ONNX file with its tokenizer.

mod files;
mod reranker;
#[cfg(test)]
mod tests;

use std::path::Path;

use rten::ModelOptions;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use tokenizers::{Encoding, Tokenizer, TruncationParams};

use crate::bert::{Batching, Config, Encoder, Pooling, Tokens, Weights, all_cores, assemble, floats, pool_threads};
use crate::{EmbedError, Embedder, ModelInfo, Provider, normalise};
use files::Files;

pub use files::{ModelSettings, SETTINGS_FILE};
pub use reranker::LocalReranker;

/// Settings of a caller that override the files of a model's directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalOptions {
    /// The name in the identifier, in place of `local:` and the directory's name.
    pub name: Option<String>,
    /// Text before each query, in place of what the files say.
    pub query_prefix: Option<String>,
    /// Text before each passage, in place of what the files say.
    pub passage_prefix: Option<String>,
}

impl LocalOptions {
    fn settings(&self) -> ModelSettings {
        let (query_prefix, passage_prefix) = (self.query_prefix.clone(), self.passage_prefix.clone());
        ModelSettings { pooling: None, query_prefix, passage_prefix }
    }
}

/// A model read from a directory.
///
/// Its identifier holds the directory's name and a checksum of the model's files and prefixes. Vectors of a replaced model therefore
/// never mix with those of its successor.
///
/// ```no_run
/// use tamis_embed::{Embedder, LocalModel};
///
/// let model = LocalModel::open("models/bge-small-en-v1.5".as_ref())?;
/// println!("{} has {} dimensions", model.model().id, model.model().dimension);
/// # Ok::<(), tamis_embed::EmbedError>(())
/// ```
pub struct LocalModel {
    info: ModelInfo,
    tokenizer: Tokenizer,
    unknown: Option<u32>,
    network: Network,
    settings: ModelSettings,
    /// The number of known tokens that the prefix of a query, and of a passage, has by itself.
    known: [usize; 2],
}

enum Network {
    Transformer(Box<Encoder>),
    Table(Table),
}

impl LocalModel {
    /// Reads the model of a directory and computes one vector with it, so that a faulty model fails here.
    ///
    /// # Errors
    /// A file is missing, unreadable or unsupported. The message names the file.
    pub fn open(directory: &Path) -> Result<Self, EmbedError> {
        Self::open_with(directory, &LocalOptions::default())
    }

    /// Reads the model of a directory as [`LocalModel::open`] does, with options that go before its files.
    ///
    /// # Errors
    /// As [`LocalModel::open`].
    pub fn open_with(directory: &Path, options: &LocalOptions) -> Result<Self, EmbedError> {
        let files = Files::new(directory, options)?;
        let mut tokenizer = tokenizer(&files)?;
        let network = Self::network(&files).map_err(|reason| files.unusable(reason))?;
        let max_tokens = match network {
            Network::Transformer(_) => Some(files.max_tokens),
            Network::Table(_) => None,
        };
        let truncation = max_tokens.map(|max_length| TruncationParams { max_length, ..TruncationParams::default() });
        tokenizer.with_truncation(truncation).map_err(|error| files.unusable(format!("tokenizer.json: {error}")))?;
        let unknown = ["[UNK]", "<unk>"].into_iter().find_map(|token| tokenizer.token_to_id(token));
        let info = ModelInfo {
            id: files.id.clone(),
            dimension: 0,
            max_tokens,
            provider: Provider::Local,
            fusion_weight: if max_tokens.is_some() { 0.7 } else { 0.5 },
        };
        let settings = files.settings.clone();
        let mut model = Self { info, tokenizer, unknown, network, settings, known: [0; 2] };
        for (at, prefix) in [model.prefix(true), model.prefix(false)].map(str::to_owned).into_iter().enumerate() {
            let encoded = model.tokenizer.encode_fast(prefix, false);
            let encoding = encoded.map_err(|error| files.unusable(format!("tokenizer.json: {error}")))?;
            model.known[at] = model.known_tokens(&encoding);
        }
        model.info.dimension = match &model.network {
            Network::Table(table) => table.dimension,
            Network::Transformer(_) => model.probe()?,
        };
        Ok(model)
    }

    /// Returns the prefixes in use, and the pooling of a transformer.
    #[must_use]
    pub fn settings(&self) -> ModelSettings {
        let pooling = self.settings.pooling.clone().or_else(|| Some("mean".to_owned()));
        ModelSettings {
            pooling: pooling.filter(|_| matches!(self.network, Network::Transformer(_))),
            query_prefix: Some(self.prefix(true).to_owned()),
            passage_prefix: Some(self.prefix(false).to_owned()),
        }
    }

    /// Checks that this crate can build the encoder that a `config.json` describes from `model.safetensors`.
    ///
    /// # Errors
    /// The part that is missing or unsupported.
    pub fn builds(config: &[u8]) -> Result<(), String> {
        Config::from_json(config).map(|_| ())
    }

    fn prefix(&self, query: bool) -> &str {
        let prefix = if query { &self.settings.query_prefix } else { &self.settings.passage_prefix };
        prefix.as_deref().unwrap_or_default()
    }

    /// Counts the tokens of the vocabulary, without special ones.
    fn known_tokens(&self, encoding: &Encoding) -> usize {
        let is_known = |(&id, &special): (&u32, &u32)| special == 0 && Some(id) != self.unknown;
        encoding.get_ids().iter().zip(encoding.get_special_tokens_mask()).filter(|&pair| is_known(pair)).count()
    }

    fn network(files: &Files) -> Result<Network, String> {
        if let Some((name, path)) = &files.onnx {
            return Ok(Network::Transformer(Box::new(onnx_encoder(name, path, || files.pooling())?)));
        }
        let weights = files.safetensors()?;
        if let Some(table) = Table::find(weights)? {
            return Ok(Network::Table(table));
        }
        let bert = Weights::new(weights).map_err(|reason| {
            format!("model.safetensors: {reason}, nor does it hold a static table called embeddings; export it as model.onnx")
        })?;
        let config = Config::from_json(files.config()?)?;
        let model = assemble(&config, &bert).map_err(|reason| format!("model.safetensors: {reason}"))?;
        Ok(Network::Transformer(Box::new(Encoder::new(model, files.pooling()?)?)))
    }

    /// Computes a vector to learn the dimension.
    fn probe(&self) -> Result<usize, EmbedError> {
        match self.embed(&["dimension"], true)?.first().map(Vec::len) {
            Some(dimension) if dimension > 0 => Ok(dimension),
            _ => Err(EmbedError::Model {
                model: self.info.id.clone(),
                reason: "its tokenizer.json knows no token of the word \"dimension\"; is it the model's own?"
                    .to_owned(),
            }),
        }
    }

    fn embed(&self, texts: &[&str], query: bool) -> Result<Vec<Vec<f32>>, EmbedError> {
        let prefix = self.prefix(query);
        if !prefix.is_empty() {
            let prefixed: Vec<String> = texts.iter().map(|text| format!("{prefix}{text}")).collect();
            return self.embed_whole(&prefixed.iter().map(String::as_str).collect::<Vec<_>>(), query);
        }
        self.embed_whole(texts, query)
    }

    /// Embeds texts that have their prefix.
    fn embed_whole(&self, texts: &[&str], query: bool) -> Result<Vec<Vec<f32>>, EmbedError> {
        let of_prefix = self.known[usize::from(!query)];
        let failed = |reason| EmbedError::Inference { model: self.info.id.clone(), texts: texts.len(), reason };
        let special = matches!(self.network, Network::Transformer(_));
        let encodings =
            self.tokenizer.encode_batch_fast(texts.to_vec(), special).map_err(|error| failed(error.to_string()))?;
        let mut vectors = vec![vec![0.0; self.info.dimension]; texts.len()];
        let mut known: Vec<usize> = Vec::new();
        let mut tokens: Vec<Tokens> = Vec::new();
        for (at, encoding) in encodings.iter().enumerate() {
            let ids = encoding.get_ids();
            // A text of unknown words has the vector zero, whatever its prefix.
            if self.known_tokens(encoding) <= of_prefix {
                continue;
            }
            match &self.network {
                Network::Table(table) => vectors[at] = table.mean(ids.iter().filter(|&&id| Some(id) != self.unknown)),
                Network::Transformer(_) => {
                    known.push(at);
                    tokens.push(ids.iter().map(|&id| id as i32).collect());
                }
            }
        }
        if let Network::Transformer(encoder) = &self.network {
            let encoded = match tokens.as_slice() {
                [one] => vec![encoder.encode_one(one).map_err(failed)?],
                many => encoder.encode(many, Batching::default(), all_cores().min(pool_threads())).map_err(failed)?,
            };
            for (at, vector) in known.into_iter().zip(encoded) {
                vectors[at] = vector;
            }
        }
        Ok(vectors)
    }
}

/// Loads an ONNX file. Errors begin with its name.
fn onnx_encoder(name: &str, path: &Path, pooling: impl FnOnce() -> Result<Pooling, String>) -> Result<Encoder, String> {
    let model = ModelOptions::with_all_ops()
        .prepack_weights(true)
        .load_file(path)
        .map_err(|error| format!("{name}: {error}"))?;
    Encoder::new(model, pooling()?).map_err(|reason| format!("{name}: {reason}"))
}

/// Returns the tokenizer of a directory, which pads nothing and cuts nothing.
fn tokenizer(files: &Files) -> Result<Tokenizer, EmbedError> {
    let unusable = |error: tokenizers::Error| files.unusable(format!("tokenizer.json: {error}"));
    let mut tokenizer = Tokenizer::from_bytes(files.tokenizer()?).map_err(unusable)?;
    tokenizer.with_padding(None);
    tokenizer.with_truncation(None).map_err(unusable)?;
    Ok(tokenizer)
}

impl Embedder for LocalModel {
    fn model(&self) -> &ModelInfo {
        &self.info
    }

    fn embed_passages(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.embed(texts, false)
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        Ok(self.embed(&[text], true)?.pop().unwrap_or_default())
    }
}

impl std::fmt::Debug for LocalModel {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("LocalModel").field("info", &self.info).finish_non_exhaustive()
    }
}

// A static table as Model2Vec saves it: a matrix of token vectors, in newer files with the row and the weight of each token.

/// The matrix goes by one of these names.
const NAMES: [&str; 2] = ["embeddings", "embedding.weight"];

/// The row of each token, where tokens share rows.
const MAPPING: &str = "mapping";

/// The weight of each token, where rows are not weighted already.
const WEIGHTS: &str = "weights";

pub struct Table {
    dimension: usize,
    rows: Vec<f32>,
    mapping: Option<Vec<usize>>,
    weights: Option<Vec<f32>>,
}

impl Table {
    /// Reads the table of a safetensors file; `None` when the file holds something else.
    pub fn find(file: &[u8]) -> Result<Option<Self>, String> {
        let tensors =
            SafeTensors::deserialize(file).map_err(|error| format!("model.safetensors is not one: {error}"))?;
        let Some((name, tensor)) = NAMES.into_iter().find_map(|name| Some((name, tensors.tensor(name).ok()?))) else {
            return Ok(None);
        };
        if let Some(other) = tensors.names().into_iter().find(|&other| ![name, MAPPING, WEIGHTS].contains(&other)) {
            return Err(format!(
                "model.safetensors holds {other} besides {name}; supported are {name}, {MAPPING} and {WEIGHTS}"
            ));
        }
        let (rows, dimension) = match *tensor.shape() {
            [rows, dimension] if rows > 0 && dimension > 0 => (rows, dimension),
            ref shape => return Err(format!("model.safetensors: {name} has shape {shape:?}; expected two dimensions")),
        };
        let mapping = tensors.tensor(MAPPING).ok().map(|tensor| whole_numbers(&tensor)).transpose()?;
        if let Some(row) = mapping.iter().flatten().find(|&&row| row >= rows) {
            return Err(format!("model.safetensors: {MAPPING} names row {row} of {rows}"));
        }
        let weights = tensors.tensor(WEIGHTS).ok().map(|tensor| numbers(WEIGHTS, &tensor)).transpose()?;
        let tokens = mapping.as_ref().map_or(rows, Vec::len);
        if let Some(weights) = weights.as_ref().filter(|weights| weights.len() != tokens) {
            return Err(format!("model.safetensors: {} {WEIGHTS} for {tokens} tokens", weights.len()));
        }
        Ok(Some(Self { dimension, rows: numbers(name, &tensor)?, mapping, weights }))
    }

    /// Returns the mean of rows, scaled to length one. A token without a row adds nothing.
    pub fn mean<'a>(&self, ids: impl Iterator<Item = &'a u32>) -> Vec<f32> {
        let mut sum = vec![0.0; self.dimension];
        for id in ids.map(|&id| id as usize) {
            let row = match &self.mapping {
                Some(mapping) => mapping.get(id).copied(),
                None => Some(id),
            };
            let Some(row) = row.and_then(|row| self.rows.get(row * self.dimension..)) else { continue };
            let weight = self.weights.as_ref().and_then(|weights| weights.get(id)).copied().unwrap_or(1.0);
            for (total, &entry) in sum.iter_mut().zip(row) {
                *total += weight * entry;
            }
        }
        normalise(&mut sum);
        sum
    }
}

/// Returns the entries of a tensor of floats, or of bytes with one scale for all, which scaling to length one undoes.
fn numbers(name: &str, tensor: &TensorView<'_>) -> Result<Vec<f32>, String> {
    match tensor.dtype() {
        Dtype::I8 => Ok(tensor.data().iter().map(|&byte| f32::from(byte as i8)).collect()),
        _ => floats(name, tensor),
    }
}

/// Returns the rows of a mapping.
fn whole_numbers(tensor: &TensorView<'_>) -> Result<Vec<usize>, String> {
    let data = tensor.data();
    let numbers: Vec<i64> = match tensor.dtype() {
        Dtype::I64 => data.as_chunks::<8>().0.iter().map(|&bytes| i64::from_le_bytes(bytes)).collect(),
        Dtype::I32 => data.as_chunks::<4>().0.iter().map(|&bytes| i64::from(i32::from_le_bytes(bytes))).collect(),
        other => {
            return Err(format!("model.safetensors: {MAPPING} is of type {other:?}; supported are I64 and I32"));
        }
    };
    let row = |number: i64| {
        usize::try_from(number).map_err(|_| format!("model.safetensors: {MAPPING} holds {number}; expected rows"))
    };
    numbers.into_iter().map(row).collect()
}
