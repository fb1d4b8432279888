//! Detects drift: query similarities that have moved since thresholds were calibrated on them.

use super::days::moment;
use super::distribution::mean;
use serde::Serialize;
use std::collections::BTreeMap;
use tamis_store::QueryQuality;

/// The similarities of a model's queries before and after its last calibration. If they moved, its calibrated
/// thresholds may have to move too.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Drift {
    /// The model's identifier.
    pub model: String,
    /// The time of its last calibration, UTC; `None`: never calibrated.
    pub calibrated_at: Option<String>,
    /// The queries before the calibration; `None` without any, or if the model was never calibrated.
    pub before: Option<Similarities>,
    /// The queries since the calibration; all of them if the model was never calibrated.
    pub after: Option<Similarities>,
}

/// The similarities of some queries.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Similarities {
    /// The number of queries.
    pub queries: u64,
    /// Mean of each query's best candidate similarity.
    pub best: Option<f64>,
    /// Mean similarity to all passages searched: the background.
    pub background: Option<f64>,
}

impl Similarities {
    fn of(rows: &[&QueryQuality]) -> Option<Self> {
        (!rows.is_empty()).then(|| Similarities {
            queries: rows.len() as u64,
            best: mean(rows.iter().filter_map(|row| row.best_similarity)),
            background: mean(rows.iter().filter_map(|row| row.similarity_mean)),
        })
    }
}

/// Returns one entry for each model that answered.
pub(super) fn drifts(rows: &[QueryQuality], calibrated_at_ms: &BTreeMap<String, i64>) -> Vec<Drift> {
    let mut models: BTreeMap<&str, Vec<&QueryQuality>> = BTreeMap::new();
    for row in rows {
        if let Some(model) = &row.model {
            models.entry(model).or_default().push(row);
        }
    }
    let drift = |(model, rows): (&str, Vec<&QueryQuality>)| {
        let calibrated = calibrated_at_ms.get(model).copied();
        let since = |row: &&QueryQuality| calibrated.is_none_or(|calibrated| row.at_ms >= calibrated);
        let (after, before): (Vec<&QueryQuality>, Vec<&QueryQuality>) = rows.into_iter().partition(since);
        Drift {
            model: model.to_owned(),
            calibrated_at: calibrated.map(|at_ms| moment(at_ms).to_string()),
            before: Similarities::of(&before),
            after: Similarities::of(&after),
        }
    };
    models.into_iter().map(drift).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(at_ms: i64, model: Option<&str>, best: Option<f64>, mean: f64) -> QueryQuality {
        QueryQuality {
            at_ms,
            model: model.map(str::to_owned),
            best_similarity: best,
            similarity_mean: Some(mean),
            ..QueryQuality::default()
        }
    }

    #[test]
    fn before_and_after_the_calibration_by_hand() {
        let rows = [
            row(1, Some("m"), Some(0.5), 0.125),
            row(2, Some("m"), Some(0.25), 0.375),
            row(5, Some("m"), Some(0.75), 0.5),
            row(6, Some("m"), None, 0.25),
            row(6, None, Some(0.9), 0.9),
            row(7, Some("other"), Some(0.25), 0.25),
        ];
        let drifts = drifts(&rows, &[("m".to_owned(), 5)].into());
        let similarities = |queries, best, background| Some(Similarities { queries, best, background });
        assert_eq!(drifts.len(), 2, "words alone have no similarity");
        assert_eq!(drifts[0].before, similarities(2, Some(0.375), Some(0.25)));
        assert_eq!(drifts[0].after, similarities(2, Some(0.75), Some(0.375)), "a query at that moment comes after it");
        assert_eq!(drifts[0].calibrated_at.as_deref(), Some("1970-01-01T00:00:00.005Z"));
        assert_eq!((&drifts[1].calibrated_at, &drifts[1].before), (&None, &None));
        assert_eq!(drifts[1].after, similarities(1, Some(0.25), Some(0.25)));
    }
}
