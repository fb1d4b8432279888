//! The list that a rule reads: the candidates' values, best first.

use std::any::Any;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The good end of the scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Orientation {
    /// Higher is better: a score or a similarity. The list descends.
    Score,
    /// Lower is better. The list ascends.
    Distance,
}

/// The pool's value for passages that have nothing to do with the query, on the pool's own scale.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Background {
    /// Mean value over the passages seen.
    pub mean: f64,
    /// Standard deviation, at least 0.
    pub deviation: f64,
    /// Number of passages seen.
    pub count: usize,
}

/// A list of values that makes no pool.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum PoolError {
    /// A later value is better than an earlier one.
    #[error(
        "the values are not sorted best first: position {position} has {value}, which is better than {previous} before it; \
         sort {} before the cut",
        match orientation { Orientation::Score => "scores in descending order", Orientation::Distance => "distances in ascending order" }
    )]
    Unsorted {
        /// Position of the better value in the list as given, counted from 0.
        position: usize,
        /// The value there.
        value: f64,
        /// The value before it.
        previous: f64,
        /// The orientation that was stated.
        orientation: Orientation,
    },
    /// The background's mean or deviation is unusable.
    #[error(
        "a background needs a finite mean and a finite deviation of at least 0, and got mean {mean}, deviation {deviation}"
    )]
    Background {
        /// The mean as given.
        mean: f64,
        /// The deviation as given.
        deviation: f64,
    },
}

/// The candidates of one query: finite values, best first.
///
/// A pool holds what every method reads. A method that needs more data attaches it under a type of its own, in its own
/// file, so that the pool knows no method: see [`with_admitted`](Self::with_admitted), [`with_sizes`](Self::with_sizes),
/// [`with_relevance`](Self::with_relevance) and [`with_source_tables`](Self::with_source_tables).
///
/// ```
/// use tamis_cut::Pool;
///
/// let pool = Pool::scores([0.9, f64::NAN, 0.7])?;
/// assert_eq!(pool.values(), [0.9, 0.7]);
/// assert_eq!(pool.dropped_non_finite(), 1);
/// assert_eq!(pool.position(1), Some(2)); // the second best candidate was third in the list as given
/// # Ok::<(), tamis_cut::PoolError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Pool {
    values: Vec<f64>,
    /// The position of each candidate in the list as given, where that is not its rank.
    positions: Option<Vec<usize>>,
    orientation: Orientation,
    dropped_non_finite: usize,
    background: Option<Background>,
    attached: Vec<Arc<dyn Any + Send + Sync>>,
}

impl Pool {
    /// A pool of scores or similarities: higher is better, the list descends.
    ///
    /// Values that are not finite are dropped and counted.
    ///
    /// # Errors
    /// [`PoolError::Unsorted`] names the first position that breaks the order.
    pub fn scores(values: impl IntoIterator<Item = f64>) -> Result<Self, PoolError> {
        Self::new(values, Orientation::Score)
    }

    /// A pool of distances: lower is better, the list ascends. The values reach the rules untouched.
    ///
    /// Values that are not finite are dropped and counted.
    ///
    /// # Errors
    /// [`PoolError::Unsorted`] names the first position that breaks the order.
    pub fn distances(values: impl IntoIterator<Item = f64>) -> Result<Self, PoolError> {
        Self::new(values, Orientation::Distance)
    }

    /// A pool in either orientation; see [`Pool::scores`] and [`Pool::distances`].
    ///
    /// # Errors
    /// [`PoolError::Unsorted`] names the first position that breaks the order.
    pub fn new(values: impl IntoIterator<Item = f64>, orientation: Orientation) -> Result<Self, PoolError> {
        let values = values.into_iter();
        let mut pool = Pool {
            values: Vec::with_capacity(values.size_hint().0),
            positions: None,
            orientation,
            dropped_non_finite: 0,
            background: None,
            attached: Vec::new(),
        };
        for (position, value) in values.enumerate() {
            if !value.is_finite() {
                pool.positions.get_or_insert_with(|| (0..position).collect());
                pool.dropped_non_finite += 1;
                continue;
            }
            if let Some(&previous) = pool.values.last() {
                let better = match orientation {
                    Orientation::Score => value > previous,
                    Orientation::Distance => value < previous,
                };
                if better {
                    return Err(PoolError::Unsorted { position, value, previous, orientation });
                }
            }
            pool.values.push(value);
            if let Some(positions) = &mut pool.positions {
                positions.push(position);
            }
        }
        Ok(pool)
    }

    /// The pool with other scores, such as those of groups of its candidates. All else that is known of it stays.
    ///
    /// # Errors
    /// As [`Pool::scores`].
    pub fn with_scores(self, scores: impl IntoIterator<Item = f64>) -> Result<Self, PoolError> {
        Ok(Pool { background: self.background, attached: self.attached, ..Pool::scores(scores)? })
    }

    /// The pool with what is known of its background, on the same scale as its values. A rule reads its mean; that nothing may stand
    /// out from it is for a [`Gate`](crate::Gate) to say. `tamis::lists` asks one for a list of scores with a sample of twenty or
    /// more: its best must be 3.4 standard deviations better than the mean.
    ///
    /// # Errors
    /// [`PoolError::Background`] when the mean or the deviation is not finite, or the deviation is negative.
    pub fn with_background(mut self, background: Background) -> Result<Self, PoolError> {
        let Background { mean, deviation, .. } = background;
        if !(mean.is_finite() && deviation.is_finite() && deviation >= 0.0) {
            return Err(PoolError::Background { mean, deviation });
        }
        self.background = Some(background);
        Ok(self)
    }

    /// The pool with more data for the methods that read it; a second value of one type replaces the first.
    pub(crate) fn with<T: Any + Send + Sync>(mut self, data: T) -> Self {
        self.attached.retain(|attached| !attached.is::<T>());
        self.attached.push(Arc::new(data));
        self
    }

    /// Attached data of this type.
    pub(crate) fn get<T: Any>(&self) -> Option<&T> {
        self.attached.iter().find_map(|attached| attached.downcast_ref())
    }

    /// Number of candidates with a finite value.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns true if no candidate has a finite value.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The finite values as given, best first.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The finite values as given, best first, without the rest of the pool.
    pub fn into_values(self) -> Vec<f64> {
        self.values
    }

    /// The best value.
    pub fn best(&self) -> Option<f64> {
        self.values.first().copied()
    }

    /// The good end of the scale.
    pub fn orientation(&self) -> Orientation {
        self.orientation
    }

    /// Number of values left out for not being finite.
    pub fn dropped_non_finite(&self) -> usize {
        self.dropped_non_finite
    }

    /// The background, where it is known.
    pub fn background(&self) -> Option<Background> {
        self.background
    }

    /// Each candidate's normalized score, best first: where it stands between the background mean (0) and the best
    /// candidate (1). `None` where the background is unknown or the best does not stand out from it.
    pub fn normalized_scores(&self) -> Option<Vec<f64>> {
        let mean = self.mirrored(self.background?.mean);
        (self.mirrored(self.best()?) > mean).then(|| self.normalized_above(mean))
    }

    /// The normalized scores above a mean on the scale of the [`descending`](Self::descending) list.
    pub(crate) fn normalized_above(&self, mean: f64) -> Vec<f64> {
        let best = self.best().map_or(mean, |best| self.mirrored(best));
        let normalized = |value: f64| {
            let score = (value - mean) / (best - mean);
            // All equal, or so far apart that the difference overflows.
            if score.is_finite() { score } else { f64::from(u8::from(value >= best)) }
        };
        self.values.iter().map(|&value| normalized(self.mirrored(value))).collect()
    }

    /// Position, in the list as given, of the candidate at `rank` (from 0) among those with a finite value.
    pub fn position(&self, rank: usize) -> Option<usize> {
        match &self.positions {
            Some(positions) => positions.get(rank).copied(),
            None => Some(rank).filter(|&rank| rank < self.values.len()),
        }
    }

    /// The values as distances: as given where they are distances, else 1 − similarity.
    pub fn as_distances(&self) -> Vec<f64> {
        match self.orientation {
            Orientation::Distance => self.values.clone(),
            Orientation::Score => self.values.iter().map(|similarity| 1.0 - similarity).collect(),
        }
    }

    /// The values as similarities: as given where higher is better, else 1 − distance.
    pub fn as_similarities(&self) -> Vec<f64> {
        match self.orientation {
            Orientation::Score => self.values.clone(),
            Orientation::Distance => self.values.iter().map(|distance| 1.0 - distance).collect(),
        }
    }

    /// The values so that higher is better and every difference stays exact: as given, or negated distances.
    pub(crate) fn descending(&self) -> Vec<f64> {
        match self.orientation {
            Orientation::Score => self.values.clone(),
            Orientation::Distance => self.values.iter().map(|distance| -distance).collect(),
        }
    }

    /// A value of the pool's own scale on the scale of the [`descending`](Self::descending) list, or back.
    pub(crate) fn mirrored(&self, value: f64) -> f64 {
        match self.orientation {
            Orientation::Score => value,
            // The addition makes a negative zero a plain one.
            Orientation::Distance => -value + 0.0,
        }
    }
}

// The shape of a list: its values scaled to [0, 1], and its drops.

/// The values scaled to [0, 1] by their own range, in order; `None` for fewer than two values, or all equal.
///
/// The range of two huge values of opposite sign overflows, so such lists are scaled at a quarter of their size.
pub fn unit(values: &[f64]) -> Option<Vec<f64>> {
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
pub fn largest_drop(descending: &[f64]) -> Option<(usize, f64)> {
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
    fn an_unsorted_list_is_an_error_that_names_position_and_values() {
        let error = Pool::scores([0.9, 0.5, 0.6]).unwrap_err();
        let PoolError::Unsorted { position: 2, value: 0.6, previous: 0.5, .. } = error else {
            panic!("{error:?}");
        };
        let message = error.to_string();
        assert!(message.contains("position 2 has 0.6"), "{message}");
        assert!(message.contains("scores in descending order"), "{message}");
        let message = Pool::distances([0.2, 0.1]).unwrap_err().to_string();
        assert!(message.contains("distances in ascending order"), "{message}");
    }

    #[test]
    fn values_that_are_not_finite_are_dropped_counted_and_do_not_hide_disorder() {
        let pool = Pool::scores([f64::INFINITY, 0.9, f64::NAN, 0.9, f64::NEG_INFINITY]).unwrap();
        assert_eq!(pool.values(), [0.9, 0.9]);
        assert_eq!(pool.dropped_non_finite(), 3);
        assert_eq!((pool.position(0), pool.position(1), pool.position(2)), (Some(1), Some(3), None));
        assert!(Pool::scores([0.5, f64::NAN, 0.6]).is_err());
    }

    #[test]
    fn distances_are_kept_exactly_and_similarities_become_one_minus() {
        let distances = Pool::distances([0.1, 0.3]).unwrap();
        assert_eq!(distances.as_distances(), [0.1, 0.3]);
        assert_eq!(distances.as_similarities(), [0.9, 0.7]);
        let similarities = Pool::scores([0.7, 0.1]).unwrap();
        assert_eq!(similarities.as_distances(), [1.0 - 0.7, 0.9]);
    }

    #[test]
    fn attached_data_is_found_by_its_type_and_replaced_by_its_like() {
        let pool = Pool::scores([0.5]).unwrap().with(1_u8).with("text").with(2_u8);
        assert_eq!((pool.get::<u8>(), pool.get::<&str>(), pool.get::<u16>()), (Some(&2), Some(&"text"), None));
    }

    #[test]
    fn a_background_must_be_finite_with_a_deviation_of_at_least_zero() {
        for (mean, deviation) in [(f64::NAN, 0.1), (0.1, f64::INFINITY), (0.1, -0.1)] {
            let pool = Pool::scores([0.5]).unwrap();
            let error = pool.with_background(Background { mean, deviation, count: 10 }).unwrap_err();
            assert!(error.to_string().contains("finite mean"), "{error}");
        }
    }

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
        assert_eq!([largest_drop(&[1.0, 1.0]), largest_drop(&[1.0])], [Some((0, 0.0)), None]);
    }
}
