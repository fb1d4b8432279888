//! Codes of vectors: int8 with one scale per row, and one bit per dimension with one scale per row.
//!
//! The 1-bit code and its unbiased scale are those of RaBitQ (Gao and Long 2024): with `r` a rotated vector minus the
//! centre of its namespace and `b` its signs, `⟨r, q⟩` is estimated by `‖r‖² / ‖r‖₁ · ⟨b, q⟩`.

use super::VectorError;
use super::rotate::Rotation;

/// A vector in int8: `value ≈ scale · code`, in rotated space, of unit length before rounding (or all zero).
#[derive(Debug, Default, Clone)]
pub(super) struct Int8Code {
    pub(super) codes: Vec<i8>,
    pub(super) scale: f32,
}

/// Turns vectors into codes, and keeps its buffers between calls.
#[derive(Debug, Clone)]
pub(super) struct Encoder {
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
    pub(super) fn new(dimension: usize) -> Self {
        Self { rotation: Rotation::new(dimension), buffers: Buffers::default() }
    }

    pub(super) fn dimension(&self) -> usize {
        self.rotation.dimension()
    }

    /// The length of a row of int8 codes.
    pub(super) fn padded(&self) -> usize {
        self.rotation.padded()
    }

    /// The code of a passage's vector.
    pub(super) fn passage(&mut self, passage: u64, vector: &[f32]) -> Result<&Int8Code, VectorError> {
        self.check_length(vector)?;
        if let Some((position, value)) = first_non_finite(vector) {
            return Err(VectorError::NonFinite { passage, position, value });
        }
        encode(&self.rotation, vector, &mut self.buffers);
        Ok(&self.buffers.code)
    }

    /// The rotated unit vector of a query and its code.
    pub(super) fn query(&self, vector: &[f32]) -> Result<(Vec<f32>, Int8Code), VectorError> {
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
pub(super) fn sign_code(codes: &[i8], scale: f32, centre: &[f32], bytes: &mut [u8]) -> f32 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
    }

    #[test]
    fn the_zero_vector_has_a_code() {
        let mut encoder = Encoder::new(5);
        let code = encoder.passage(1, &[0.0; 5]).unwrap();
        assert_eq!(code.scale, 0.0);
        assert!(code.codes.iter().all(|code| *code == 0));
    }

    #[test]
    fn extreme_values_do_not_overflow() {
        let mut encoder = Encoder::new(2);
        for value in [f32::MAX, f32::MIN_POSITIVE, 1e-45] {
            let code = encoder.passage(1, &[value, value]).unwrap();
            assert!(code.scale.is_finite() && code.codes.iter().any(|code| *code == 127 || *code == -127), "{value}");
        }
    }

    #[test]
    fn what_is_not_finite_is_refused_by_name() {
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
}
