//! A fixed random rotation that spreads a vector's variance evenly over its dimensions.
//!
//! A sign per dimension carries most information when all dimensions vary equally, which is untrue after PCA. The rotation is
//! rounds of random signs and a Walsh–Hadamard transform (Ailon and Chazelle 2009, "The fast Johnson–Lindenstrauss
//! transform"), on overlapping power-of-two windows where the dimension is not a power of two; O(d log d) and exactly
//! orthogonal, so that dot products do not change.

/// Dimensions are padded to a multiple of this: one cache line of int8 codes.
pub(super) const PADDING: usize = 64;
/// Changing the seed or the rounds changes every code: it needs a new format version.
const SEED: u64 = 0x7461_6d69_735f_7631;
const ROUNDS: usize = 4;

/// The rotation of one dimension, the same in every process.
#[derive(Debug, Clone)]
pub(super) struct Rotation {
    dimension: usize,
    padded: usize,
    /// The transform's length: the largest power of two in `padded`.
    window: usize,
    /// `ROUNDS * padded` factors, the signs and the transform's normalisation in one.
    factors: Vec<f32>,
}

impl Rotation {
    pub(super) fn new(dimension: usize) -> Self {
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

    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    /// The length of a rotated vector: the dimension rounded up to a multiple of 64.
    pub(super) fn padded(&self) -> usize {
        self.padded
    }

    /// Rotates `vector` (of `dimension`) into `rotated`, which becomes `padded` long.
    pub(super) fn apply(&self, vector: &[f32], rotated: &mut Vec<f32>) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn dot(a: &[f32], b: &[f32]) -> f64 {
        a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    }

    proptest! {
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
}
