//! Calibration: the errors of probabilities of relevance.

use serde::{Deserialize, Serialize};

use crate::mean::mean;

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
/// Equal probabilities stay in one bin, so bins can differ in size and be fewer. Bins of equal mass estimate the error with less bias than bins of equal width (Nixon, Dusenberry,
/// Zhang, Jerfel and Tran, *Measuring Calibration in Deep Learning*, 2019). O(n log n).
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn two_bins_by_hand() {
        let forecasts = [(0.9, true), (0.1, false), (0.2, true), (0.8, true)];
        let bins = equal_mass(&forecasts, 2);
        assert_eq!(bins.len(), 2);
        assert_eq!((bins[0].count, bins[0].low, bins[0].high, bins[0].relevant), (2, 0.1, 0.2, 0.5));
        assert_eq!((bins[1].count, bins[1].low, bins[1].high, bins[1].relevant), (2, 0.8, 0.9, 1.0));
        assert!((calibration_error(&bins).unwrap() - (0.35 + 0.15) / 2.0).abs() < 1e-12);
        assert!((brier(&forecasts).unwrap() - (0.01 + 0.01 + 0.64 + 0.04) / 4.0).abs() < 1e-12);
        let expected = -(0.9f64.ln() + 0.9f64.ln() + 0.2f64.ln() + 0.8f64.ln()) / 4.0;
        assert!((log_loss(&forecasts).unwrap() - expected).abs() < 1e-12);
    }

    #[test]
    fn nothing_to_measure() {
        assert!(equal_mass(&[], 10).is_empty());
        assert_eq!((calibration_error(&[]), brier(&[]), log_loss(&[])), (None, None, None));
    }

    #[test]
    fn equal_probabilities_stay_together() {
        let bins = equal_mass(&[(0.0, false), (0.0, true), (0.0, false), (0.7, true)], 4);
        assert_eq!(bins.iter().map(|bin| bin.count).collect::<Vec<_>>(), [3, 1]);
    }

    #[test]
    fn bins_of_equal_width() {
        let bins = equal_width(&[(1.0, true), (0.5, false), (0.49, true), (0.0, false)], 2);
        assert_eq!(
            bins.iter().map(|bin| (bin.count, bin.low, bin.high, bin.relevant)).collect::<Vec<_>>(),
            [(2, 0.0, 0.49, 0.5), (2, 0.5, 1.0, 0.5)]
        );
        assert_eq!(equal_width(&[(0.7, true)], 10).len(), 1);
        assert!(equal_width(&[], 10).is_empty());
    }

    #[test]
    fn a_sure_mistake_is_finite() {
        assert!(log_loss(&[(1.0, false)]).unwrap() > 30.0);
        assert!(log_loss(&[(1.0, false)]).unwrap().is_finite());
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
    }
}
