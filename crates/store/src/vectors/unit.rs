//! Scaling vectors to unit length.

/// The length of a vector of unit length differs from 1 by less than this, since its values are rounded to single precision.
const ROUNDING: f64 = 2e-7;

/// Returns the factor that scales a vector to unit length. It is 1 for a vector that has it, so that a stored vector can be stored
/// again elsewhere as it is, and 0 for the zero vector, which is similar to nothing.
pub(crate) fn unit_scale(vector: &[f32]) -> f64 {
    let norm = vector.iter().map(|&value| f64::from(value) * f64::from(value)).sum::<f64>().sqrt();
    match norm {
        norm if (norm - 1.0).abs() < ROUNDING => 1.0,
        norm if norm > 0.0 => 1.0 / norm,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scaled(vector: &[f32]) -> Vec<f32> {
        let scale = unit_scale(vector);
        vector.iter().map(|&value| (f64::from(value) * scale) as f32).collect()
    }

    proptest! {
        #[test]
        fn scaling_twice_changes_nothing(vector in prop::collection::vec(-1000.0f32..1000.0, 1..400)) {
            let once = scaled(&vector);
            prop_assert_eq!(scaled(&once), once);
        }
    }
}
