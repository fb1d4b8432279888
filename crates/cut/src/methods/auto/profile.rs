//! The profile of a collection, from its past queries without any judgement.

use serde::{Deserialize, Serialize};

/// The sharpness of results in a collection.
///
/// One passage may answer a query, or forty. That depends on the collection, and a single list of results does not show
/// it. Many lists do: on average, where one passage answers, the first candidate matches the query far better than the next
/// ones; where many answer, they match alike.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Profile {
    /// Number of queries it is made from.
    pub queries: usize,
    /// Mean of their [`coverage_drop`].
    #[serde(alias = "mean_focus")]
    pub mean_coverage_drop: f64,
    /// Median evidence, as [`Gate`](crate::Gate) computes it, of queries that both legs took part in.
    pub usual_evidence: Option<f64>,
}

/// The mean coverage drop over many collections, and the number of a collection's own queries that it weighs as much as.
const PRIOR_DROP: f64 = 0.24;
const PRIOR_QUERIES: f64 = 6.0;

impl Profile {
    /// The profile of past queries, each with its [`coverage_drop`] and its evidence where they are known, in any order.
    pub fn of(past: impl IntoIterator<Item = (Option<f64>, Option<f64>)>) -> Self {
        let (mut queries, mut sum, mut evidence) = (0, 0.0, Vec::new());
        for (drop, found) in past {
            if let Some(drop) = drop.filter(|drop| drop.is_finite()) {
                queries += 1;
                sum += drop;
            }
            evidence.extend(found.filter(|found| found.is_finite()));
        }
        let mean_coverage_drop = if queries == 0 { 0.0 } else { sum / queries as f64 };
        evidence.sort_by(f64::total_cmp);
        let usual_evidence = (evidence.len() >= FEWEST_FOR_MEDIAN).then(|| evidence[evidence.len() / 2]);
        Profile { queries, mean_coverage_drop, usual_evidence }
    }

    /// The mean coverage drop, drawn towards the mean over many collections while the queries are few.
    pub fn coverage_drop(&self) -> f64 {
        PRIOR_DROP + self.weight() * (self.mean_coverage_drop - PRIOR_DROP)
    }

    /// Weight of the collection's own queries against the prior, 0 to below 1.
    pub(super) fn weight(&self) -> f64 {
        let queries = self.queries as f64;
        queries / (queries + PRIOR_QUERIES)
    }
}

/// Fewest queries that give a usual evidence.
const FEWEST_FOR_MEDIAN: usize = 10;

/// The drop in coverage after one query's first candidate: 1 − mean coverage of the second to sixth / coverage of the first,
/// in [0, 1]. A candidate's coverage is the share of the query's IDF mass that it matches; `coverages` are in ranking order.
/// `None` for fewer than six candidates, or a first one that shares no word with the query.
pub fn coverage_drop(coverages: &[Option<f64>]) -> Option<f64> {
    let first = coverages.first().copied().flatten().filter(|&coverage| coverage > 0.0)?;
    let next = coverages.get(1..6)?;
    let mean = next.iter().map(|coverage| coverage.unwrap_or(0.0)).sum::<f64>() / next.len() as f64;
    Some((1.0 - mean / first).clamp(0.0, 1.0)).filter(|drop| drop.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coverage_drop_by_hand() {
        let list = |values: [f64; 6]| values.map(Some);
        assert_eq!(coverage_drop(&list([0.8, 0.4, 0.4, 0.4, 0.4, 0.4])), Some(0.5));
        assert_eq!(coverage_drop(&list([0.5, 0.9, 0.9, 0.9, 0.9, 0.9])), Some(0.0), "never below 0");
        assert_eq!(coverage_drop(&list([0.0, 0.4, 0.4, 0.4, 0.4, 0.4])), None);
        assert_eq!(coverage_drop(&[Some(0.8), Some(0.1)]), None, "a short list says nothing");
        assert_eq!(coverage_drop(&[None; 6]), None);
    }

    #[test]
    fn few_queries_hardly_move_the_coverage_drop_and_many_make_it() {
        let profile = |queries| Profile::of(std::iter::repeat_n((Some(0.6), None), queries));
        assert!((Profile::default().coverage_drop() - PRIOR_DROP).abs() < 1e-12);
        assert!(profile(1).coverage_drop() < 0.3);
        assert!((profile(1000).coverage_drop() - 0.6).abs() < 0.01);
        assert_eq!(profile(3).usual_evidence, None);
    }

    #[test]
    fn unknown_figures_do_not_count() {
        let past = [(None, Some(1.5)), (Some(f64::NAN), Some(f64::NAN)), (Some(0.2), None)];
        let profile = Profile::of(past);
        assert_eq!((profile.queries, profile.mean_coverage_drop, profile.usual_evidence), (1, 0.2, None));
        let past = (0..11).map(|query| (None, Some(f64::from(query))));
        assert_eq!(Profile::of(past).usual_evidence, Some(5.0));
    }
}
