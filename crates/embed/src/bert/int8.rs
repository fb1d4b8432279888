//! A BERT encoder that keeps the weights as they are stored, in int8.
//!
//! A process that answers one query would spend more time on making f32 of all weights than on the query, and take four times the memory.

use rten_simd::{SimdOp, SimdUnaryOp};
use rten_vecmath::{Gelu, Normalize, NormalizeOptions, Sum, SumSquareSub};

use super::kernels::{Attention, Instructions, Linear, MOST_COLUMNS, PANEL, Quantised, ROWS, instructions};
use super::weights::Words;
use super::{Config, Weights};
use crate::normalise;

/// The precision of what the weights of a layer are multiplied by. All else is f32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// f32.
    Full,
    /// Bytes, with a factor for each group of each row. Where the processor has no instructions for them it is f32 too.
    Bytes,
}

/// An encoder with weights in int8.
pub struct Int8Encoder<'w> {
    hidden: usize,
    heads: usize,
    epsilon: f32,
    words: Words<'w>,
    /// One row a position, with the row of the first token type added.
    positions: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer<'w>>,
    instructions: Instructions,
}

struct Layer<'w> {
    /// Query, key and value.
    attention: [Linear<'w>; 3],
    joined: Linear<'w>,
    attention_norm: Norm,
    inner: Linear<'w>,
    outer: Linear<'w>,
    norm: Norm,
}

/// A layer's normalisation: factors and biases.
struct Norm(Vec<f32>, Vec<f32>);

impl<'w> Int8Encoder<'w> {
    /// Takes the weights of a BERT encoder in int8.
    ///
    /// # Errors
    /// A weight is missing or not in int8, or a layer has a size that this encoder cannot divide.
    pub fn new(config: &Config, weights: &Weights<'w>) -> Result<Self, String> {
        let (hidden, heads) = (config.hidden_size, config.num_attention_heads);
        if !(hidden / heads).is_multiple_of(PANEL) {
            return Err(format!("its {heads} heads divide {hidden} entries; expected multiples of {PANEL} for each"));
        }
        let layers = (0..config.num_hidden_layers).map(|layer| {
            let name = format!("encoder.layer.{layer}");
            let linear = |part: &str, inputs: usize| Linear::new(weights, &format!("{name}.{part}"), inputs);
            let norm = |part: &str| Norm::new(weights, &format!("{name}.{part}"), hidden);
            let inner = linear("intermediate.dense", hidden)?;
            let outer = linear("output.dense", inner.codes.outputs)?;
            Ok(Layer {
                attention: [
                    linear("attention.self.query", hidden)?,
                    linear("attention.self.key", hidden)?,
                    linear("attention.self.value", hidden)?,
                ],
                joined: linear("attention.output.dense", hidden)?,
                attention_norm: norm("attention.output.LayerNorm")?,
                inner,
                outer,
                norm: norm("output.LayerNorm")?,
            })
        });
        Ok(Self {
            hidden,
            heads,
            epsilon: config.layer_norm_eps,
            words: weights.words(hidden)?,
            positions: weights.positions(config)?,
            norm: Norm::new(weights, "embeddings.LayerNorm", hidden)?,
            layers: layers.collect::<Result<_, String>>()?,
            instructions: *instructions().last().ok_or("this processor has no instructions")?,
        })
    }

    /// Returns the unit vector of each text: the mean over its tokens. Tokens are numbers of the vocabulary, no more for a text than
    /// there are positions. A vector does not depend on the other texts.
    pub fn encode(&self, texts: &[&[i32]], precision: Precision) -> Vec<Vec<f32>> {
        let hidden = self.hidden;
        let rows = texts.iter().map(|tokens| tokens.len()).sum::<usize>().next_multiple_of(ROWS);
        let zeros = |columns: usize| vec![0.0; rows * columns];
        let mut states = zeros(hidden);
        self.embed(texts, &mut states);
        let [mut query, mut key, mut value, mut context, mut added] = std::array::from_fn(|_| zeros(hidden));
        let mut inner = zeros(self.layers.iter().map(|layer| layer.inner.codes.outputs).max().unwrap_or(0));
        let mut bytes = Quantised::default();
        for layer in &self.layers {
            let out = [&mut query, &mut key, &mut value];
            self.multiply(precision, &layer.attention, &states, &mut bytes, out.map(Vec::as_mut_slice));
            let mut start = 0;
            for tokens in texts {
                let text = start..start + tokens.len() * hidden;
                let attention = Attention {
                    query: &query[text.clone()],
                    key: &key[text.clone()],
                    value: &value[text.clone()],
                    hidden,
                    heads: self.heads,
                };
                (self.instructions.attend)(&attention, &mut context[text.clone()]);
                start = text.end;
            }
            self.multiply(precision, [&layer.joined], &context, &mut bytes, [&mut added]);
            add(&mut states, &added);
            layer.attention_norm.apply(&mut states, self.epsilon);
            let inner = &mut inner[..rows * layer.inner.codes.outputs];
            self.multiply(precision, [&layer.inner], &states, &mut bytes, [inner]);
            Gelu {}.map_mut(inner);
            self.multiply(precision, [&layer.outer], inner, &mut bytes, [&mut added]);
            add(&mut states, &added);
            layer.norm.apply(&mut states, self.epsilon);
        }
        let mut states = states.chunks_exact(hidden);
        let vectors = texts.iter().map(|tokens| {
            let mut vector = vec![0.0; hidden];
            states.by_ref().take(tokens.len()).for_each(|state| add(&mut vector, state));
            normalise(&mut vector);
            vector
        });
        vectors.collect()
    }

    /// Writes a row for each token: that of the word and that of the position.
    fn embed(&self, texts: &[&[i32]], states: &mut [f32]) {
        let hidden = self.hidden;
        let Words { codes, scales } = &self.words;
        let tokens = texts.iter().flat_map(|tokens| tokens.iter().zip(self.positions.chunks_exact(hidden)));
        for (state, (&token, position)) in states.chunks_exact_mut(hidden).zip(tokens) {
            let token = token as usize;
            for ((value, &code), position) in state.iter_mut().zip(&codes[token * hidden..]).zip(position) {
                *value = f32::from(code as i8) * scales[token] + position;
            }
        }
        self.norm.apply(states, self.epsilon);
    }

    /// Multiplies the same rows by the weights of layers of one shape.
    fn multiply<'l, const LAYERS: usize>(
        &self,
        precision: Precision,
        layers: impl IntoIterator<Item = &'l Linear<'w>>,
        rows: &[f32],
        bytes: &mut Quantised,
        out: [&mut [f32]; LAYERS],
    ) where
        'w: 'l,
    {
        let integer = self.instructions.integer.filter(|_| precision == Precision::Bytes);
        let mut filled = false;
        for (linear, out) in layers.into_iter().zip(out) {
            match integer {
                None => (self.instructions.full)(linear, rows, out),
                Some(integer) => {
                    if !std::mem::replace(&mut filled, true) {
                        bytes.fill(rows, linear.group());
                    }
                    integer(linear, bytes, out);
                }
            }
        }
    }
}

fn add(sum: &mut [f32], other: &[f32]) {
    sum.iter_mut().zip(other).for_each(|(sum, value)| *sum += value);
}

impl Norm {
    fn new(weights: &Weights<'_>, name: &str, hidden: usize) -> Result<Self, String> {
        Ok(Norm(weights.vector(&format!("{name}.weight"), hidden)?, weights.vector(&format!("{name}.bias"), hidden)?))
    }

    fn apply(&self, states: &mut [f32], epsilon: f32) {
        for state in states.chunks_exact_mut(self.0.len()) {
            let mean = Sum::new(state).dispatch() / state.len() as f32;
            let variance = SumSquareSub::new(state, mean).dispatch() / state.len() as f32;
            let options = NormalizeOptions {
                pre_scale_bias: mean,
                scale: 1.0 / (variance + epsilon).sqrt(),
                element_scale: Some(&self.0),
                element_bias: Some(&self.1),
                ..NormalizeOptions::default()
            };
            Normalize::new_mut(state, options).dispatch();
        }
    }
}

impl<'w> Linear<'w> {
    fn new(weights: &Weights<'w>, name: &str, inputs: usize) -> Result<Self, String> {
        let codes = weights.codes(name, inputs)?;
        if !codes.outputs.is_multiple_of(MOST_COLUMNS) {
            return Err(format!("{name} has {} outputs; expected a multiple of {MOST_COLUMNS}", codes.outputs));
        }
        let bias = weights.vector(&format!("{name}.bias"), codes.outputs)?;
        let linear = Linear { codes, bias };
        match linear.group() {
            group if group.is_multiple_of(8) => Ok(linear),
            group => Err(format!("{name} has groups of {group} inputs; expected a multiple of 8")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_layers_are_named() {
        let config = Config { num_hidden_layers: 7, ..Config::minilm() };
        let weights = Weights::new(crate::minilm::WEIGHTS).unwrap();
        let error = Int8Encoder::new(&config, &weights).err().unwrap();
        assert!(error.contains("encoder.layer.6"), "{error}");
    }
}
