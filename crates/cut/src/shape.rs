//! The shape of a list: its values scaled to [0, 1], and its drops.

/// The values scaled to [0, 1] by their own range, in order; `None` for fewer than two values, or all equal.
///
/// The range of two huge values of opposite sign overflows, so such lists are scaled at a quarter of their size.
pub(crate) fn unit(values: &[f64]) -> Option<Vec<f64>> {
    let (low, high) = bounds(values)?;
    if (high - low).is_finite() {
        let range = high - low;
        return (range > 0.0).then(|| values.iter().map(|value| (value - low) / range).collect());
    }
    let quarters: Vec<f64> = values.iter().map(|value| value * 0.25).collect();
    unit(&quarters)
}

fn bounds(values: &[f64]) -> Option<(f64, f64)> {
    let first = *values.first()?;
    Some(values.iter().fold((first, first), |(low, high), &value| (low.min(value), high.max(value))))
}

/// The position before the largest drop of a descending list, and its size; the first of equal drops.
pub(crate) fn largest_drop(descending: &[f64]) -> Option<(usize, f64)> {
    let mut largest = None;
    for (index, pair) in descending.windows(2).enumerate() {
        let drop = pair[0] - pair[1];
        if largest.is_none_or(|(_, size)| drop > size) {
            largest = Some((index, drop));
        }
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_maps_best_to_one_and_worst_to_zero() {
        assert_eq!(unit(&[4.0, 3.0, 2.0]), Some(vec![1.0, 0.5, 0.0]));
        assert_eq!(unit(&[f64::MAX, 0.0, f64::MIN]), Some(vec![1.0, 0.5, 0.0]));
        assert_eq!(unit(&[5e-324, 0.0]), Some(vec![1.0, 0.0]));
        for flat in [&[][..], &[1.0], &[2.0, 2.0]] {
            assert_eq!(unit(flat), None);
        }
    }

    #[test]
    fn the_first_of_equal_drops_is_the_largest() {
        assert_eq!(largest_drop(&[4.0, 2.0, 1.0, -1.0]), Some((0, 2.0)));
        assert_eq!(largest_drop(&[1.0, 1.0]), Some((0, 0.0)));
        assert_eq!(largest_drop(&[1.0]), None);
    }
}
