//! Calibration: the errors of probabilities of relevance.

use serde::{Deserialize, Serialize};

use crate::evaluate::mean;

/// One bin of probabilities.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bin {
    /// Number of probabilities in it.
    pub count: usize,
    /// The lowest of them.
    pub low: f64,
    /// The highest of them.
    pub high: f64,
    /// Their mean.
    pub mean: f64,
    /// Share of them whose document is relevant.
    pub relevant: f64,
}

/// A probability, and whether the document is relevant.
pub type Forecast = (f64, bool);

/// Divides the forecasts into at most `bins` bins of equal mass, lowest probability first.
///
/// Equal probabilities stay in one bin, so bins can differ in size and be fewer. Bins of equal mass estimate the error with less bias
/// than bins of equal width (Nixon, Dusenberry, Zhang, Jerfel and Tran, *Measuring Calibration in Deep Learning*, 2019). O(n log n).
pub fn equal_mass(forecasts: &[Forecast], bins: usize) -> Vec<Bin> {
    let mut sorted = forecasts.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut made = Vec::new();
    let mut start = 0;
    for part in 1..=bins {
        let mut end = (sorted.len() * part / bins).max(start);
        while end > start && end < sorted.len() && sorted[end].0 == sorted[end - 1].0 {
            end += 1;
        }
        made.extend(bin(&sorted[start..end]));
        start = end;
    }
    made
}

/// Divides the forecasts into `bins` bins of equal width over 0..=1, without the empty ones, lowest first. Reliability
/// diagrams use these, since they show all probabilities alike and not only where most of them are.
pub fn equal_width(forecasts: &[Forecast], bins: usize) -> Vec<Bin> {
    let mut members = vec![Vec::new(); bins];
    for forecast in forecasts {
        let at = (forecast.0 * bins as f64) as usize;
        if let Some(members) = members.get_mut(at.min(bins.saturating_sub(1))) {
            members.push(*forecast);
        }
    }
    members.iter().filter_map(|members| bin(members)).collect()
}

/// A bin of these members; `None` without one.
fn bin(members: &[Forecast]) -> Option<Bin> {
    let probabilities = || members.iter().map(|forecast| forecast.0);
    Some(Bin {
        count: members.len(),
        low: probabilities().fold(f64::INFINITY, f64::min),
        high: probabilities().fold(f64::NEG_INFINITY, f64::max),
        mean: mean(probabilities())?,
        relevant: mean(members.iter().map(|forecast| f64::from(forecast.1)))?,
    })
}

/// Expected calibration error: the mean over the forecasts of |mean probability − share relevant| of their bin, in 0..=1
/// (Naeini, Cooper and Hauskrecht, AAAI 2015, there over bins of equal width). `None` without a forecast.
pub fn calibration_error(bins: &[Bin]) -> Option<f64> {
    let count: usize = bins.iter().map(|bin| bin.count).sum();
    let error = bins.iter().map(|bin| bin.count as f64 * (bin.mean - bin.relevant).abs()).sum::<f64>();
    (count > 0).then(|| error / count as f64)
}

/// Mean squared error, in 0..=1 (Brier, 1950, for two outcomes counted once). `None` without a forecast.
pub fn brier(forecasts: &[Forecast]) -> Option<f64> {
    let error = |&(probability, relevant): &Forecast| (probability - f64::from(relevant)).powi(2);
    mean(forecasts.iter().map(error))
}

/// Mean negative log likelihood in nats. Probabilities are clamped to 1e-15 from 0 and 1, so that one sure mistake costs much
/// but not infinitely much. `None` without a forecast.
pub fn log_loss(forecasts: &[Forecast]) -> Option<f64> {
    let loss = |&(probability, relevant): &Forecast| {
        let right = if relevant { probability } else { 1.0 - probability };
        -right.clamp(1e-15, 1.0 - 1e-15).ln()
    };
    mean(forecasts.iter().map(loss))
}

// Slope and offset that turn a model's log odds into probabilities (Platt, "Probabilistic outputs for support vector machines
// and comparisons to regularized likelihood methods", 1999).

/// Probabilities closer to 0 or 1 than this count as this close, so that their log odds are finite.
const CLOSEST: f64 = 1e-6;

/// Steps after which the fit ends. It converges in about ten.
const STEPS: usize = 100;

/// A logistic regression of relevance on log odds: the log odds of relevance are `slope` times those of the forecast, plus `offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Platt {
    /// The factor.
    pub slope: f64,
    /// The number added after the factor.
    pub offset: f64,
}

impl Platt {
    /// Fits forecasts as if half of them were relevant: both sides weigh the same. The targets are Platt's, a little inside 0 and 1, so
    /// that forecasts which separate the sides without error have a finite slope. `None` unless both sides have a forecast and
    /// the forecasts differ.
    ///
    /// ```
    /// use tamis_eval::Platt;
    ///
    /// let timid: Vec<(f64, bool)> = (0..100).map(|at| (if at % 10 < 9 { 0.6 } else { 0.4 }, true))
    ///     .chain((0..100).map(|at| (if at % 10 < 9 { 0.4 } else { 0.6 }, false))).collect();
    /// let fitted = Platt::fit(&timid).unwrap();
    /// assert!(fitted.slope > 5.0 && fitted.offset.abs() < 1e-6);
    /// ```
    pub fn fit(forecasts: &[Forecast]) -> Option<Self> {
        let points = Self::points(forecasts)?;
        let mut fitted = Platt { slope: 0.0, offset: 0.0 };
        for _ in 0..STEPS {
            let next = fitted.step(&points)?;
            let moved = (next.slope - fitted.slope).abs() + (next.offset - fitted.offset).abs();
            fitted = next;
            if moved < 1e-9 {
                break;
            }
        }
        Some(fitted)
    }

    /// Log odds, target, and weight of each forecast.
    fn points(forecasts: &[Forecast]) -> Option<Vec<(f64, f64, f64)>> {
        let relevant = forecasts.iter().filter(|forecast| forecast.1).count() as f64;
        let others = forecasts.len() as f64 - relevant;
        let point = |&(probability, is_relevant): &Forecast| {
            let probability = probability.clamp(CLOSEST, 1.0 - CLOSEST);
            let log_odds = (probability / (1.0 - probability)).ln();
            match is_relevant {
                true => (log_odds, (relevant + 1.0) / (relevant + 2.0), 0.5 / relevant),
                false => (log_odds, 1.0 / (others + 2.0), 0.5 / others),
            }
        };
        let points: Vec<(f64, f64, f64)> = forecasts.iter().map(point).collect();
        let differ = points.iter().any(|point| point.0 != points[0].0);
        (relevant > 0.0 && others > 0.0 && differ).then_some(points)
    }

    /// One step of Newton's method, halved until the loss does not rise.
    fn step(self, points: &[(f64, f64, f64)]) -> Option<Self> {
        let (mut gradient, mut hessian) = ([0.0; 2], [0.0; 3]);
        for &(x, target, weight) in points {
            let probability = 1.0 / (1.0 + (-(self.slope * x + self.offset)).exp());
            let (error, curvature) = (weight * (probability - target), weight * probability * (1.0 - probability));
            gradient[0] += error * x;
            gradient[1] += error;
            hessian[0] += curvature * x * x;
            hessian[1] += curvature * x;
            hessian[2] += curvature;
        }
        let determinant = hessian[0] * hessian[2] - hessian[1] * hessian[1];
        let slope = (hessian[2] * gradient[0] - hessian[1] * gradient[1]) / determinant;
        let offset = (hessian[0] * gradient[1] - hessian[1] * gradient[0]) / determinant;
        let loss = self.loss(points);
        let halved = (0..40).map(|halvings| {
            let share = 0.5f64.powi(halvings);
            Platt { slope: self.slope - share * slope, offset: self.offset - share * offset }
        });
        // Where no step helps, this is the place.
        (slope.is_finite() && offset.is_finite())
            .then(|| halved.into_iter().find(|next| next.loss(points) <= loss).unwrap_or(self))
    }

    /// Cross-entropy.
    fn loss(self, points: &[(f64, f64, f64)]) -> f64 {
        let of = |&(x, target, weight): &(f64, f64, f64)| {
            let log_odds = self.slope * x + self.offset;
            // ln(1 + e^z) without overflow.
            weight * (log_odds.max(0.0) + (-log_odds.abs()).exp().ln_1p() - target * log_odds)
        };
        points.iter().map(of).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bins_of_equal_mass_by_hand_of_nothing_and_of_equal_probabilities() {
        let forecasts = [(0.9, true), (0.1, false), (0.2, true), (0.8, true)];
        let bins = equal_mass(&forecasts, 2);
        assert_eq!(bins.len(), 2);
        assert_eq!((bins[0].count, bins[0].low, bins[0].high, bins[0].relevant), (2, 0.1, 0.2, 0.5));
        assert_eq!((bins[1].count, bins[1].low, bins[1].high, bins[1].relevant), (2, 0.8, 0.9, 1.0));
        assert!((calibration_error(&bins).unwrap() - (0.35 + 0.15) / 2.0).abs() < 1e-12);
        assert!((brier(&forecasts).unwrap() - (0.01 + 0.01 + 0.64 + 0.04) / 4.0).abs() < 1e-12);
        let expected = -(0.9f64.ln() + 0.9f64.ln() + 0.2f64.ln() + 0.8f64.ln()) / 4.0;
        assert!((log_loss(&forecasts).unwrap() - expected).abs() < 1e-12);
        assert!(equal_mass(&[], 10).is_empty());
        assert_eq!((calibration_error(&[]), brier(&[]), log_loss(&[])), (None, None, None));
        let bins = equal_mass(&[(0.0, false), (0.0, true), (0.0, false), (0.7, true)], 4);
        assert_eq!(bins.iter().map(|bin| bin.count).collect::<Vec<_>>(), [3, 1]);
    }

    #[test]
    fn bins_of_equal_width_and_a_sure_mistake_is_finite() {
        let bins = equal_width(&[(1.0, true), (0.5, false), (0.49, true), (0.0, false)], 2);
        let shape: Vec<_> = bins.iter().map(|bin| (bin.count, bin.low, bin.high, bin.relevant)).collect();
        assert_eq!(shape, [(2, 0.0, 0.49, 0.5), (2, 0.5, 1.0, 0.5)]);
        assert_eq!(equal_width(&[(0.7, true)], 10).len(), 1);
        assert!(equal_width(&[], 10).is_empty());
        assert!(log_loss(&[(1.0, false)]).unwrap() > 30.0 && log_loss(&[(1.0, false)]).unwrap().is_finite());
    }

    fn sigmoid(log_odds: f64) -> f64 {
        1.0 / (1.0 + (-log_odds).exp())
    }

    /// Forecasts at evenly spaced log odds, each relevant as often as the true line says, balanced between the sides.
    fn drawn(slope: f64, offset: f64) -> Vec<Forecast> {
        let mut forecasts = Vec::new();
        for at in -40..=40 {
            let log_odds = f64::from(at) / 10.0;
            let relevant = (1000.0 * sigmoid(slope * log_odds + offset)).round() as usize;
            forecasts.extend((0..1000).map(|number| (sigmoid(log_odds), number < relevant)));
        }
        forecasts
    }

    #[test]
    fn the_line_that_made_the_forecasts_is_found() {
        let fitted = Platt::fit(&drawn(0.5, 0.0)).expect("fitted");
        assert!((fitted.slope - 0.5).abs() < 0.01 && fitted.offset.abs() < 0.01, "{fitted:?}");
        // More of them are relevant than not; as if half were, the offset falls.
        let shifted = Platt::fit(&drawn(0.5, 1.0)).expect("fitted");
        assert!((shifted.slope - 0.5).abs() < 0.02 && shifted.offset < 0.5, "{shifted:?}");
    }

    #[test]
    fn one_side_alone_or_equal_forecasts_say_nothing_and_separate_sides_have_a_finite_slope() {
        assert_eq!([Platt::fit(&[]), Platt::fit(&[(0.3, true), (0.6, true)])], [None, None]);
        assert_eq!(Platt::fit(&[(0.3, true), (0.3, false)]), None);
        let fitted = Platt::fit(&[(0.0, false), (0.2, false), (0.8, true), (1.0, true)]).expect("fitted");
        assert!(fitted.slope > 0.0 && fitted.slope.is_finite(), "{fitted:?}");
    }

    proptest! {
        #[test]
        fn every_forecast_is_in_one_bin(
            forecasts in prop::collection::vec(((0u8..20).prop_map(|step| f64::from(step) / 19.0), any::<bool>()), 1..80),
            count in 1usize..15,
        ) {
            let bins = equal_mass(&forecasts, count);
            prop_assert!(bins.len() <= count);
            prop_assert_eq!(bins.iter().map(|bin| bin.count).sum::<usize>(), forecasts.len());
            prop_assert!(bins.windows(2).all(|pair| pair[0].high < pair[1].low));
            let error = calibration_error(&bins).unwrap();
            prop_assert!((0.0..=1.0).contains(&error));
            prop_assert!((0.0..=1.0).contains(&brier(&forecasts).unwrap()));
        }

        #[test]
        fn no_neighbouring_line_fits_better(forecasts in proptest::collection::vec((0.0..=1.0f64, any::<bool>()), 2..40)) {
            let Some(fitted) = Platt::fit(&forecasts) else { return Ok(()) };
            let points = Platt::points(&forecasts).expect("both sides");
            for (slope, offset) in [(0.01, 0.0), (-0.01, 0.0), (0.0, 0.01), (0.0, -0.01)] {
                let near = Platt { slope: fitted.slope + slope, offset: fitted.offset + offset };
                prop_assert!(near.loss(&points) >= fitted.loss(&points) - 1e-9, "{fitted:?} {near:?}");
            }
        }
    }
}
