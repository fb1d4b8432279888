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
