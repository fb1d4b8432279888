//! The arithmetic that all models share.

/// Scales a vector to length one in place. A vector without a direction (zero, or with an entry that is not finite) becomes
/// zero, so that its similarity to everything is 0 and never NaN.
///
/// ```
/// let mut vector = vec![3.0, 4.0];
/// tamis_embed::normalise(&mut vector);
/// assert_eq!(vector, [0.6, 0.8]);
/// ```
pub fn normalise(vector: &mut [f32]) {
    // In f64: the squares of large f32 entries overflow, and those of small ones vanish.
    let length = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
    if length.is_finite() && length > 0.0 {
        let factor = 1.0 / length;
        for x in vector {
            *x = (f64::from(*x) * factor) as f32;
        }
    } else {
        vector.fill(0.0);
    }
}

/// Computes the dot product of two vectors. For unit vectors it is the cosine of their angle, in `-1..=1` up to rounding.
/// Entries beyond the shorter vector are ignored.
///
/// ```
/// assert_eq!(tamis_embed::dot(&[1.0, 2.0], &[3.0, 4.0]), 11.0);
/// ```
#[must_use]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    // Eight partial sums, since the compiler may not reorder floating point addition.
    let mut sums = [0.0f32; 8];
    let (a_blocks, b_blocks) = (a.chunks_exact(8), b.chunks_exact(8));
    let tail: f32 = if a.len() == b.len() {
        a_blocks.remainder().iter().zip(b_blocks.remainder()).map(|(x, y)| x * y).sum()
    } else {
        return a.iter().zip(b).map(|(x, y)| x * y).sum();
    };
    for (x, y) in a_blocks.zip(b_blocks) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums.iter().sum::<f32>() + tail
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn vectors_without_a_direction_become_zero() {
        for bad in [vec![0.0, 0.0], vec![f32::NAN, 1.0], vec![f32::INFINITY, 1.0], vec![]] {
            let mut vector = bad.clone();
            normalise(&mut vector);
            assert_eq!(vector, vec![0.0; bad.len()]);
        }
    }

    proptest! {
        #[test]
        fn any_finite_vector_gets_length_one(vector in prop::collection::vec(prop::num::f32::NORMAL, 1..40)) {
            let mut unit = vector.clone();
            normalise(&mut unit);
            prop_assert!((dot(&unit, &unit) - 1.0).abs() < 1e-5);
        }

        #[test]
        fn the_blocks_of_a_dot_product_lose_nothing(pairs in prop::collection::vec((-1.0f32..1.0, -1.0f32..1.0), 0..100)) {
            let (a, b): (Vec<f32>, Vec<f32>) = pairs.iter().copied().unzip();
            let exact: f64 = pairs.iter().map(|&(x, y)| f64::from(x) * f64::from(y)).sum();
            prop_assert!((f64::from(dot(&a, &b)) - exact).abs() < 1e-4);
        }
    }
}
