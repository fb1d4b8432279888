//! Slope and offset that turn a model's log odds into probabilities (Platt, "Probabilistic outputs for support vector machines
//! and comparisons to regularized likelihood methods", 1999).

use crate::calibration::Forecast;

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
    fn one_side_alone_or_equal_forecasts_say_nothing() {
        assert_eq!(Platt::fit(&[]), None);
        assert_eq!(Platt::fit(&[(0.3, true), (0.6, true)]), None);
        assert_eq!(Platt::fit(&[(0.3, true), (0.3, false)]), None);
    }

    #[test]
    fn separate_sides_have_a_finite_slope() {
        let fitted = Platt::fit(&[(0.0, false), (0.2, false), (0.8, true), (1.0, true)]).expect("fitted");
        assert!(fitted.slope > 0.0 && fitted.slope.is_finite(), "{fitted:?}");
    }

    proptest! {
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
