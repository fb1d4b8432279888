//! Judged searches grouped by query, for the fitted prior and the guarantee.

use std::collections::{BTreeMap, HashMap, HashSet};
use tamis_cut::{Background, Pool};
use tamis_store::{JudgedSearch, RecordedCandidate, RecordedSearch};

/// The entry point of searches whose judgements were imported.
pub(crate) const IMPORTED_JUDGEMENTS: &str = "import";

/// A query: its last search, and the judgements from all of its searches.
pub(super) struct JudgedQuery<'a> {
    pub search: &'a RecordedSearch,
    /// True if a passage is relevant; the last judgement counts.
    said: HashMap<&'a str, bool>,
}

/// Returns the judged queries whose searches pass `comparable`, by the time of their last search, and the number of searches that
/// fail. Searches of one query count as one, so importing twice does not count twice.
pub(super) fn judged_queries(
    judged: &[JudgedSearch],
    comparable: impl Fn(&RecordedSearch) -> bool,
) -> (Vec<JudgedQuery<'_>>, usize) {
    let mut by_query: BTreeMap<[u8; 32], Vec<&JudgedSearch>> = BTreeMap::new();
    let mut others = 0;
    for judged in judged {
        if comparable(&judged.search) {
            by_query.entry(judged.search.query_hash).or_default().push(judged);
        } else {
            others += 1;
        }
    }
    let mut queries: Vec<JudgedQuery> =
        by_query.into_values().filter_map(|searches| JudgedQuery::of(&searches)).collect();
    queries.sort_by_key(|query| query.search.at_ms);
    (queries, others)
}

impl<'a> JudgedQuery<'a> {
    /// Creates a query from all of its judged searches, the earliest first.
    fn of(searches: &[&'a JudgedSearch]) -> Option<Self> {
        let search = &searches.last()?.search;
        let mut said: Vec<_> = searches.iter().flat_map(|judged| &judged.judgements).collect();
        said.sort_by_key(|judgement| judgement.at_ms);
        let said = said.into_iter().map(|judgement| (judgement.passage.as_str(), judgement.relevant)).collect();
        Some(JudgedQuery { search, said })
    }

    /// Returns the judgements of the first `count` candidates, best first. A judgement of any passage counts for its entry.
    pub fn relevant(&self, count: usize) -> impl Iterator<Item = Option<bool>> {
        said_of(self.search, &self.said).into_iter().take(count)
    }

    /// Returns the number of relevant entries that are not among the first `count` candidates.
    pub fn missed(&self, count: usize) -> usize {
        let said = said_of(self.search, &self.said);
        let later = said.iter().skip(count).filter(|&&relevant| relevant == Some(true)).count();
        let pool: HashSet<&str> = self.search.candidates.iter().map(|candidate| candidate.passage.as_str()).collect();
        let outside = self.said.iter().filter(|&(passage, &relevant)| relevant && !pool.contains(passage)).count();
        later + outside
    }
}

/// Returns the judgement of each counted candidate of a search. A relevant passage makes its entry relevant. An irrelevant one
/// says nothing about the other passages of its entry.
pub(crate) fn said_of(search: &RecordedSearch, said: &HashMap<&str, bool>) -> Vec<Option<bool>> {
    let counted = search.counted();
    let of = |candidate: &RecordedCandidate| said.get(candidate.passage.as_str()).copied();
    let mut relevant: Vec<Option<bool>> = counted.iter().map(of).collect();
    for candidate in &search.candidates[counted.len()..] {
        let entry = candidate.entry.and_then(|place| relevant.get_mut(place as usize));
        if let (Some(entry), Some(true)) = (entry, of(candidate)) {
            *entry = Some(true);
        }
    }
    relevant
}

/// Returns the normalized score of each candidate of a search, ending before the first without a score. The scores do not
/// increase. `None` if the best does not stand out from the background.
pub(super) fn normalized_scores(search: &RecordedSearch) -> Option<Vec<f64>> {
    let background = Background { mean: search.score_background?, deviation: 0.0, count: search.passages as usize };
    pool(search).ok()?.with_background(background).ok()?.normalized_scores()
}

/// Returns the scores that a cut read in a search. A log can hold them out of order; each is then lowered to the one before.
pub(super) fn pool(search: &RecordedSearch) -> Result<Pool, tamis_cut::PoolError> {
    let mut lowest = f64::INFINITY;
    let scores = search.counted().iter().map_while(|candidate| candidate.score);
    Pool::scores(scores.map(|score| {
        lowest = lowest.min(f64::from(score));
        lowest
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamis_store::{Judgement, ScoringKey, ScoringKind};

    /// Three entries; the fourth and fifth candidates are further passages of the first and the third.
    fn by_entries() -> RecordedSearch {
        let candidate = |(at, entry): (usize, u32)| RecordedCandidate {
            passage: format!("p{at}"),
            score: Some([0.9, 0.8, 0.7, 0.85, 0.6][at]),
            entry: Some(entry),
            ..RecordedCandidate::default()
        };
        RecordedSearch {
            scoring: ScoringKey::new(ScoringKind::Search, "convex 0.5").counting_entries(),
            candidates: [0, 1, 2, 0, 2].into_iter().enumerate().map(candidate).collect(),
            ..RecordedSearch::default()
        }
    }

    fn judged(said: &[(&str, bool)]) -> JudgedSearch {
        let judgement = |(at_ms, &(passage, relevant)): (i64, &(&str, bool))| Judgement {
            passage: passage.into(),
            relevant,
            in_pool: true,
            at_ms,
        };
        JudgedSearch { search: by_entries(), judgements: (0..).zip(said).map(judgement).collect() }
    }

    #[test]
    fn any_passage_makes_its_entry_relevant_and_none_makes_it_irrelevant() {
        let relevant = |said: &[(&str, bool)]| {
            let judged = judged(said);
            let query = JudgedQuery::of(&[&judged]).expect("a query");
            (query.relevant(3).collect::<Vec<_>>(), query.missed(3), query.missed(1))
        };
        assert_eq!(relevant(&[("p4", true)]), (vec![None, None, Some(true)], 0, 1));
        assert_eq!(relevant(&[("p3", false)]), (vec![None, None, None], 0, 0));
        assert_eq!(relevant(&[("p0", false), ("p3", true)]), (vec![Some(true), None, None], 0, 0));
        assert_eq!(relevant(&[("p0", true), ("p3", true), ("gone", true)]), (vec![Some(true), None, None], 1, 1));
    }

    #[test]
    fn the_cut_read_one_score_for_each_entry() {
        let search = by_entries();
        assert_eq!(pool(&search).expect("sorted").len(), 3);
        let flat = RecordedSearch { scoring: search.scoring.clone().counting_passages(), ..search };
        assert_eq!(pool(&flat).expect("sorted").len(), 5);
    }
}
