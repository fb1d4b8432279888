//! Writes the computation of a BERT encoder as an ONNX graph and loads it into the runtime.

use rten::{Model, ModelOptions};

use super::{Config, Weights};
use crate::onnx::{Attribute, Element, Graph};

/// The name of the buffer with the graph's large constants. The runtime requires this ending.
const FLOATS: &str = "floats.data";

/// Names of the model's inputs and output.
pub(super) const INPUT_IDS: &str = "input_ids";
pub(super) const ATTENTION_MASK: &str = "attention_mask";
pub(super) const OUTPUT: &str = "last_hidden_state";

/// Loads a BERT encoder into the runtime. Memory holds the weights as f32.
///
/// # Errors
/// A weight is missing, or the runtime cannot load the graph.
pub(crate) fn assemble(config: &Config, weights: &Weights<'_>) -> Result<Model, String> {
    let floats = large_buffer(weights.size());
    let mut builder = Builder { graph: Graph::default(), floats, config };
    builder.build(weights)?;
    let Builder { graph, floats, .. } = builder;
    let mut options = ModelOptions::with_ops(rten::op_registry!(
        Add, Cast, Erf, Gather, Identity, LayerNormalization, MatMul, Mul, Relu, Reshape, Shape, Slice, Softmax, Sub,
        Transpose, Unsqueeze
    ));
    options.external_data(FLOATS, floats);
    options.load(graph.finish("bert")).map_err(|error| error.to_string())
}

/// Makes an empty buffer of large pages where the system has them. The first touch of tens of megabytes in pages of 4 KiB takes
/// longer than all the rest of loading.
fn large_buffer(capacity: usize) -> Vec<u8> {
    #[allow(unused_mut)]
    let mut buffer = Vec::with_capacity(capacity);
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 4096;
        let start = buffer.as_mut_ptr() as usize;
        let (first, last) = (start.next_multiple_of(PAGE), (start + capacity) / PAGE * PAGE);
        if first < last {
            // SAFETY: the range is whole pages of memory that the buffer owns, and the advice leaves their content alone. The
            // system may ignore it.
            unsafe { libc::madvise(first as *mut libc::c_void, last - first, libc::MADV_HUGEPAGE) };
        }
    }
    buffer
}

struct Builder<'c> {
    graph: Graph,
    /// All large constants, in the order of use.
    floats: Vec<u8>,
    config: &'c Config,
}

impl Builder<'_> {
    fn build(&mut self, weights: &Weights<'_>) -> Result<(), String> {
        for input in [INPUT_IDS, ATTENTION_MASK] {
            self.graph.input(input, Element::Int64, &["batch", "tokens"]);
        }
        let mut hidden = self.embeddings(weights)?;
        let bias = self.attention_bias();
        for layer in 0..self.config.num_hidden_layers {
            hidden = self.layer(weights, &format!("encoder.layer.{layer}"), &hidden, &bias)?;
        }
        self.graph.rename(&hidden, OUTPUT);
        self.graph.output(OUTPUT, Element::Float, &["batch", "tokens", "hidden"]);
        Ok(())
    }

    fn embeddings(&mut self, weights: &Weights<'_>) -> Result<String, String> {
        let hidden = self.config.hidden_size;
        let words = weights.rows("embeddings.word_embeddings.weight", hidden)?;
        let words = self.constant(&[words.rows, hidden], &words.values);
        let words = self.graph.node("Gather", &[&words, INPUT_IDS], &[]);
        let positions = weights.positions(self.config)?;
        let positions = self.constant(&[positions.len() / hidden, hidden], &positions);
        let length =
            self.graph.node("Shape", &[INPUT_IDS], &[("start", Attribute::Int(1)), ("end", Attribute::Int(2))]);
        let zero = self.graph.integers(&[1], &[0]);
        let positions = self.graph.node("Slice", &[&positions, &zero, &length, &zero], &[]);
        let sum = self.graph.node("Add", &[&words, &positions], &[]);
        self.layer_norm(weights, "embeddings.LayerNorm", &sum)
    }

    /// Makes a bias that is zero at tokens and a large negative number at padding.
    fn attention_bias(&mut self) -> String {
        let mask = self.graph.node("Cast", &[ATTENTION_MASK], &[("to", Attribute::Int(Element::Float as i64))]);
        let axes = self.graph.integers(&[2], &[1, 2]);
        let mask = self.graph.node("Unsqueeze", &[&mask, &axes], &[]);
        let one = self.graph.scalar(1.0);
        let padding = self.graph.node("Sub", &[&one, &mask], &[]);
        let large = self.graph.scalar(-1e4);
        self.graph.node("Mul", &[&padding, &large], &[])
    }

    fn layer(&mut self, weights: &Weights<'_>, name: &str, input: &str, bias: &str) -> Result<String, String> {
        let (hidden, heads) = (self.config.hidden_size, self.config.num_attention_heads);
        let width = hidden / heads;
        let split = self.graph.integers(&[4], &[0, 0, heads as i64, width as i64]);
        let mut head = |part: &str, order: &[i64]| -> Result<String, String> {
            let flat = self.linear(weights, &format!("{name}.attention.self.{part}"), input, hidden)?.0;
            let split = self.graph.node("Reshape", &[&flat, &split], &[]);
            Ok(self.graph.node("Transpose", &[&split], &[("perm", Attribute::Ints(order))]))
        };
        let query = head("query", &[0, 2, 1, 3])?;
        let key = head("key", &[0, 2, 3, 1])?;
        let value = head("value", &[0, 2, 1, 3])?;

        let scores = self.graph.node("MatMul", &[&query, &key], &[]);
        let scale = self.graph.scalar(1.0 / (width as f32).sqrt());
        let scores = self.graph.node("Mul", &[&scores, &scale], &[]);
        let scores = self.graph.node("Add", &[&scores, bias], &[]);
        let attention = self.graph.node("Softmax", &[&scores], &[("axis", Attribute::Int(-1))]);
        let context = self.graph.node("MatMul", &[&attention, &value], &[]);
        let context = self.graph.node("Transpose", &[&context], &[("perm", Attribute::Ints(&[0, 2, 1, 3]))]);
        let join = self.graph.integers(&[3], &[0, 0, hidden as i64]);
        let context = self.graph.node("Reshape", &[&context, &join], &[]);

        let (output, _) = self.linear(weights, &format!("{name}.attention.output.dense"), &context, hidden)?;
        let sum = self.graph.node("Add", &[&output, input], &[]);
        let attended = self.layer_norm(weights, &format!("{name}.attention.output.LayerNorm"), &sum)?;

        let (inner, inner_size) = self.linear(weights, &format!("{name}.intermediate.dense"), &attended, hidden)?;
        let inner = self.activation(&inner);
        let (output, _) = self.linear(weights, &format!("{name}.output.dense"), &inner, inner_size)?;
        let sum = self.graph.node("Add", &[&output, &attended], &[]);
        self.layer_norm(weights, &format!("{name}.output.LayerNorm"), &sum)
    }

    /// Computes `input · weight + bias`; returns the value's name and its size.
    fn linear(
        &mut self,
        weights: &Weights<'_>,
        name: &str,
        input: &str,
        inputs: usize,
    ) -> Result<(String, usize), String> {
        let offset = self.floats.len();
        let outputs = weights.linear(name, inputs, &mut self.floats)?;
        let length = self.floats.len() - offset;
        let weight = self.graph.external(Element::Float, &[inputs, outputs], FLOATS, offset, length);
        let product = self.graph.node("MatMul", &[input, &weight], &[]);
        let bias = weights.vector(&format!("{name}.bias"), outputs)?;
        let bias = self.constant(&[outputs], &bias);
        Ok((self.graph.node("Add", &[&product, &bias], &[]), outputs))
    }

    fn layer_norm(&mut self, weights: &Weights<'_>, name: &str, input: &str) -> Result<String, String> {
        let hidden = self.config.hidden_size;
        let scale = weights.vector(&format!("{name}.weight"), hidden)?;
        let bias = weights.vector(&format!("{name}.bias"), hidden)?;
        let scale = self.constant(&[hidden], &scale);
        let bias = self.constant(&[hidden], &bias);
        let attributes = [("axis", Attribute::Int(-1)), ("epsilon", Attribute::Float(self.config.layer_norm_eps))];
        Ok(self.graph.node("LayerNormalization", &[input, &scale, &bias], &attributes))
    }

    /// Applies the activation. GELU is written with the error function, the form that the runtime recognises and fuses.
    fn activation(&mut self, input: &str) -> String {
        if self.config.hidden_act == "relu" {
            return self.graph.node("Relu", &[input], &[]);
        }
        let root = self.graph.scalar(std::f32::consts::FRAC_1_SQRT_2);
        let (one, half) = (self.graph.scalar(1.0), self.graph.scalar(0.5));
        let scaled = self.graph.node("Mul", &[input, &root], &[]);
        let error = self.graph.node("Erf", &[&scaled], &[]);
        let shifted = self.graph.node("Add", &[&error, &one], &[]);
        let product = self.graph.node("Mul", &[input, &shifted], &[]);
        self.graph.node("Mul", &[&product, &half], &[])
    }

    fn constant(&mut self, shape: &[usize], values: &[f32]) -> String {
        let offset = self.floats.len();
        self.floats.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        self.graph.external(Element::Float, shape, FLOATS, offset, values.len() * 4)
    }
}
