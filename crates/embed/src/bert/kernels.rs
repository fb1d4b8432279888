//! The arithmetic of an encoder with int8 weights, in the instructions of each processor.
//!
//! [`Instructions::full`] multiplies f32 by weights that become f32 when they are used. [`Instructions::integer`] multiplies bytes,
//! about twice as fast. Weights have a factor for each output and group of inputs. For an integer product, inputs have a factor for each
//! row and group, so a large value makes only the other values of its group imprecise, and a row does not depend on the other rows.

use rten_simd::SimdOp;
use rten_vecmath::{ExtendInit, MinMax, Quantize, Softmax};

use super::weights::Codes;

/// Rows that share the reading of a weight. Inputs are filled up to a multiple.
pub const ROWS: usize = 4;
/// Outputs of a product in f32 that are computed at a time, at most. The outputs of every layer are a multiple.
pub const MOST_COLUMNS: usize = 64;
/// Outputs of a product of integers, or of attention, that are computed at a time.
pub const PANEL: usize = 16;
/// Inputs whose bytes are multiplied at once. Groups of inputs are a multiple of twice as many.
const BYTES: usize = 4;

/// The code of zero.
const ZERO: u8 = 64;
/// The largest distance of a code of an input from [`ZERO`]. AVX2 adds four products of codes in 16 bits, so a code of an input must be
/// below 128 and that of a weight within 64: 4 · 127 · 64 is less than 2¹⁵.
const MOST: f32 = 63.0;

/// `input · weight + bias`.
pub struct Linear<'w> {
    pub codes: Codes<'w>,
    pub bias: Vec<f32>,
}

impl Linear<'_> {
    /// Returns the number of consecutive inputs that share a factor.
    pub fn group(&self) -> usize {
        self.codes.inputs * self.codes.outputs / self.codes.scales.len().max(1)
    }
}

/// Rows of inputs as bytes.
#[derive(Default)]
pub struct Quantised {
    codes: Vec<u8>,
    /// A factor for each row and group.
    factors: Vec<f32>,
}

/// The queries, keys and values of a text's tokens, a row for each token.
pub struct Attention<'a> {
    pub query: &'a [f32],
    pub key: &'a [f32],
    pub value: &'a [f32],
    pub hidden: usize,
    pub heads: usize,
}

/// The arithmetic in one set of instructions.
#[derive(Clone, Copy)]
pub struct Instructions {
    /// Multiplies rows of inputs by weights, in f32, and writes rows of outputs.
    pub full: fn(&Linear<'_>, &[f32], &mut [f32]),
    /// Multiplies rows of inputs by weights, as bytes, and writes rows of outputs; `None` where f32 is faster.
    pub integer: Option<fn(&Linear<'_>, &Quantised, &mut [f32])>,
    /// Writes, for each token and head, the mean of all values by their weights.
    pub attend: fn(&Attention<'_>, &mut [f32]),
}

/// The codes of [`BYTES`] inputs' weights for each output of adjacent panels.
type Quad<const PANELS: usize> = [[u8; BYTES * PANEL]; PANELS];
/// An entry for each output of adjacent panels.
type Outputs<T, const PANELS: usize> = [[T; PANEL]; PANELS];

/// [`ROWS`] rows of inputs, and the weights of adjacent panels that they are multiplied by.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
struct Block<'a, const PANELS: usize> {
    /// The rows' codes, one row after the other.
    codes: &'a [u8],
    /// The rows' factors, a group each.
    factors: &'a [f32],
    quads: &'a [Quad<PANELS>],
    /// What the sums of a group begin with.
    offsets: &'a [Outputs<i32, PANELS>],
    /// The weights' factors. Those of the panels are the first ones, and those of the next group `stride` further.
    scales: &'a [f32],
    stride: usize,
}

#[inline(always)]
fn step<const FUSED: bool>(sum: f32, x: f32, y: f32) -> f32 {
    if FUSED { x.mul_add(y, sum) } else { sum + x * y }
}

/// The product in f32 for any processor, for the compiler to write in the instructions of each. `FUSED`: it multiplies and adds at once.
#[inline(always)]
fn full<const COLUMNS: usize, const FUSED: bool>(linear: &Linear<'_>, input: &[f32], output: &mut [f32]) {
    let Codes { values, scales, inputs, outputs } = &linear.codes;
    let (inputs, outputs) = (*inputs, *outputs);
    let mut panel = vec![[0.0; COLUMNS]; inputs];
    for column in (0..outputs).step_by(COLUMNS) {
        let groups = scales.chunks_exact(outputs).zip(values.chunks_exact(linear.group() * outputs));
        for ((scales, codes), panel) in groups.zip(panel.chunks_exact_mut(linear.group())) {
            let scales = &scales[column..][..COLUMNS];
            for (weights, codes) in panel.iter_mut().zip(codes.chunks_exact(outputs)) {
                for ((weight, &code), &scale) in weights.iter_mut().zip(&codes[column..][..COLUMNS]).zip(scales) {
                    *weight = f32::from(code as i8) * scale;
                }
            }
        }
        for (input, output) in input.chunks_exact(ROWS * inputs).zip(output.chunks_exact_mut(ROWS * outputs)) {
            let rows = std::array::from_fn(|row| &input[row * inputs..][..inputs]);
            let sums = tile::<COLUMNS, FUSED>(rows, panel.as_flattened(), COLUMNS);
            for (output, sums) in output.chunks_exact_mut(outputs).zip(&sums) {
                let output = output[column..][..COLUMNS].iter_mut();
                for ((output, &bias), &sum) in output.zip(&linear.bias[column..][..COLUMNS]).zip(sums) {
                    *output = bias + sum;
                }
            }
        }
    }
}

impl Quantised {
    /// Takes rows of inputs, divided into groups of this many.
    pub fn fill(&mut self, rows: &[f32], group: usize) {
        self.codes.clear();
        self.codes.reserve(rows.len());
        self.factors.clear();
        for values in rows.chunks_exact(group) {
            let (least, greatest) = MinMax::new(values).dispatch();
            let largest = greatest.max(-least);
            let scale = if largest > 0.0 { MOST / largest } else { 0.0 };
            self.codes.extend_init(|codes| Quantize::new(values, &mut codes[..group], scale, ZERO).dispatch());
            // A weight's code is halved.
            self.factors.push(largest / MOST * 2.0);
        }
    }
}

/// The product of bytes, with as many outputs at once as `PANELS` have. `pack` puts the codes of one panel's weights together, halved,
/// and returns their sum for each output. It gets the rows of weights, their distance, and which panel it is. `add` adds products to
/// outputs.
#[inline(always)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
fn integer<const PANELS: usize>(
    linear: &Linear<'_>,
    input: &Quantised,
    output: &mut [f32],
    pack: impl Fn(&[u8], usize, usize, &mut [Quad<PANELS>]) -> [i32; PANEL],
    add: impl Fn(&Block<'_, PANELS>, &mut [Outputs<f32, PANELS>; ROWS]),
) {
    let Codes { values, scales, inputs, outputs } = &linear.codes;
    let (inputs, outputs) = (*inputs, *outputs);
    let group = linear.group();
    let groups = inputs / group;
    let mut panels = vec![[[0; BYTES * PANEL]; PANELS]; inputs / BYTES];
    let mut offsets = vec![[[0; PANEL]; PANELS]; groups];
    for column in (0..outputs).step_by(PANELS * PANEL) {
        let quads = panels.chunks_exact_mut(group / BYTES);
        for ((values, quads), offsets) in values.chunks_exact(group * outputs).zip(quads).zip(&mut offsets) {
            for (panel, offsets) in offsets.iter_mut().enumerate() {
                let sums = pack(&values[column + panel * PANEL..], outputs, panel, quads);
                *offsets = sums.map(|sum| -i32::from(ZERO) * sum);
            }
        }
        let columns = column..column + PANELS * PANEL;
        let rows = input.codes.chunks_exact(ROWS * inputs).zip(input.factors.chunks_exact(ROWS * groups));
        for ((codes, factors), output) in rows.zip(output.chunks_exact_mut(ROWS * outputs)) {
            let mut sums = [[[0.0; PANEL]; PANELS]; ROWS];
            for sums in &mut sums {
                sums.as_flattened_mut().copy_from_slice(&linear.bias[columns.clone()]);
            }
            let (quads, offsets) = (panels.as_slice(), offsets.as_slice());
            add(&Block { codes, factors, quads, offsets, scales: &scales[column..], stride: outputs }, &mut sums);
            for (row, sums) in sums.iter().enumerate() {
                output[row * outputs..][columns.clone()].copy_from_slice(sums.as_flattened());
            }
        }
    }
}

/// Multiplies [`ROWS`] rows by as many rows of columns as they have entries; these are `stride` apart.
#[inline(always)]
fn tile<const COLUMNS: usize, const FUSED: bool>(
    a: [&[f32]; ROWS],
    b: &[f32],
    stride: usize,
) -> [[f32; COLUMNS]; ROWS] {
    let mut sums = [[0.0; COLUMNS]; ROWS];
    let [first, second, third, fourth] = a.map(<[f32]>::iter);
    for ((((b, first), second), third), fourth) in b.chunks(stride).zip(first).zip(second).zip(third).zip(fourth) {
        let Some(b) = b.first_chunk::<COLUMNS>() else { break };
        for (sums, &a) in sums.iter_mut().zip([first, second, third, fourth]) {
            for (sum, &b) in sums.iter_mut().zip(b) {
                *sum = step::<FUSED>(*sum, a, b);
            }
        }
    }
    sums
}

#[inline(always)]
fn attend<const FUSED: bool>(attention: &Attention<'_>, context: &mut [f32]) {
    let &Attention { query, key, value, hidden, heads } = attention;
    let (tokens, width) = (query.len() / hidden, hidden / heads);
    let padded = tokens.next_multiple_of(PANEL);
    let scale = 1.0 / (width as f32).sqrt();
    let mut keys = vec![0.0; width * padded];
    let mut weights = vec![0.0; ROWS * padded];
    for head in 0..heads {
        for (token, key) in key.chunks_exact(hidden).enumerate() {
            for (entry, &key) in key[head * width..][..width].iter().enumerate() {
                keys[entry * padded + token] = key * scale;
            }
        }
        for first in (0..tokens).step_by(ROWS) {
            // Beyond the last token it is computed again.
            let rows = std::array::from_fn(|row| (first + row).min(tokens - 1));
            let queries = rows.map(|row| &query[row * hidden + head * width..][..width]);
            for column in (0..padded).step_by(PANEL) {
                let sums = tile::<PANEL, FUSED>(queries, &keys[column..], padded);
                for (weights, sums) in weights.chunks_exact_mut(padded).zip(&sums) {
                    weights[column..][..PANEL].copy_from_slice(sums);
                }
            }
            for weights in weights.chunks_exact_mut(padded) {
                Softmax::new_mut(&mut weights[..tokens]).dispatch();
            }
            let means = std::array::from_fn(|row| &weights[row * padded..][..tokens]);
            for column in (head * width..(head + 1) * width).step_by(PANEL) {
                let sums = tile::<PANEL, FUSED>(means, &value[column..], hidden);
                for (row, sums) in rows.into_iter().zip(&sums) {
                    context[row * hidden + column..][..PANEL].copy_from_slice(sums);
                }
            }
        }
    }
}

/// The instructions of any processor of this kind.
fn portable() -> Instructions {
    const FUSED: bool = cfg!(target_arch = "aarch64");
    Instructions {
        full: full::<PANEL, FUSED>,
        // Without instructions for bytes, f32 is faster.
        integer: None,
        attend: attend::<FUSED>,
    }
}

/// The instructions of a processor with these features, which the caller has checked.
#[cfg(target_arch = "x86_64")]
macro_rules! with_features {
    ($features:literal, $columns:literal, $add:path) => {{
        #[target_feature(enable = $features)]
        fn full_product(linear: &Linear<'_>, input: &[f32], output: &mut [f32]) {
            full::<$columns, true>(linear, input, output);
        }
        #[target_feature(enable = $features)]
        fn integer_product(linear: &Linear<'_>, input: &Quantised, output: &mut [f32]) {
            integer(
                linear,
                input,
                output,
                |rows, stride, panel, quads| x86_64::pack(rows, stride, panel, quads),
                |block, sums| $add(block, sums),
            );
        }
        #[target_feature(enable = $features)]
        fn attention(attention: &Attention<'_>, context: &mut [f32]) {
            attend::<true>(attention, context);
        }
        // SAFETY: the processor has the features.
        Instructions {
            full: |linear, input, output| unsafe { full_product(linear, input, output) },
            integer: Some(|linear, input, output| unsafe { integer_product(linear, input, output) }),
            attend: |all, context| unsafe { attention(all, context) },
        }
    }};
}

/// Returns the sets of instructions that this processor has, slowest first.
pub fn instructions() -> Vec<Instructions> {
    #[allow(unused_mut)]
    let mut all = vec![portable()];
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            all.push(with_features!("avx2,fma", 16, x86_64::add));
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vnni")
            {
                all.push(with_features!("avx2,fma,avx512f,avx512bw,avx512vl,avx512vnni", 64, x86_64::add_wide));
            }
        }
    }
    all
}

/// Sums of products of bytes. The compiler does not find these instructions by itself.
#[cfg(target_arch = "x86_64")]
mod x86_64 {
    #[allow(clippy::wildcard_imports)]
    use std::arch::x86_64::*;

    use super::{BYTES, Block, Outputs, PANEL, Quad, ROWS};

    /// What a group of inputs has of a block.
    struct Group<'a, const PANELS: usize> {
        codes: [&'a [[u8; BYTES]]; ROWS],
        factors: [f32; ROWS],
        quads: &'a [Quad<PANELS>],
        offsets: &'a Outputs<i32, PANELS>,
        scales: &'a [[f32; PANEL]],
    }

    impl<const PANELS: usize> Block<'_, PANELS> {
        #[inline(always)]
        fn groups(&self) -> impl Iterator<Item = Group<'_, PANELS>> {
            let (groups, inputs) = (self.offsets.len(), self.codes.len() / ROWS);
            let quads = self.quads.len() / groups;
            (0..groups).map(move |number| {
                let row = |row: usize| &self.codes[row * inputs..].as_chunks().0[number * quads..][..quads];
                Group {
                    codes: std::array::from_fn(row),
                    factors: std::array::from_fn(|row| self.factors[row * groups + number]),
                    quads: &self.quads[number * quads..][..quads],
                    offsets: &self.offsets[number],
                    scales: &self.scales[number * self.stride..].as_chunks().0[..PANELS],
                }
            })
        }
    }

    /// Packs weights: the [`BYTES`] of an output are together.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub fn pack<const PANELS: usize>(
        rows: &[u8],
        stride: usize,
        panel: usize,
        quads: &mut [Quad<PANELS>],
    ) -> [i32; PANEL] {
        let (sign, most) = (_mm_set1_epi8(-128), _mm_set1_epi8(127));
        let (byte_ones, ones) = (_mm256_set1_epi8(1), _mm256_set1_epi16(1));
        let half = |row: &[u8]| {
            let row: &[u8; PANEL] = row.first_chunk().expect("a panel's weights");
            // SAFETY: the register reads the array's 16 bytes.
            let code = unsafe { _mm_loadu_si128(row.as_ptr().cast()) };
            // (code + (code > 0)) >> 1, with the unsigned mean that there is: 127 + 1 is added to what is not positive.
            let other = _mm_sub_epi8(most, _mm_cmpgt_epi8(code, _mm_setzero_si128()));
            _mm_xor_si128(_mm_avg_epu8(_mm_xor_si128(code, sign), other), sign)
        };
        let mut totals = [_mm256_setzero_si256(); 2];
        for (number, quad) in quads.iter_mut().enumerate() {
            let rows = &rows[number * BYTES * stride..];
            let (first, second) = (half(rows), half(&rows[stride..]));
            let (third, fourth) = (half(&rows[2 * stride..]), half(&rows[3 * stride..]));
            let (one, other) = (_mm_unpacklo_epi8(first, second), _mm_unpacklo_epi8(third, fourth));
            let low = _mm256_set_m128i(_mm_unpackhi_epi16(one, other), _mm_unpacklo_epi16(one, other));
            let (one, other) = (_mm_unpackhi_epi8(first, second), _mm_unpackhi_epi8(third, fourth));
            let high = _mm256_set_m128i(_mm_unpackhi_epi16(one, other), _mm_unpacklo_epi16(one, other));
            for (total, codes) in totals.iter_mut().zip([low, high]) {
                *total = _mm256_add_epi32(*total, _mm256_madd_epi16(_mm256_maddubs_epi16(byte_ones, codes), ones));
            }
            // SAFETY: the registers write the array's 64 bytes.
            unsafe {
                _mm256_storeu_si256(quad[panel].as_mut_ptr().cast(), low);
                _mm256_storeu_si256(quad[panel].as_mut_ptr().add(32).cast(), high);
            }
        }
        let mut sums = [0; PANEL];
        // SAFETY: the registers write the array's 64 bytes.
        unsafe {
            _mm256_storeu_si256(sums.as_mut_ptr().cast(), totals[0]);
            _mm256_storeu_si256(sums.as_mut_ptr().add(8).cast(), totals[1]);
        }
        sums
    }

    /// The codes of [`BYTES`] inputs, in every place.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn spread(codes: [u8; BYTES]) -> __m256i {
        _mm256_set1_epi32(i32::from_le_bytes(codes))
    }

    /// Adds products in registers of 256 bits.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub fn add(block: &Block<'_, 1>, sums: &mut [Outputs<f32, 1>; ROWS]) {
        /// Where the two registers of a row begin.
        const HALVES: [usize; 2] = [0, PANEL / 2];
        let ones = _mm256_set1_epi16(1);
        for Group { codes, factors, quads, offsets: [offsets], scales } in block.groups() {
            // SAFETY: the registers read the array's 64 bytes.
            let offsets = HALVES.map(|at| unsafe { _mm256_loadu_si256(offsets.as_ptr().add(at).cast()) });
            let mut parts = [offsets; ROWS];
            for (at, [[first], [second]]) in quads.as_chunks().0.iter().enumerate() {
                // SAFETY: the registers read the arrays' 64 bytes.
                let load = |quad: &[u8; BYTES * PANEL]| {
                    HALVES.map(|at| unsafe { _mm256_loadu_si256(quad.as_ptr().add(at * BYTES).cast()) })
                };
                let (first, second) = (load(first), load(second));
                for (part, codes) in parts.iter_mut().zip(codes) {
                    let (one, other) = (spread(codes[2 * at]), spread(codes[2 * at + 1]));
                    for register in 0..part.len() {
                        let one = _mm256_maddubs_epi16(one, first[register]);
                        let other = _mm256_maddubs_epi16(other, second[register]);
                        // Within 16 bits, by the range of the codes.
                        let both = _mm256_madd_epi16(_mm256_add_epi16(one, other), ones);
                        part[register] = _mm256_add_epi32(part[register], both);
                    }
                }
            }
            for (([sums], part), factor) in sums.iter_mut().zip(parts).zip(factors) {
                for (at, part) in HALVES.into_iter().zip(part) {
                    // SAFETY: the registers read and write the arrays' 64 bytes.
                    unsafe {
                        let scale = _mm256_mul_ps(_mm256_loadu_ps(scales[0].as_ptr().add(at)), _mm256_set1_ps(factor));
                        let sum = sums.as_mut_ptr().add(at);
                        _mm256_storeu_ps(sum, _mm256_fmadd_ps(_mm256_cvtepi32_ps(part), scale, _mm256_loadu_ps(sum)));
                    }
                }
            }
        }
    }

    /// Adds products in registers of 512 bits, where an instruction multiplies four and adds them up.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vnni")]
    pub fn add_wide(block: &Block<'_, 2>, sums: &mut [Outputs<f32, 2>; ROWS]) {
        for Group { codes, factors, quads, offsets, scales } in block.groups() {
            // SAFETY: the registers read the arrays' 64 bytes.
            let offsets = offsets.each_ref().map(|offsets| unsafe { _mm512_loadu_si512(offsets.as_ptr().cast()) });
            let mut parts = [offsets; ROWS];
            for (at, quad) in quads.iter().enumerate() {
                // SAFETY: the registers read the arrays' 64 bytes.
                let weights = quad.each_ref().map(|quad| unsafe { _mm512_loadu_si512(quad.as_ptr().cast()) });
                for (parts, codes) in parts.iter_mut().zip(codes) {
                    let codes = _mm512_set1_epi32(i32::from_le_bytes(codes[at]));
                    for (part, weights) in parts.iter_mut().zip(weights) {
                        *part = _mm512_dpbusd_epi32(*part, codes, weights);
                    }
                }
            }
            for ((sums, parts), factor) in sums.iter_mut().zip(parts).zip(factors) {
                for ((sum, part), scale) in sums.iter_mut().zip(parts).zip(scales) {
                    let sum = sum.as_mut_ptr();
                    // SAFETY: the registers read and write the arrays' 64 bytes.
                    unsafe {
                        let scale = _mm512_mul_ps(_mm512_loadu_ps(scale.as_ptr()), _mm512_set1_ps(factor));
                        _mm512_storeu_ps(sum, _mm512_fmadd_ps(_mm512_cvtepi32_ps(part), scale, _mm512_loadu_ps(sum)));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INPUTS: usize = 48;
    const OUTPUTS: usize = 2 * MOST_COLUMNS;
    const GROUPS: usize = 3;

    fn spread(count: usize, step: usize) -> impl Iterator<Item = f32> {
        (0..count).map(move |at| (at * step % 255) as f32 - 127.0)
    }

    /// Returns a layer whose codes are multiplied by `times` within their range: the largest codes come together then.
    fn codes(times: f32) -> Vec<u8> {
        spread(INPUTS * OUTPUTS, 71).map(|code| (code * times).clamp(-127.0, 127.0) as i8 as u8).collect()
    }

    fn linear(values: &[u8]) -> Linear<'_> {
        let scales = spread(GROUPS * OUTPUTS, 13).map(|scale| scale / 5e3).collect();
        let bias = spread(OUTPUTS, 29).collect();
        Linear { codes: Codes { values, scales, inputs: INPUTS, outputs: OUTPUTS }, bias }
    }

    /// Asserts that every output is the bias and the sum of the terms of its row, output and input.
    fn assert_sums(name: &str, linear: &Linear<'_>, output: &[f32], term: impl Fn(usize, usize, usize) -> f64) {
        for (at, &found) in output.iter().enumerate() {
            let (row, column) = (at / OUTPUTS, at % OUTPUTS);
            let scale = |of: usize| f64::from(linear.codes.scales[of / (INPUTS / GROUPS) * OUTPUTS + column]);
            let sum: f64 = (0..INPUTS).map(|of| term(row, column, of) * scale(of)).sum();
            let expected = f64::from(linear.bias[column]) + sum;
            let close = (f64::from(found) - expected).abs() < 1e-3 * expected.abs().max(1.0);
            assert!(close, "{name} at {row}, {column}: {found}, not {expected}");
        }
    }

    #[test]
    fn every_product_is_that_of_full_precision() {
        let values = codes(1.0);
        let linear = linear(&values);
        let input: Vec<f32> = spread(2 * ROWS * INPUTS, 37).map(|value| value / 50.0).collect();
        for (number, instructions) in instructions().into_iter().enumerate() {
            let mut output = vec![f32::NAN; 2 * ROWS * OUTPUTS];
            (instructions.full)(&linear, &input, &mut output);
            assert_sums(&format!("set {number}"), &linear, &output, |row, column, of| {
                f64::from(input[row * INPUTS + of]) * f64::from(values[of * OUTPUTS + column] as i8)
            });
        }
    }

    #[test]
    fn every_integer_product_is_that_of_the_codes() {
        // With the largest codes of both signs, sums in 16 bits come closest to their limit.
        for (times, input_step) in [(1.0, 37), (1e3, 37), (1e3, 0)] {
            let values = codes(times);
            let linear = linear(&values);
            let input: Vec<f32> = spread(2 * ROWS * INPUTS, input_step).map(|value| value / 50.0).collect();
            for (number, instructions) in instructions().into_iter().enumerate() {
                let mut rows = Quantised::default();
                rows.fill(&input, INPUTS / GROUPS);
                for (at, (&value, &code)) in input.iter().zip(&rows.codes).enumerate() {
                    let factor = rows.factors[at / (INPUTS / GROUPS)] / 2.0;
                    let restored = (f32::from(code) - f32::from(ZERO)) * factor;
                    assert!((restored - value).abs() <= factor * 0.501, "set {number}: {restored}, not {value}");
                }
                let mut output = vec![f32::NAN; 2 * ROWS * OUTPUTS];
                let Some(integer) = instructions.integer else { continue };
                integer(&linear, &rows, &mut output);
                assert_sums(&format!("set {number}"), &linear, &output, |row, column, of| {
                    let at = row * INPUTS + of;
                    let half = (f64::from(values[of * OUTPUTS + column] as i8) / 2.0).abs().round();
                    let half = half.copysign(f64::from(values[of * OUTPUTS + column] as i8));
                    (f64::from(rows.codes[at]) - f64::from(ZERO))
                        * half
                        * f64::from(rows.factors[at / (INPUTS / GROUPS)])
                });
            }
        }
    }

    #[test]
    fn every_attention_is_the_mean_by_softmax() {
        let (hidden, heads) = (2 * PANEL, 2);
        for tokens in [1, ROWS, PANEL + 3] {
            let [query, key, value] =
                [7, 11, 23].map(|step| spread(tokens * hidden, step).map(|value| value / 99.0).collect::<Vec<f32>>());
            let attention = Attention { query: &query, key: &key, value: &value, hidden, heads };
            for (number, instructions) in instructions().into_iter().enumerate() {
                let mut context = vec![f32::NAN; tokens * hidden];
                (instructions.attend)(&attention, &mut context);
                for (at, &found) in context.iter().enumerate() {
                    let (token, column) = (at / hidden, at % hidden);
                    let head = column / PANEL * PANEL..(column / PANEL + 1) * PANEL;
                    let weight = |other: usize| -> f64 {
                        let product = head.clone().map(|one| query[token * hidden + one] * key[other * hidden + one]);
                        (f64::from(product.sum::<f32>()) / (PANEL as f64).sqrt()).exp()
                    };
                    let total: f64 = (0..tokens).map(weight).sum();
                    let mean: f64 = (0..tokens)
                        .map(|other| weight(other) / total * f64::from(value[other * hidden + column]))
                        .sum();
                    let is_near = (f64::from(found) - mean).abs() < 1e-4;
                    assert!(is_near, "set {number} at {token}, {column}: {found}, not {mean}");
                }
            }
        }
    }
}
