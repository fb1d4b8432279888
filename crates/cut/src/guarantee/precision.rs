//! Learn then test for precision.
//!
//! The mean loss 1 − precision is not monotone in the threshold. So a threshold is accepted only when the Hoeffding–Bentkus
//! p-value (Bates, Angelopoulos, Lei, Malik, Jordan, *Distribution-Free, Risk-Controlling Prediction Sets*, 2021) rejects,
//! at the level 1 − confidence, the hypothesis that its risk exceeds 1 − target. Thresholds are tested in a fixed order, from
//! 1 down to 0 in hundredths, up to the first that is not rejected: fixed-sequence testing, which needs no correction for
//! their number.

use super::calibration::{Calibrated, CalibrationQuery, mean_kept};
use super::{Guarantee, GuaranteeError};

/// Steps between the thresholds 0 and 1.
const STEPS: usize = 100;

pub(super) fn calibrate(
    guarantee: Guarantee,
    target: f64,
    confidence: f64,
    queries: &[CalibrationQuery],
) -> Result<Calibrated, GuaranteeError> {
    let all: Vec<&CalibrationQuery> = queries.iter().collect();
    let (count, risk, level) = (queries.len(), 1.0 - target, 1.0 - confidence);
    let thresholds = || (0..=STEPS).rev().map(|step| step as f64 / STEPS as f64);

    let accepted = thresholds().map(|threshold| (threshold, mean_loss(&all, threshold)));
    let accepted = accepted.take_while(|&(_, loss)| count > 0 && p_value(loss, count, risk) <= level).last();
    if let Some((threshold, loss)) = accepted {
        let kept = mean_kept(&all, threshold);
        // A threshold beyond all candidates keeps the promise but never answers.
        if kept > 0.0 {
            let observed = 1.0 - loss;
            return Ok(Calibrated { guarantee, threshold, queries: count, observed, bound: target, kept });
        }
    }

    let first = thresholds().find(|&threshold| mean_kept(&all, threshold) > 0.0);
    let loss = first.map_or(0.0, |threshold| mean_loss(&all, threshold));
    if loss < risk {
        // With the same loss, the Hoeffding bound alone rejects from this number on.
        let need = (-level.ln() / divergence(loss, risk) - 1e-9).ceil();
        if need > count as f64 {
            return Err(GuaranteeError::TooFew { guarantee, have: count, need: need as usize });
        }
    }
    let losses = thresholds().filter(|&threshold| mean_kept(&all, threshold) > 0.0);
    let least = losses.map(|threshold| mean_loss(&all, threshold)).fold(1.0, f64::min);
    Err(GuaranteeError::Unreachable { guarantee, best: 1.0 - least, queries: count })
}

/// Mean of 1 − precision; a query that keeps nothing has no loss.
fn mean_loss(queries: &[&CalibrationQuery], threshold: f64) -> f64 {
    let loss = |query: &&CalibrationQuery| {
        let kept = query.kept(threshold);
        let wrong = query.relevant[..kept].iter().filter(|&&relevant| !relevant).count();
        wrong as f64 / kept.max(1) as f64
    };
    queries.iter().map(loss).sum::<f64>() / queries.len().max(1) as f64
}

/// The Hoeffding–Bentkus p-value of the hypothesis that the mean of a loss between 0 and 1 exceeds `risk`, when the mean of
/// `count` draws is `loss`.
fn p_value(loss: f64, count: usize, risk: f64) -> f64 {
    let hoeffding = (-(count as f64) * divergence(loss.min(risk), risk)).exp();
    let at_most = (count as f64 * loss - 1e-9).ceil().max(0.0) as usize;
    let bentkus = std::f64::consts::E * binomial_at_most(at_most, count, risk);
    hoeffding.min(bentkus).min(1.0)
}

/// Kullback–Leibler divergence of Bernoulli variables with means `a` and `b`, 0 < b < 1.
fn divergence(a: f64, b: f64) -> f64 {
    let term = |a: f64, b: f64| if a > 0.0 { a * (a / b).ln() } else { 0.0 };
    (term(a, b) + term(1.0 - a, 1.0 - b)).max(0.0)
}

/// Probability of at most `limit` successes in `count` trials.
fn binomial_at_most(limit: usize, count: usize, probability: f64) -> f64 {
    if limit >= count {
        return 1.0;
    }
    let odds = (probability / (1.0 - probability)).ln();
    let mut log = count as f64 * (1.0 - probability).ln();
    let mut sum = log.exp();
    for successes in 1..=limit {
        log += ((count - successes + 1) as f64 / successes as f64).ln() + odds;
        sum += log.exp();
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(values: &[f64], relevant: &[bool]) -> CalibrationQuery {
        CalibrationQuery { values: values.to_vec(), relevant: relevant.to_vec(), missed: 0 }
    }

    #[test]
    fn the_p_value_is_that_of_the_definition() {
        // Without any loss it is the chance that every draw is without one.
        assert!((p_value(0.0, 22, 0.1) - 0.9f64.powi(22)).abs() < 1e-12);
        assert!((p_value(0.1, 22, 0.1) - 1.0).abs() < 1e-12);
        assert_eq!(p_value(0.5, 22, 0.1), 1.0);
        // 0.9^3, 3 · 0.1 · 0.9², 3 · 0.1² · 0.9.
        assert!((binomial_at_most(0, 3, 0.1) - 0.729).abs() < 1e-12);
        assert!((binomial_at_most(1, 3, 0.1) - 0.972).abs() < 1e-12);
        assert!((binomial_at_most(2, 3, 0.1) - 0.999).abs() < 1e-12);
        assert_eq!(binomial_at_most(3, 3, 0.1), 1.0);
        // Many trials do not underflow.
        assert!((binomial_at_most(1000, 10_000, 0.1) - 0.5).abs() < 0.02);
    }

    #[test]
    fn the_lowest_threshold_before_the_first_failure_is_taken() {
        // Down to 0.6 all that is kept is relevant, below that a third is not.
        let judged = vec![query(&[0.9, 0.6, 0.3], &[true, true, false]); 40];
        let guarantee = Guarantee::Precision { target: 0.9, confidence: 0.9 };
        let given = guarantee.calibrate(&judged).unwrap();
        assert_eq!((given.threshold, given.observed, given.kept), (0.31, 1.0, 2.0));
        assert_eq!((given.queries, given.bound), (40, 0.9));
    }

    #[test]
    fn a_refusal_says_how_many_are_needed_or_what_is_reached() {
        let guarantee = Guarantee::Precision { target: 0.9, confidence: 0.9 };
        let right = query(&[0.9], &[true]);
        for (count, need) in [(0, 22), (1, 22), (21, 22)] {
            let refused = guarantee.calibrate(&vec![right.clone(); count]).unwrap_err();
            assert_eq!(refused, GuaranteeError::TooFew { guarantee, have: count, need });
        }
        assert!(guarantee.calibrate(&vec![right.clone(); 22]).is_ok());
        let wrong = vec![query(&[0.4], &[false]); 100];
        let refused = guarantee.calibrate(&wrong).unwrap_err();
        assert_eq!(refused, GuaranteeError::Unreachable { guarantee, best: 0.0, queries: 100 });
        let half = [vec![right; 20], vec![query(&[0.9], &[false]); 20]].concat();
        let refused = guarantee.calibrate(&half).unwrap_err();
        assert_eq!(refused, GuaranteeError::Unreachable { guarantee, best: 0.5, queries: 40 });
        assert!(refused.to_string().contains("a precision of 0.5 on 40 judged queries"), "{refused}");
    }
}
