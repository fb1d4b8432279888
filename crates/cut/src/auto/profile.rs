//! What a collection's past queries say of it, without any judgement.

use serde::{Deserialize, Serialize};

/// How the results of past queries stood out.
///
/// Whether one passage answers a query or forty belongs to the collection, and no single list of results tells. Many
/// of them do: where one passage answers, the first candidate matches the query far better than the next ones, on
/// average; where many answer, they match alike.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Profile {
    /// How many queries it is made from.
    pub queries: usize,
    /// Mean of their [`focus`].
    pub mean_focus: f64,
    /// Median evidence, as [`Gate`](crate::Gate) reckons it, of queries that both legs took part in.
    pub usual_evidence: Option<f64>,
}

/// The focus of collections at large, and for how many queries of a collection's own it counts.
const PRIOR_FOCUS: f64 = 0.24;
const PRIOR_QUERIES: f64 = 6.0;

impl Profile {
    /// A profile of past queries, each with its focus and its evidence where they are known. The order does not matter.
    pub fn of(past: impl IntoIterator<Item = (Option<f64>, Option<f64>)>) -> Self {
        let (mut queries, mut sum, mut evidence) = (0, 0.0, Vec::new());
        for (focus, found) in past {
            if let Some(focus) = focus.filter(|focus| focus.is_finite()) {
                queries += 1;
                sum += focus;
            }
            evidence.extend(found.filter(|found| found.is_finite()));
        }
        let mean_focus = if queries == 0 { 0.0 } else { sum / queries as f64 };
        evidence.sort_by(f64::total_cmp);
        let usual_evidence = (evidence.len() >= FEWEST_FOR_MEDIAN).then(|| evidence[evidence.len() / 2]);
        Profile { queries, mean_focus, usual_evidence }
    }

    /// The mean focus, drawn towards that of collections at large while the queries are few.
    pub fn focus(&self) -> f64 {
        PRIOR_FOCUS + self.weight() * (self.mean_focus - PRIOR_FOCUS)
    }

    /// How much the collection's own queries count against what is usual, 0 to below 1.
    pub(super) fn weight(&self) -> f64 {
        let queries = self.queries as f64;
        queries / (queries + PRIOR_QUERIES)
    }
}

/// Fewer queries have no usual evidence.
const FEWEST_FOR_MEDIAN: usize = 10;

/// How far one query's first candidate stands out of the next five, by the share of the query's IDF mass that they match:
/// 1 − mean coverage of the second to sixth / coverage of the first, in [0, 1]. `coverages` are in ranking order.
/// `None` where it says nothing: fewer than six candidates, or a first one that shares no word with the query.
pub fn focus(coverages: &[Option<f64>]) -> Option<f64> {
    let first = coverages.first().copied().flatten().filter(|&coverage| coverage > 0.0)?;
    let next = coverages.get(1..6)?;
    let mean = next.iter().map(|coverage| coverage.unwrap_or(0.0)).sum::<f64>() / next.len() as f64;
    Some((1.0 - mean / first).clamp(0.0, 1.0)).filter(|focus| focus.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn focus_by_hand() {
        let list = |values: [f64; 6]| values.map(Some);
        assert_eq!(focus(&list([0.8, 0.4, 0.4, 0.4, 0.4, 0.4])), Some(0.5));
        assert_eq!(focus(&list([0.5, 0.9, 0.9, 0.9, 0.9, 0.9])), Some(0.0), "never below 0");
        assert_eq!(focus(&list([0.0, 0.4, 0.4, 0.4, 0.4, 0.4])), None);
        assert_eq!(focus(&[Some(0.8), Some(0.1)]), None, "a short list says nothing");
        assert_eq!(focus(&[None; 6]), None);
    }

    #[test]
    fn few_queries_hardly_move_the_focus_and_many_make_it() {
        let profile = |queries| Profile::of(std::iter::repeat_n((Some(0.6), None), queries));
        assert!((Profile::default().focus() - PRIOR_FOCUS).abs() < 1e-12);
        assert!(profile(1).focus() < 0.3);
        assert!((profile(1000).focus() - 0.6).abs() < 0.01);
        assert_eq!(profile(3).usual_evidence, None);
    }

    #[test]
    fn unknown_figures_do_not_count() {
        let past = [(None, Some(1.5)), (Some(f64::NAN), Some(f64::NAN)), (Some(0.2), None)];
        let profile = Profile::of(past);
        assert_eq!((profile.queries, profile.mean_focus, profile.usual_evidence), (1, 0.2, None));
        let past = (0..11).map(|query| (None, Some(f64::from(query))));
        assert_eq!(Profile::of(past).usual_evidence, Some(5.0));
    }
}
