//! Vectors as every store keeps them: of unit length and in half precision.

use half::f16;

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

    fn scaled(vector: &[f32]) -> Vec<f32> {
        unit(vector).map(f16::to_f32).collect()
    }

    proptest! {
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
