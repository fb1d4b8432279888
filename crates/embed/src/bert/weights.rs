//! The weights of a BERT encoder: a safetensors file in full precision, or this crate's own int8 form of one.
//!
//! The int8 form holds, for each matrix `NAME.weight` of a linear layer, `NAME.weight_t`: signed bytes of shape
//! `[inputs, outputs]` (the transpose of the usual layout, so that loading is one pass), and `NAME.weight_scale` of shape
//! `[groups, outputs]`: a factor for each output and group of consecutive inputs. The word embeddings are bytes `[words, hidden]` with
//! a factor a word. The rest stays f32.

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde::Deserialize;

/// Prefixes of the names within a BERT checkpoint.
const PREFIXES: [&str; 2] = ["", "bert."];

/// Word embeddings in int8.
#[cfg(feature = "minilm")]
pub struct Words<'a> {
    /// Signed bytes, `[words, hidden]`.
    pub codes: &'a [u8],
    /// A factor a word.
    pub scales: Vec<f32>,
}

/// The matrix of a linear layer in int8.
#[cfg(feature = "minilm")]
pub struct Codes<'a> {
    /// Signed bytes, `[inputs, outputs]`.
    pub values: &'a [u8],
    /// Factors, `[groups, outputs]`.
    pub scales: Vec<f32>,
    pub inputs: usize,
    pub outputs: usize,
}

/// A row-major matrix.
pub struct Matrix {
    pub rows: usize,
    pub values: Vec<f32>,
}

/// The tensors of a BERT checkpoint.
pub struct Weights<'a> {
    tensors: SafeTensors<'a>,
    prefix: &'static str,
}

impl<'a> Weights<'a> {
    /// Reads the list of tensors.
    ///
    /// # Errors
    /// The bytes are not a safetensors file of a BERT encoder. The message names the missing part.
    pub fn new(file: &'a [u8]) -> Result<Self, String> {
        let tensors = SafeTensors::deserialize(file).map_err(|error| format!("not a safetensors file: {error}"))?;
        let has = |prefix: &str, suffix: &str| {
            tensors.tensor(&format!("{prefix}embeddings.word_embeddings.weight{suffix}")).is_ok()
        };
        let prefix = PREFIXES
            .into_iter()
            .find(|prefix| has(prefix, "") || has(prefix, "_codes"))
            .ok_or("it has no embeddings.word_embeddings.weight, so it is not a BERT encoder")?;
        Ok(Self { tensors, prefix })
    }

    fn tensor(&self, name: &str) -> Result<TensorView<'a>, String> {
        let name = format!("{}{name}", self.prefix);
        self.tensors.tensor(&name).map_err(|_| format!("it has no tensor {name}"))
    }

    /// Returns a vector of `length` entries.
    pub fn vector(&self, name: &str, length: usize) -> Result<Vec<f32>, String> {
        let tensor = self.tensor(name)?;
        if tensor.shape() != [length] {
            return Err(format!("tensor {name} has shape {:?}; expected [{length}]", tensor.shape()));
        }
        floats(name, &tensor)
    }

    /// Returns a matrix of any number of rows with `columns` entries each.
    pub fn rows(&self, name: &str, columns: usize) -> Result<Matrix, String> {
        let tensor = self.tensor(name)?;
        let &[rows, width] = tensor.shape() else {
            return Err(format!("tensor {name} has shape {:?}; expected two dimensions", tensor.shape()));
        };
        if width != columns || rows == 0 {
            return Err(format!("tensor {name} has shape {:?}; expected rows of {columns}", tensor.shape()));
        }
        Ok(Matrix { rows, values: floats(name, &tensor)? })
    }

    /// Returns the int8 matrix of a linear layer.
    #[cfg(feature = "minilm")]
    pub fn codes(&self, name: &str, inputs: usize) -> Result<Codes<'a>, String> {
        let codes = self.tensor(&format!("{name}.weight_t"))?;
        let outputs = match *codes.shape() {
            [rows, outputs] if rows == inputs && outputs > 0 && codes.dtype() == Dtype::I8 => outputs,
            _ => {
                return Err(format!(
                    "tensor {name}.weight_t is {:?} {:?}; expected I8 [{inputs}, _]",
                    codes.dtype(),
                    codes.shape()
                ));
            }
        };
        let scales = self.rows(&format!("{name}.weight_scale"), outputs)?;
        if !inputs.is_multiple_of(scales.rows) {
            return Err(format!("{name}.weight_scale has {} rows, which do not divide {inputs}", scales.rows));
        }
        Ok(Codes { values: codes.data(), scales: scales.values, inputs, outputs })
    }

    /// Returns the position embeddings, a row of `hidden_size` for each position. Every token is of the first type, so its row is
    /// added to each.
    pub fn positions(&self, config: &Config) -> Result<Vec<f32>, String> {
        let hidden = config.hidden_size;
        let mut positions = self.rows("embeddings.position_embeddings.weight", hidden)?;
        if positions.rows < config.max_position_embeddings {
            return Err(format!(
                "it has {} position embeddings; config.json says {}",
                positions.rows, config.max_position_embeddings
            ));
        }
        let types = self.rows("embeddings.token_type_embeddings.weight", hidden)?;
        for row in positions.values.chunks_exact_mut(hidden) {
            for (value, &first_type) in row.iter_mut().zip(&types.values) {
                *value += first_type;
            }
        }
        Ok(positions.values)
    }

    /// Appends the matrix of a linear layer to a buffer of f32, transposed to `[inputs, outputs]`. Returns the number of outputs.
    pub fn linear(&self, name: &str, inputs: usize, buffer: &mut Vec<u8>) -> Result<usize, String> {
        let start = buffer.len();
        let full = self.rows(&format!("{name}.weight"), inputs)?;
        buffer.resize(start + full.values.len() * 4, 0);
        let (values, _) = buffer[start..].as_chunks_mut::<4>();
        for (output, row) in full.values.chunks_exact(inputs).enumerate() {
            for (input, &value) in row.iter().enumerate() {
                values[input * full.rows + output] = value.to_le_bytes();
            }
        }
        Ok(full.rows)
    }

    /// Estimates the bytes that the weights take as f32.
    pub fn size(&self) -> usize {
        let elements = |tensor: &TensorView<'_>| tensor.shape().iter().product::<usize>();
        self.tensors.iter().map(|(_, tensor)| elements(&tensor) * 4).sum()
    }

    /// Returns the word embeddings.
    #[cfg(feature = "minilm")]
    pub fn words(&self, hidden: usize) -> Result<Words<'a>, String> {
        const NAME: &str = "embeddings.word_embeddings.weight";
        let codes = self.tensor(&format!("{NAME}_codes"))?;
        match *codes.shape() {
            [words, width] if width == hidden && codes.dtype() == Dtype::I8 => {
                Ok(Words { codes: codes.data(), scales: self.vector(&format!("{NAME}_scale"), words)? })
            }
            _ => Err(format!(
                "tensor {NAME}_codes is {:?} {:?}; expected I8 [_, {hidden}]",
                codes.dtype(),
                codes.shape()
            )),
        }
    }
}

/// Returns the entries of a tensor of any floating type as f32.
pub fn floats(name: &str, tensor: &TensorView<'_>) -> Result<Vec<f32>, String> {
    let data = tensor.data();
    let values: Vec<f32> = match tensor.dtype() {
        Dtype::F32 => data.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect(),
        Dtype::F64 => data.as_chunks::<8>().0.iter().map(|&bytes| f64::from_le_bytes(bytes) as f32).collect(),
        Dtype::F16 => data.as_chunks::<2>().0.iter().map(|&bytes| half::f16::from_le_bytes(bytes).to_f32()).collect(),
        Dtype::BF16 => data.as_chunks::<2>().0.iter().map(|&bytes| half::bf16::from_le_bytes(bytes).to_f32()).collect(),
        other => return Err(format!("tensor {name} is of type {other:?}; supported are F32, F64, F16 and BF16")),
    };
    match values.iter().find(|value| !value.is_finite()) {
        Some(value) => Err(format!("tensor {name} holds {value}; expected finite entries")),
        None => Ok(values),
    }
}

// The part of a model's `config.json` that shapes its graph.

/// The shape of a BERT encoder, with the names of the usual `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Config {
    #[serde(default)]
    pub model_type: String,
    pub hidden_size: usize,
    pub num_hidden_layers: usize,
    pub num_attention_heads: usize,
    pub max_position_embeddings: usize,
    #[serde(default = "default_activation")]
    pub hidden_act: String,
    #[serde(default = "default_epsilon")]
    pub layer_norm_eps: f32,
    #[serde(default = "default_positions")]
    pub position_embedding_type: String,
}

fn default_activation() -> String {
    "gelu".to_owned()
}

fn default_epsilon() -> f32 {
    1e-12
}

fn default_positions() -> String {
    "absolute".to_owned()
}

impl Config {
    /// Returns the shape of all-MiniLM-L6-v2.
    #[cfg(any(feature = "minilm", test))]
    pub fn minilm() -> Self {
        Self {
            model_type: "bert".to_owned(),
            hidden_size: 384,
            num_hidden_layers: 6,
            num_attention_heads: 12,
            max_position_embeddings: 512,
            hidden_act: default_activation(),
            layer_norm_eps: default_epsilon(),
            position_embedding_type: default_positions(),
        }
    }

    /// Reads a `config.json` and checks that this crate can build the graph it describes.
    ///
    /// # Errors
    /// A part is missing or unsupported. The message names it and the supported values.
    pub fn from_json(json: &[u8]) -> Result<Self, String> {
        let config: Self = serde_json::from_slice(json).map_err(|error| format!("config.json: {error}"))?;
        let expect = |ok: bool, found: String, allowed: &str| {
            if ok { Ok(()) } else { Err(format!("config.json has {found}; supported is {allowed}")) }
        };
        expect(config.model_type == "bert", format!("model_type {:?}", config.model_type), "\"bert\"")?;
        expect(
            matches!(config.hidden_act.as_str(), "gelu" | "relu"),
            format!("hidden_act {:?}", config.hidden_act),
            "\"gelu\" and \"relu\"",
        )?;
        expect(
            config.position_embedding_type == "absolute",
            format!("position_embedding_type {:?}", config.position_embedding_type),
            "\"absolute\"",
        )?;
        expect(
            config.num_attention_heads > 0 && config.hidden_size.is_multiple_of(config.num_attention_heads),
            format!("hidden_size {} and num_attention_heads {}", config.hidden_size, config.num_attention_heads),
            "a size that the heads divide",
        )?;
        expect(
            config.hidden_size > 0 && config.num_hidden_layers > 0 && config.max_position_embeddings > 2,
            format!(
                "hidden_size {}, num_hidden_layers {}, max_position_embeddings {}",
                config.hidden_size, config.num_hidden_layers, config.max_position_embeddings
            ),
            "sizes above zero",
        )?;
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_file_is_read_and_the_rest_defaulted() {
        let json = br#"{"model_type": "bert", "hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12,
            "max_position_embeddings": 512, "vocab_size": 30522}"#;
        assert_eq!(Config::from_json(json), Ok(Config::minilm()));
    }

    #[test]
    fn unsupported_shapes_are_named() {
        let base = r#"{"model_type": "bert", "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2,
            "max_position_embeddings": 16, "hidden_act": "gelu"}"#;
        assert!(Config::from_json(base.as_bytes()).is_ok());
        for (from, to, named) in [
            ("\"bert\"", "\"roberta\"", "roberta"),
            ("\"gelu\"", "\"silu\"", "silu"),
            ("heads\": 2", "heads\": 3", "num_attention_heads 3"),
            ("heads\": 2", "heads\": 0", "num_attention_heads 0"),
            ("layers\": 1", "layers\": 0", "num_hidden_layers 0"),
            ("\"hidden_size\": 8,", "", "hidden_size"),
        ] {
            let message = Config::from_json(base.replace(from, to).as_bytes()).unwrap_err();
            assert!(message.contains(named), "{message}");
        }
    }
}
