//! Codes of vectors: int8 with one scale per row, and one bit per dimension with one scale per row.
//!
//! The 1-bit code and its unbiased scale are those of RaBitQ (Gao and Long 2024): with `r` a rotated vector minus the
//! centre of its namespace and `b` its signs, `⟨r, q⟩` is estimated by `‖r‖² / ‖r‖₁ · ⟨b, q⟩`.

use half::f16;

use super::VectorError;

/// A vector in int8: `value ≈ scale · code`, in rotated space, of unit length before rounding (or all zero).
#[derive(Debug, Default, Clone)]
pub(crate) struct Int8Code {
    pub(crate) codes: Vec<i8>,
    pub(crate) scale: f32,
}

/// Turns vectors into codes, and keeps its buffers between calls.
#[derive(Debug, Clone)]
pub(crate) struct Encoder {
    rotation: Rotation,
    buffers: Buffers,
}

#[derive(Debug, Default, Clone)]
struct Buffers {
    unit: Vec<f32>,
    rotated: Vec<f32>,
    code: Int8Code,
}

impl Encoder {
    pub(crate) fn new(dimension: usize) -> Self {
        Self { rotation: Rotation::new(dimension), buffers: Buffers::default() }
    }

    pub(crate) fn dimension(&self) -> usize {
        self.rotation.dimension()
    }

    /// The length of a row of int8 codes.
    pub(crate) fn padded(&self) -> usize {
        self.rotation.padded()
    }

    /// The code of a passage's vector.
    pub(crate) fn passage(&mut self, passage: u64, vector: &[f32]) -> Result<&Int8Code, VectorError> {
        self.check_length(vector)?;
        if let Some((position, value)) = first_non_finite(vector) {
            return Err(VectorError::NonFinite { passage, position, value });
        }
        encode(&self.rotation, vector, &mut self.buffers);
        Ok(&self.buffers.code)
    }

    /// The rotated unit vector of a query and its code.
    pub(crate) fn query(&self, vector: &[f32]) -> Result<(Vec<f32>, Int8Code), VectorError> {
        self.check_length(vector)?;
        if let Some((position, value)) = first_non_finite(vector) {
            return Err(VectorError::NonFiniteQuery { position, value });
        }
        let mut buffers = Buffers::default();
        encode(&self.rotation, vector, &mut buffers);
        Ok((buffers.rotated, buffers.code))
    }

    fn check_length(&self, vector: &[f32]) -> Result<(), VectorError> {
        let expected = self.dimension();
        if vector.len() == expected { Ok(()) } else { Err(VectorError::Dimension { expected, received: vector.len() }) }
    }
}

fn encode(rotation: &Rotation, vector: &[f32], buffers: &mut Buffers) {
    let Buffers { unit, rotated, code } = buffers;
    let norm = norm(vector);
    unit.clear();
    if norm > 0.0 {
        unit.extend(vector.iter().map(|value| (f64::from(*value) / norm) as f32));
    } else {
        unit.resize(vector.len(), 0.0);
    }
    rotation.apply(unit, rotated);
    let largest = rotated.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    code.codes.clear();
    if largest > 0.0 {
        code.scale = largest / 127.0;
        let inverse = 127.0 / largest;
        // Saturation: rounding up past 127 must not wrap.
        code.codes.extend(rotated.iter().map(|value| rounded(value * inverse) as i8));
    } else {
        code.scale = 0.0;
        code.codes.resize(rotated.len(), 0);
    }
}

/// Rounds a number of up to a few hundred to the nearest integer, ties to even, as the addition does in the last bit of its sum. Without
/// SSE 4.1, `round_ties_even` is a call for each number.
fn rounded(value: f32) -> f32 {
    const INTEGERS: f32 = 1.5 * (1 << 23) as f32;
    (value + INTEGERS) - INTEGERS
}

fn first_non_finite(vector: &[f32]) -> Option<(usize, f32)> {
    vector.iter().copied().enumerate().find(|(_, value)| !value.is_finite())
}

fn norm(vector: &[f32]) -> f64 {
    vector.iter().map(|value| f64::from(*value) * f64::from(*value)).sum::<f64>().sqrt()
}

/// The cosine similarity of two vectors of the same length, summed in double precision; 0 when either is zero.
///
/// This is the full-precision score that codes approximate.
///
/// ```
/// use tamis_store::vectors::cosine;
///
/// assert_eq!(cosine(&[3.0, 0.0], &[5.0, 0.0]), 1.0);
/// assert_eq!(cosine(&[3.0, 0.0], &[0.0, 0.0]), 0.0);
/// ```
#[must_use]
pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    // Eight independent sums let the compiler use vector instructions, in an order that is the same everywhere.
    let mut sums = [[0.0_f64; 8]; 3];
    let (chunks_a, rest_a) = a.as_chunks::<8>();
    let (chunks_b, rest_b) = b.as_chunks::<8>();
    let mut add = |lane: usize, a: f32, b: f32| {
        let (a, b) = (f64::from(a), f64::from(b));
        sums[0][lane] += a * b;
        sums[1][lane] += a * a;
        sums[2][lane] += b * b;
    };
    for (chunk_a, chunk_b) in chunks_a.iter().zip(chunks_b) {
        for lane in 0..8 {
            add(lane, chunk_a[lane], chunk_b[lane]);
        }
    }
    for (a, b) in rest_a.iter().zip(rest_b) {
        add(0, *a, *b);
    }
    let [dot, squares_a, squares_b] = sums.map(|lanes| lanes.iter().sum::<f64>());
    let norms = (squares_a * squares_b).sqrt();
    if norms > 0.0 { (dot / norms) as f32 } else { 0.0 }
}

/// Writes one bit per dimension, set if the row minus the centre is positive there. Returns the row's scale.
///
/// Each byte has eight dimensions, the first in the lowest bit.
pub(crate) fn sign_code(codes: &[i8], scale: f32, centre: &[f32], bytes: &mut [u8]) -> f32 {
    let (mut absolute, mut squares) = (0.0_f32, 0.0_f32);
    for ((byte, codes), centre) in bytes.iter_mut().zip(codes.chunks_exact(8)).zip(centre.chunks_exact(8)) {
        *byte = 0;
        for lane in 0..8 {
            let residual = f32::from(codes[lane]) * scale - centre[lane];
            absolute += residual.abs();
            squares += residual * residual;
            *byte |= u8::from(residual > 0.0) << lane;
        }
    }
    if absolute > 0.0 { squares / absolute } else { 0.0 }
}

/// Dimensions are padded to a multiple of this: one cache line of int8 codes.
pub(crate) const PADDING: usize = 64;
/// Changing the seed or the rounds changes every code: it needs a new format version.
const SEED: u64 = 0x7461_6d69_735f_7631;
const ROUNDS: usize = 4;

/// The rotation of one dimension, the same in every process.
///
/// A sign per dimension carries most information when all dimensions vary equally, which is untrue after PCA. The rotation is
/// rounds of random signs and a Walsh–Hadamard transform (Ailon and Chazelle 2009, "The fast Johnson–Lindenstrauss
/// transform"), on overlapping power-of-two windows where the dimension is not a power of two; O(d log d) and exactly
/// orthogonal, so that dot products do not change.
#[derive(Debug, Clone)]
struct Rotation {
    dimension: usize,
    padded: usize,
    /// The transform's length: the largest power of two in `padded`.
    window: usize,
    /// `ROUNDS * padded` factors, the signs and the transform's normalisation in one.
    factors: Vec<f32>,
}

impl Rotation {
    pub(crate) fn new(dimension: usize) -> Self {
        let padded = dimension.next_multiple_of(PADDING);
        let window = if padded.is_power_of_two() { padded } else { padded.next_power_of_two() / 2 };
        let norm = 1.0 / (window as f32).sqrt();
        let mut state = SEED;
        let mut factors = Vec::with_capacity(ROUNDS * padded);
        for round in 0..ROUNDS {
            let start = window_start(round, padded, window);
            for position in 0..padded {
                let sign = if splitmix64(&mut state) >> 63 == 0 { 1.0 } else { -1.0 };
                let inside = (start..start + window).contains(&position);
                factors.push(if inside { sign * norm } else { sign });
            }
        }
        Self { dimension, padded, window, factors }
    }

    pub(crate) fn dimension(&self) -> usize {
        self.dimension
    }

    /// The length of a rotated vector: the dimension rounded up to a multiple of 64.
    pub(crate) fn padded(&self) -> usize {
        self.padded
    }

    /// Rotates `vector` (of `dimension`) into `rotated`, which becomes `padded` long.
    pub(crate) fn apply(&self, vector: &[f32], rotated: &mut Vec<f32>) {
        debug_assert_eq!(vector.len(), self.dimension);
        rotated.clear();
        rotated.extend_from_slice(vector);
        rotated.resize(self.padded, 0.0);
        for (round, factors) in self.factors.chunks_exact(self.padded).enumerate() {
            for (value, factor) in rotated.iter_mut().zip(factors) {
                *value *= factor;
            }
            let start = window_start(round, self.padded, self.window);
            hadamard(&mut rotated[start..start + self.window]);
        }
    }
}

/// Even rounds transform the head and odd rounds the tail; together they cover all dimensions.
fn window_start(round: usize, padded: usize, window: usize) -> usize {
    if round.is_multiple_of(2) { 0 } else { padded - window }
}

/// The unnormalised Walsh–Hadamard transform, in place; the length is a power of two.
fn hadamard(values: &mut [f32]) {
    let mut half = 1;
    while half < values.len() {
        for block in values.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
}

/// Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators".
fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The length of a vector of unit length differs from 1 by at most this, since its values are rounded.
const ROUNDING: f64 = 1.0 / 2048.0;

/// Returns a vector scaled to unit length. One that has it stays as it is, so that a stored vector can be stored again elsewhere, and
/// the zero vector stays zero: it is similar to nothing.
pub(crate) fn unit(vector: &[f32]) -> impl Iterator<Item = f16> {
    let norm = vector.iter().map(|&value| f64::from(value) * f64::from(value)).sum::<f64>().sqrt();
    let scale = match norm {
        norm if (norm - 1.0).abs() <= ROUNDING => 1.0,
        norm if norm > 0.0 => 1.0 / norm,
        _ => 0.0,
    };
    vector.iter().map(move |&value| f16::from_f32((f64::from(value) * scale) as f32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_zero_vector_has_a_code_extreme_values_do_not_overflow_and_what_is_not_finite_is_refused() {
        let mut encoder = Encoder::new(5);
        let code = encoder.passage(1, &[0.0; 5]).unwrap();
        assert_eq!(code.scale, 0.0);
        assert!(code.codes.iter().all(|code| *code == 0));
        let mut encoder = Encoder::new(2);
        for value in [f32::MAX, f32::MIN_POSITIVE, 1e-45] {
            let code = encoder.passage(1, &[value, value]).unwrap();
            assert!(code.scale.is_finite() && code.codes.iter().any(|code| *code == 127 || *code == -127), "{value}");
        }
        let mut encoder = Encoder::new(2);
        let error = encoder.passage(42, &[1.0, f32::NAN]).unwrap_err().to_string();
        assert_eq!(error, "the vector of passage 42 holds NaN at position 1; embed the passage again");
        let error = encoder.query(&[f32::INFINITY, 0.0]).unwrap_err().to_string();
        assert_eq!(error, "the query's vector holds inf at position 0; embed the query again");
    }

    #[test]
    fn the_sign_code_of_a_row() {
        let codes = [1_i8, -1, 2, -2, 3, -3, 4, -4];
        let mut bytes = [0xff];
        let scale = sign_code(&codes, 0.5, &[0.0; 8], &mut bytes);
        assert_eq!(bytes, [0b0101_0101]);
        // ‖r‖² = 0.25 · 60, ‖r‖₁ = 0.5 · 20.
        assert_eq!(scale, 1.5);
        assert_eq!(sign_code(&[0; 8], 0.0, &[0.0; 8], &mut bytes), 0.0);
    }

    fn dot(a: &[f32], b: &[f32]) -> f64 {
        a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    }

    #[test]
    fn one_dimension_spreads_over_all() {
        for dimension in [64, 256, 384, 768, 1000, 1536] {
            let rotation = Rotation::new(dimension);
            for position in [0, dimension / 2, dimension - 1] {
                let mut vector = vec![0.0; dimension];
                vector[position] = 1.0;
                let mut rotated = Vec::new();
                rotation.apply(&vector, &mut rotated);
                let largest = rotated.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
                assert!(largest < 8.0 / (dimension as f32).sqrt(), "{dimension} at {position}: {largest}");
            }
        }
    }

    /// The codes in files of this version were made with these values, to the last bit.
    #[test]
    fn the_rotation_is_pinned() {
        let pinned = |dimension: usize| {
            let vector: Vec<f32> = (0..dimension).map(|position| 1.0 / (position + 1) as f32).collect();
            let mut rotated = Vec::new();
            Rotation::new(dimension).apply(&vector, &mut rotated);
            let bytes: Vec<u8> = rotated.iter().flat_map(|value| value.to_le_bytes()).collect();
            blake3::hash(&bytes).to_hex()[..16].to_owned()
        };
        assert_eq!([2, 256, 384].map(pinned), ["2edb61ef2b571400", "593727c0a4eb1c24", "30e2cedbd7b06c69"]);
    }

    fn scaled(vector: &[f32]) -> Vec<f32> {
        unit(vector).map(f16::to_f32).collect()
    }

    proptest! {
        #[test]
        fn int8_is_close_to_the_unit_vector(vector in prop::collection::vec(-100.0_f32..100.0, 1..300)) {
            let mut encoder = Encoder::new(vector.len());
            let code = encoder.passage(1, &vector).unwrap().clone();
            let (rotated, _) = encoder.query(&vector).unwrap();
            for (code_value, value) in code.codes.iter().zip(&rotated) {
                prop_assert!((f32::from(*code_value) * code.scale - value).abs() <= code.scale * 0.51);
            }
        }

        #[test]
        fn cosine_equals_its_definition(
            (a, b) in (0_usize..70).prop_flat_map(|length| {
                let values = || prop::collection::vec(-10.0_f32..10.0, length);
                (values(), values())
            })
        ) {
            let dot: f64 = a.iter().zip(&b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
            let norms = norm(&a) * norm(&b);
            let expected = if norms > 0.0 { dot / norms } else { 0.0 };
            prop_assert!((f64::from(cosine(&a, &b)) - expected).abs() < 1e-6);
        }

        #[test]
        fn dot_products_do_not_change(
            (a, b) in (1_usize..500).prop_flat_map(|length| {
                let values = || prop::collection::vec(-1.0_f32..1.0, length);
                (values(), values())
            })
        ) {
            let rotation = Rotation::new(a.len());
            let (mut rotated_a, mut rotated_b) = (Vec::new(), Vec::new());
            rotation.apply(&a, &mut rotated_a);
            rotation.apply(&b, &mut rotated_b);
            prop_assert_eq!(rotated_a.len() % PADDING, 0);
            let tolerance = 1e-5 * (1.0 + dot(&a, &a) + dot(&b, &b));
            prop_assert!((dot(&a, &b) - dot(&rotated_a, &rotated_b)).abs() < tolerance);
        }

        #[test]
        fn scaling_twice_changes_nothing(vector in prop::collection::vec(-1000.0f32..1000.0, 1..400)) {
            let once = scaled(&vector);
            prop_assert_eq!(scaled(&once), once);
        }

        #[test]
        fn directions_stay(vector in prop::collection::vec(-1000.0f32..1000.0, 1..400)) {
            prop_assert!(crate::vectors::cosine(&vector, &scaled(&vector)) > 0.999_999);
        }
    }
}
