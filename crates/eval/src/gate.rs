//! ROC curves: how well a method's evidence separates queries with an answer from those without.

use serde::{Deserialize, Serialize};

use crate::data::QueryKind;

/// A ROC curve: answerable queries against another kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Roc {
    /// The other kind: unanswerable or foreign.
    pub against: QueryKind,
    /// Area under the curve: the probability that a random answerable query has more evidence than a random one of the other
    /// kind, ties counting half; 0.5 is chance.
    pub auroc: f64,
    /// Points (share of the other kind let through, share of the answerable let through), from (0, 0) to (1, 1); at most
    /// [`POINTS`] and both ends.
    pub points: Vec<(f64, f64)>,
}

/// Most points kept of a ROC curve.
pub const POINTS: usize = 200;

/// The ROC curve of two samples of evidence, by the trapezoidal rule, which is the Mann–Whitney statistic (Fawcett, *An
/// introduction to ROC analysis*, 2006). `None` where either is empty. O(n log n).
pub fn roc(answerable: &[f64], other: &[f64], against: QueryKind) -> Option<Roc> {
    if answerable.is_empty() || other.is_empty() {
        return None;
    }
    let mut all: Vec<(f64, bool)> =
        answerable.iter().map(|&value| (value, true)).chain(other.iter().map(|&value| (value, false))).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut through, mut wrongly) = (0usize, 0usize);
    let mut points = vec![(0.0, 0.0)];
    let mut area = 0.0;
    for group in all.chunk_by(|a, b| a.0 == b.0) {
        let right = group.iter().filter(|member| member.1).count();
        let wrong = group.len() - right;
        area += wrong as f64 * (through as f64 + right as f64 / 2.0);
        through += right;
        wrongly += wrong;
        points.push((wrongly as f64 / other.len() as f64, through as f64 / answerable.len() as f64));
    }
    let step = points.len().div_ceil(POINTS);
    let last = points.len() - 1;
    let kept = points.iter().enumerate().filter(|(at, _)| at % step == 0 || *at == last);
    Some(Roc {
        against,
        auroc: area / (answerable.len() as f64 * other.len() as f64),
        points: kept.map(|(_, &point)| point).collect(),
    })
}

/// The area under the curve of [`roc`] alone: the probability that a random value of `above` exceeds a random one of `below`,
/// ties counting half. `None` where either is empty.
#[must_use]
pub fn auroc(above: &[f64], below: &[f64]) -> Option<f64> {
    roc(above, below, QueryKind::Foreign).map(|curve| curve.auroc)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn by_hand() {
        let curve = roc(&[0.9, 0.5], &[0.5, 0.1], QueryKind::Foreign).unwrap();
        // Of four pairs three are in order and one is tied.
        assert_eq!(curve.auroc, 3.5 / 4.0);
        assert_eq!(curve.points, [(0.0, 0.0), (0.0, 0.5), (0.5, 1.0), (1.0, 1.0)]);
    }

    #[test]
    fn one_side_alone_has_no_curve() {
        assert_eq!(roc(&[1.0], &[], QueryKind::Foreign), None);
        assert_eq!(roc(&[], &[1.0], QueryKind::Unanswerable), None);
    }

    proptest! {
        #[test]
        fn area_counts_pairs(
            answerable in prop::collection::vec((0i8..10).prop_map(f64::from), 1..30),
            other in prop::collection::vec((0i8..10).prop_map(f64::from), 1..30),
        ) {
            let curve = roc(&answerable, &other, QueryKind::Unanswerable).unwrap();
            let mut won = 0.0;
            for a in &answerable {
                for b in &other {
                    won += if a > b { 1.0 } else if a == b { 0.5 } else { 0.0 };
                }
            }
            let expected = won / (answerable.len() * other.len()) as f64;
            prop_assert!((curve.auroc - expected).abs() < 1e-9);
            prop_assert_eq!(curve.points[0], (0.0, 0.0));
            prop_assert_eq!(*curve.points.last().unwrap(), (1.0, 1.0));
        }
    }
}
