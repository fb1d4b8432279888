//! A sample of random results: its distribution, and how far the best score stands out from it.

use tamis_cut::{Background, Cut, Evidence, Gate, Pool, Rule};

/// Fewer random results than this say nothing about their spread.
pub const FEWEST_FOR_DEVIATION: usize = 20;

/// Mean, standard deviation and number of the scores of results drawn at random; `None` without a score. Scores that are not finite
/// are left out.
///
/// ```
/// let background = tamis::lists::sample_background([0.1, 0.3]).expect("two scores");
/// assert!((background.mean - 0.2).abs() < 1e-12 && (background.deviation - 0.1).abs() < 1e-12);
/// assert_eq!(background.count, 2);
/// ```
pub fn sample_background(scores: impl IntoIterator<Item = f64, IntoIter: Clone>) -> Option<Background> {
    let scores = scores.into_iter().filter(|score| score.is_finite());
    let count = scores.clone().count();
    let mean = scores.clone().sum::<f64>() / count as f64;
    let deviation = (scores.map(|score| (score - mean).powi(2)).sum::<f64>() / count as f64).sqrt();
    (count > 0).then_some(Background { mean, deviation, count })
}

/// How far the best score of a list stands out from a sample of random results. It is the gate's evidence for scores on a scale of
/// their own: the distance from the sample's mean, against what the gate requires of a similarity on its scale.
#[derive(Debug)]
pub(super) struct Standing {
    evidence: Evidence,
}

impl Standing {
    /// The standing of the best candidate; `None` if the sample is too small or has no spread to compare with.
    pub(super) fn of(pool: &Pool, sample: &Background) -> Option<Standing> {
        if sample.count < FEWEST_FOR_DEVIATION || sample.deviation <= 0.0 {
            return None;
        }
        let best = match pool.orientation() {
            tamis_cut::Orientation::Score => pool.best()? - sample.mean,
            tamis_cut::Orientation::Distance => sample.mean - pool.best()?,
        };
        let background = Some(Background { mean: 0.0, ..*sample });
        Some(Standing { evidence: Evidence { best_similarity: Some(best), background, ..Evidence::default() } })
    }

    /// The cut that keeps nothing if the best score does not stand out; otherwise the rule's, with the gate's figures.
    pub(super) fn cut(&self, rule: &dyn Rule, pool: &Pool) -> Cut {
        let mut verdict = Gate::default().judge(&self.evidence);
        let ours = |name: &str| matches!(name, "evidence" | "needed");
        verdict.diagnostics.retain(|name, _| ours(name));
        if verdict.empty {
            verdict.reason = "nothing stands out from the sample of random results".to_owned();
            return verdict.into_cut(pool);
        }
        verdict.note_in(rule.cut(pool))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DecidedList, ListCutter, Reading, Reference};
    use super::*;
    use crate::search::{Aim, TunedRule};
    use tamis_cut::{Orientation, Want, parse};

    /// Twenty-one scores around `mean`, from `mean - 1` to `mean + 1`.
    fn sample(mean: f64) -> Background {
        sample_background((0..21).map(move |at| mean + f64::from(at - 10) / 10.0)).expect("scores")
    }

    fn cut(scores: &[f64], sample: Background, orientation: Orientation) -> DecidedList {
        let rule =
            TunedRule::new(parse("auto").expect("a method").as_ref(), Want::Auto, &Aim::default()).expect("no aim");
        let reading = Reading { orientation, ..Reading::default() };
        let cutter = ListCutter { reading, reference: Reference::Scores(sample), ..ListCutter::new(&rule) };
        cutter.cut_scores(scores.iter().copied(), None).expect("decided")
    }

    #[test]
    fn a_sample_decides_where_it_has_enough_spread() {
        // The deviation is 0.61, so the best must be 3.375 of it, or 2.04, above the mean.
        for (shift, orientation, sign) in
            [(0.0, Orientation::Score, 1.0), (500.0, Orientation::Score, 1.0), (500.0, Orientation::Distance, -1.0)]
        {
            let list = |best: f64| [best, 0.5, 0.4, 0.3].map(|score| shift + sign * score);
            let foreign = cut(&list(2.0), sample(shift), orientation);
            assert_eq!((foreign.cut.keep, foreign.cut.method.as_str()), (0, "gate"), "{shift}");
            assert_eq!(foreign.cut.reason, "nothing stands out from the sample of random results");
            let found = cut(&list(2.1), sample(shift), orientation);
            assert_eq!((found.cut.keep, found.cut.method.as_str()), (1, "auto"), "{shift}: {:?}", found.cut);
            assert_eq!(found.cut.diagnostics["gate"].as_text(), Some("open"));
        }

        let few = Background { count: FEWEST_FOR_DEVIATION - 1, ..sample(0.0) };
        let flat = Background { deviation: 0.0, ..sample(0.0) };
        for sample in [few, flat] {
            let decided = cut(&[0.5, 0.4], sample, Orientation::Score);
            assert!(decided.cut.keep > 0, "{:?}", decided.cut);
            assert_eq!(decided.cut.diagnostics["gate"].as_text(), Some("not asked: there is no evidence"));
        }
        assert_eq!(sample_background([f64::NAN]), None);
    }
}
