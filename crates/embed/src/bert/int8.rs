//! A BERT encoder that reads one text with the weights as they are stored, in int8.
//!
//! A process that answers one query spends more time on making f32 of all weights than on the query, and four times the memory. Here
//! each weight becomes f32 when it is multiplied. The arithmetic is that of [`Encoder`](super::Encoder), in another order of sums.

use rten_simd::{SimdOp, SimdUnaryOp};
use rten_vecmath::{Gelu, Normalize, NormalizeOptions, Softmax};

use super::weights::{Codes, Words};
use super::{Config, Weights};
use crate::{dot, normalise};

/// Tokens that share the conversion of a weight. Texts are filled up to a multiple.
const ROWS: usize = 4;
/// Outputs that are computed at a time, at most. The outputs of every layer are a multiple.
const MOST_COLUMNS: usize = 64;

/// An encoder for one text at a time.
pub(crate) struct Int8Encoder<'w> {
    hidden: usize,
    heads: usize,
    epsilon: f32,
    words: (&'w [u8], Vec<f32>),
    /// One row a position, with the row of the first token type added.
    positions: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer<'w>>,
    multiply: Multiply,
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

/// `input · weight + bias`.
struct Linear<'w> {
    codes: Codes<'w>,
    bias: Vec<f32>,
}

/// Multiplies rows of inputs, and writes rows of outputs.
type Multiply = fn(&Linear<'_>, &[f32], &mut [f32]);

impl<'w> Int8Encoder<'w> {
    /// Takes the weights of a BERT encoder in int8.
    ///
    /// # Errors
    /// A weight is missing or not in int8, or a layer has a size that this encoder cannot divide.
    pub(crate) fn new(config: &Config, weights: &Weights<'w>) -> Result<Self, String> {
        let hidden = config.hidden_size;
        let words = match weights.words(hidden)?.1 {
            Words::Int8 { codes, scales } => (codes, scales),
            Words::Full(_) => return Err("its word embeddings are not in int8".to_owned()),
        };
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
            heads: config.num_attention_heads,
            epsilon: config.layer_norm_eps,
            words,
            positions: weights.positions(config)?,
            norm: Norm::new(weights, "embeddings.LayerNorm", hidden)?,
            layers: layers.collect::<Result<_, String>>()?,
            multiply: products().pop().unwrap_or(portable),
        })
    }

    /// Returns the unit vector of a text: the mean over its tokens. Tokens are numbers of the vocabulary, no more than there are
    /// positions.
    pub(crate) fn encode(&self, tokens: &[i32]) -> Vec<f32> {
        let hidden = self.hidden;
        let rows = tokens.len().next_multiple_of(ROWS);
        let mut states = vec![0.0; rows * hidden];
        let (codes, scales) = &self.words;
        for ((state, &token), position) in
            states.chunks_exact_mut(hidden).zip(tokens).zip(self.positions.chunks_exact(hidden))
        {
            let token = token as usize;
            for ((value, &code), position) in state.iter_mut().zip(&codes[token * hidden..]).zip(position) {
                *value = f32::from(code as i8) * scales[token] + position;
            }
        }
        self.norm.apply(&mut states, self.epsilon);
        let zeros = |columns: usize| vec![0.0; rows * columns];
        let [mut query, mut key, mut value, mut context, mut added] = std::array::from_fn(|_| zeros(hidden));
        for layer in &self.layers {
            for (linear, out) in layer.attention.iter().zip([&mut query, &mut key, &mut value]) {
                (self.multiply)(linear, &states, out);
            }
            self.attend(tokens.len(), &query, &key, &value, &mut context);
            (self.multiply)(&layer.joined, &context, &mut added);
            add(&mut states, &added);
            layer.attention_norm.apply(&mut states, self.epsilon);
            let mut inner = zeros(layer.inner.codes.outputs);
            (self.multiply)(&layer.inner, &states, &mut inner);
            Gelu {}.map_mut(&mut inner);
            (self.multiply)(&layer.outer, &inner, &mut added);
            add(&mut states, &added);
            layer.norm.apply(&mut states, self.epsilon);
        }
        let mut vector = vec![0.0; hidden];
        states.chunks_exact(hidden).take(tokens.len()).for_each(|state| add(&mut vector, state));
        normalise(&mut vector);
        vector
    }

    /// Writes, for each token and head, the mean of all values by their weights.
    fn attend(&self, tokens: usize, query: &[f32], key: &[f32], value: &[f32], context: &mut [f32]) {
        let width = self.hidden / self.heads;
        let scale = 1.0 / (width as f32).sqrt();
        let of = |token: usize, head: usize| {
            let start = token * self.hidden + head * width;
            start..start + width
        };
        context.fill(0.0);
        let mut weights = vec![0.0; tokens];
        for head in 0..self.heads {
            for token in 0..tokens {
                let asked = &query[of(token, head)];
                for (other, weight) in weights.iter_mut().enumerate() {
                    *weight = dot(asked, &key[of(other, head)]) * scale;
                }
                Softmax::new_mut(&mut weights).dispatch();
                let mean = of(token, head);
                for (other, &weight) in weights.iter().enumerate() {
                    let values = &value[of(other, head)];
                    context[mean.clone()].iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
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
            let mean = state.iter().sum::<f32>() / state.len() as f32;
            let variance = state.iter().map(|value| (value - mean) * (value - mean)).sum::<f32>() / state.len() as f32;
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
        let codes = weights.codes(name, inputs)?.ok_or_else(|| format!("{name} is not in int8"))?;
        if !codes.outputs.is_multiple_of(MOST_COLUMNS) {
            return Err(format!("{name} has {} outputs; expected a multiple of {MOST_COLUMNS}", codes.outputs));
        }
        let bias = weights.vector(&format!("{name}.bias"), codes.outputs)?;
        Ok(Linear { codes, bias })
    }

    /// The product for any processor, for the compiler to write in the instructions of each. `FUSED`: it multiplies and adds at once.
    #[inline(always)]
    fn multiply<const COLUMNS: usize, const FUSED: bool>(&self, input: &[f32], output: &mut [f32]) {
        let Codes { values, scales, inputs, outputs } = &self.codes;
        let (inputs, outputs) = (*inputs, *outputs);
        let group = inputs * outputs / scales.len().max(1);
        let step = |sum: f32, x: f32, y: f32| if FUSED { x.mul_add(y, sum) } else { sum + x * y };
        for (input, output) in input.chunks_exact(ROWS * inputs).zip(output.chunks_exact_mut(ROWS * outputs)) {
            for column in (0..outputs).step_by(COLUMNS) {
                for row in 0..ROWS {
                    output[row * outputs + column..][..COLUMNS].copy_from_slice(&self.bias[column..][..COLUMNS]);
                }
                for (number, scales) in scales.chunks_exact(outputs).enumerate() {
                    let mut parts = [[0.0; COLUMNS]; ROWS];
                    let start = number * group;
                    let codes = values[start * outputs..][..group * outputs].chunks_exact(outputs);
                    for (at, codes) in codes.enumerate() {
                        let mut weights = [0.0; COLUMNS];
                        for (weight, &code) in weights.iter_mut().zip(&codes[column..][..COLUMNS]) {
                            *weight = f32::from(code as i8);
                        }
                        for (row, part) in parts.iter_mut().enumerate() {
                            let value = input[row * inputs + start + at];
                            for (part, &weight) in part.iter_mut().zip(&weights) {
                                *part = step(*part, value, weight);
                            }
                        }
                    }
                    for (row, part) in parts.iter().enumerate() {
                        let sums = &mut output[row * outputs + column..][..COLUMNS];
                        for ((sum, &part), &scale) in sums.iter_mut().zip(part).zip(&scales[column..][..COLUMNS]) {
                            *sum = step(*sum, part, scale);
                        }
                    }
                }
            }
        }
    }
}

fn portable(linear: &Linear<'_>, input: &[f32], output: &mut [f32]) {
    linear.multiply::<8, { cfg!(target_arch = "aarch64") }>(input, output);
}

/// Returns the product in each set of this processor's instructions, slowest first.
fn products() -> Vec<Multiply> {
    #[allow(unused_mut)]
    let mut products: Vec<Multiply> = vec![portable];
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma")]
        fn avx2(linear: &Linear<'_>, input: &[f32], output: &mut [f32]) {
            linear.multiply::<16, true>(input, output);
        }
        #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
        fn avx512(linear: &Linear<'_>, input: &[f32], output: &mut [f32]) {
            linear.multiply::<64, true>(input, output);
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the processor has the instructions.
            products.push(|linear, input, output| unsafe { avx2(linear, input, output) });
        }
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
        {
            // SAFETY: as above.
            products.push(|linear, input, output| unsafe { avx512(linear, input, output) });
        }
    }
    products
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_product_is_that_of_full_precision() {
        let (inputs, outputs, groups) = (24, 2 * MOST_COLUMNS, 3);
        let spread = |count: usize, step: usize| (0..count).map(move |at| (at * step % 255) as f32 - 127.0);
        let values: Vec<u8> = spread(inputs * outputs, 71).map(|code| code as i8 as u8).collect();
        let scales: Vec<f32> = spread(groups * outputs, 13).map(|scale| scale / 5e3).collect();
        let bias: Vec<f32> = spread(outputs, 29).collect();
        let input: Vec<f32> = spread(2 * ROWS * inputs, 37).map(|value| value / 50.0).collect();
        let linear = Linear { codes: Codes { values: &values, scales, inputs, outputs }, bias };
        for (number, product) in products().into_iter().enumerate() {
            let mut output = vec![f32::NAN; 2 * ROWS * outputs];
            product(&linear, &input, &mut output);
            for (at, found) in output.into_iter().enumerate() {
                let (row, column) = (at / outputs, at % outputs);
                let term = |of: usize| {
                    let scale = linear.codes.scales[of / (inputs / groups) * outputs + column];
                    f64::from(input[row * inputs + of])
                        * f64::from(values[of * outputs + column] as i8)
                        * f64::from(scale)
                };
                let expected = f64::from(linear.bias[column]) + (0..inputs).map(term).sum::<f64>();
                assert!(
                    (f64::from(found) - expected).abs() < 1e-3,
                    "product {number} at {row}, {column}: {found}, not {expected}"
                );
            }
        }
    }

    #[test]
    fn missing_layers_are_named() {
        let config = Config { num_hidden_layers: 7, ..Config::minilm() };
        let weights = Weights::new(crate::minilm::WEIGHTS).unwrap();
        let error = Int8Encoder::new(&config, &weights).err().unwrap();
        assert!(error.contains("encoder.layer.6"), "{error}");
    }
}
