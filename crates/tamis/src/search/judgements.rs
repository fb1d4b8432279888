//! Labels of past searches, by query and by passage.
//!
//! What people said of the passages of one question, every later search of the same question obeys. A question is the same where
//! its words and the namespaces searched are. Its model, filters and settings may differ, since people judge passages and not scores.

use std::collections::{BTreeMap, HashMap, HashSet};

use tamis_cut::{Background, Pool};
use tamis_store::{JudgedSearch, RecordedCandidate, RecordedSearch, StoredPassage};

use super::context::{Context, Scope};
use super::request::SearchRequest;

/// The setting that names the reranker in the key of a search's scores.
pub(crate) const RERANKER: &str = "judge";

/// The name of this evidence.
pub(crate) const JUDGEMENTS: &str = "judgements";

/// The entry point of searches whose judgements were imported.
pub(crate) const IMPORTED_JUDGEMENTS: &str = "import";

/// A query: its last search that no judgement had moved, and the labels from all of its searches.
pub(crate) struct JudgedQuery<'a> {
    pub search: &'a RecordedSearch,
    /// True if that search obeyed earlier judgements all the same, since all of them did.
    pub is_moved: bool,
    /// True if a passage is relevant. The last judgement counts.
    said: HashMap<&'a str, bool>,
}

/// Returns the judged queries whose searches pass `comparable`, by the time of their last search, and the number of searches that
/// fail. Searches of one query count as one, so importing twice does not count twice.
pub(crate) fn judged_queries(
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
    let mut first: HashMap<[u8; 32], i64> = HashMap::new();
    for judged in judged {
        let times = judged.judgements.iter().map(|judgement| judgement.at_ms);
        let earliest = first.entry(judged.search.query_hash).or_insert(i64::MAX);
        *earliest = times.fold(*earliest, i64::min);
    }
    let queries =
        by_query.iter().filter_map(|(hash, searches)| JudgedQuery::from_searches(searches, *first.get(hash)?));
    let mut queries: Vec<JudgedQuery> = queries.collect();
    queries.sort_by_key(|query| query.search.at_ms);
    (queries, others)
}

impl<'a> JudgedQuery<'a> {
    /// Creates a query from all of its judged searches, the earliest first. `first_ms` is the time of its first judgement. A later
    /// answer obeys that, so it says nothing about other queries; an import never does.
    fn from_searches(searches: &[&'a JudgedSearch], first_ms: i64) -> Option<Self> {
        let unmoved = |judged: &&&JudgedSearch| {
            judged.search.at_ms <= first_ms || judged.search.entry_point == IMPORTED_JUDGEMENTS
        };
        let found = searches.iter().rev().find(unmoved);
        let search = &found.or(searches.first())?.search;
        let mut said: Vec<_> = searches.iter().flat_map(|judged| &judged.judgements).collect();
        said.sort_by_key(|judgement| judgement.at_ms);
        let said = said.into_iter().map(|judgement| (judgement.passage.as_str(), judgement.relevant)).collect();
        Some(JudgedQuery { search, is_moved: found.is_none(), said })
    }

    /// Returns the labels of the first `count` candidates, best first. A label of any passage counts for its entry.
    pub fn relevant(&self, count: usize) -> impl Iterator<Item = Option<bool>> {
        entry_labels(self.search, &self.said).into_iter().take(count)
    }

    /// Returns the number of relevant entries that are not among the first `count` candidates.
    pub fn missed(&self, count: usize) -> usize {
        let said = entry_labels(self.search, &self.said);
        let later = said.iter().skip(count).filter(|&&relevant| relevant == Some(true)).count();
        let pool: HashSet<&str> = self.search.candidates.iter().map(|candidate| candidate.passage.as_str()).collect();
        let outside = self.said.iter().filter(|&(passage, &relevant)| relevant && !pool.contains(passage)).count();
        later + outside
    }
}

/// Returns the judgement of each counted candidate of a search. A relevant passage makes its entry relevant. An irrelevant one
/// says nothing about the other passages of its entry.
pub(crate) fn entry_labels(search: &RecordedSearch, said: &HashMap<&str, bool>) -> Vec<Option<bool>> {
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
pub(crate) fn normalized_scores(search: &RecordedSearch) -> Option<Vec<f64>> {
    let background = Background { mean: search.score_background?, deviation: 0.0, count: search.passages as usize };
    recorded_pool(search).ok()?.with_background(background).ok()?.normalized_scores()
}

/// Returns the scores that a cut read in a search. A log can hold them out of order; each is then lowered to the one before.
pub(crate) fn recorded_pool(search: &RecordedSearch) -> Result<Pool, tamis_cut::PoolError> {
    let mut lowest = f64::INFINITY;
    let scores = search.counted().iter().map_while(|candidate| candidate.score);
    Pool::scores(scores.map(|score| {
        lowest = lowest.min(f64::from(score));
        lowest
    }))
}

/// Returns `true` if labels move the cut.
pub(crate) fn learns(context: &Context<'_>) -> bool {
    context.index.config.telemetry.record && context.index.config.search.learn
}

/// The name of this evidence.
pub(crate) const JUDGED: &str = "judged";

/// The last judgement of a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub relevant: bool,
    /// True if the passage stood for its entry, so that the entry was judged as a whole.
    pub of_entry: bool,
}

/// The last judgement of each passage of a question, by the passage's public identifier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct JudgedPassages(HashMap<String, Said>);

impl JudgedPassages {
    /// Returns the judgements of the searches of one question.
    fn from_searches(searches: &[JudgedSearch]) -> Self {
        let mut all: Vec<_> =
            searches.iter().flat_map(|judged| judged.judgements.iter().map(move |one| (&judged.search, one))).collect();
        all.sort_by_key(|(_, judgement)| judgement.at_ms);
        let said = all.into_iter().map(|(search, judgement)| {
            let said = Said { relevant: judgement.relevant, of_entry: stood_for_entry(search, &judgement.passage) };
            (judgement.passage.clone(), said)
        });
        JudgedPassages(said.collect())
    }

    /// Returns `true` if nothing was said.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns what was said of a passage.
    pub fn verdict_on(&self, passage: &StoredPassage) -> Option<Said> {
        self.0.get(&passage.id).copied()
    }
}

/// Returns `true` if a passage stood for its entry in a search, as far as the record tells.
fn stood_for_entry(search: &RecordedSearch, passage: &str) -> bool {
    let mut candidates = (0..).zip(&search.candidates);
    candidates
        .any(|(place, candidate)| candidate.passage == passage && candidate.entry.is_none_or(|entry| entry == place))
}

impl SearchRequest {
    /// Returns `true` for searches whose judgements are imported. Imported again, they rest on the same answers as the first time.
    pub(crate) fn imports_judgements(&self) -> bool {
        self.asker.entry_point.as_deref() == Some(IMPORTED_JUDGEMENTS)
    }
}

/// Returns what people said of the passages of a question. Nothing was said if the log cannot be read or nothing is recorded.
pub(crate) fn judged_passages(
    context: &Context<'_>,
    request: &SearchRequest,
    scope: &Scope,
    text: &str,
) -> JudgedPassages {
    if request.memory || request.imports_judgements() || !context.index.config.telemetry.record {
        return JudgedPassages::default();
    }
    let namespace = scope.label(&context.index.namespace);
    let log = context.index.usage.log();
    let searches = log.ok().and_then(|log| log.judged_as(&question_hash(text), &namespace).ok());
    JudgedPassages::from_searches(&searches.unwrap_or_default())
}

/// The hash of a question's words. Case, white space and the mark at its end make no other question.
pub(crate) fn question_hash(text: &str) -> [u8; 32] {
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || "?!.".contains(c)).to_lowercase();
    *blake3::hash(text.split_whitespace().collect::<Vec<_>>().join(" ").as_bytes()).as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamis_store::{Judgement, ScoringKey, ScoringKind};

    #[test]
    fn a_question_is_the_same_however_it_is_written() {
        let hash = question_hash("where are my winter wheels");
        for same in ["Where are my winter wheels?", " where  are my WINTER wheels ", "where are my winter\nwheels ?!"] {
            assert_eq!(question_hash(same), hash, "{same}");
        }
        assert_ne!(question_hash("where is my winter wheel"), hash);
    }

    fn search(query: u8) -> RecordedSearch {
        let candidate = |at: u32| RecordedCandidate { passage: format!("p{at}"), ..RecordedCandidate::default() };
        let (at_ms, candidates) = (i64::from(query), (0..8).map(candidate).collect());
        RecordedSearch { query_hash: [query; 32], at_ms, candidates, ..RecordedSearch::default() }
    }

    fn judged(search: RecordedSearch, said: &[(&str, bool)]) -> JudgedSearch {
        let judgement = |(at_ms, &(passage, relevant)): (i64, &(&str, bool))| {
            let passage = passage.into();
            Judgement { passage, relevant, in_pool: true, at_ms }
        };
        JudgedSearch { search, judgements: (0..).zip(said).map(judgement).collect() }
    }

    #[test]
    fn an_answer_that_obeys_earlier_judgements_says_nothing_about_other_queries() {
        let at = |at_ms: i64, entry_point: &str| {
            let mut judged = judged(search(1), &[("p0", true)]);
            (judged.search.at_ms, judged.judgements[0].at_ms) = (at_ms, at_ms + 5);
            judged.search.entry_point = entry_point.into();
            judged
        };
        let taken = |log: &[JudgedSearch]| judged_queries(log, |_| true).0[0].search.at_ms;
        assert_eq!(taken(&[at(10, "cli")]), 10);
        assert_eq!(taken(&[at(10, "cli"), at(12, "cli"), at(20, "cli")]), 12, "nobody had judged by then");
        assert_eq!(taken(&[at(10, "cli"), at(20, IMPORTED_JUDGEMENTS), at(30, "mcp")]), 20);
        // Judgements under other settings count too.
        let log = [at(10, "other"), at(20, "cli"), at(30, "cli")];
        let (queries, others) = judged_queries(&log, |search| search.entry_point == "cli");
        assert_eq!((queries[0].search.at_ms, others), (20, 1), "the earliest where all were moved");
    }

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

    #[test]
    fn any_passage_makes_its_entry_relevant_and_none_makes_it_irrelevant() {
        let relevant = |said: &[(&str, bool)]| {
            let judged = judged(by_entries(), said);
            let query = JudgedQuery::from_searches(&[&judged], 0).expect("a query");
            (query.relevant(3).collect::<Vec<_>>(), query.missed(3), query.missed(1))
        };
        assert_eq!(relevant(&[("p4", true)]), (vec![None, None, Some(true)], 0, 1));
        assert_eq!(relevant(&[("p3", false)]), (vec![None, None, None], 0, 0));
        assert_eq!(relevant(&[("p0", false), ("p3", true)]), (vec![Some(true), None, None], 0, 0));
        assert_eq!(relevant(&[("p0", true), ("p3", true), ("gone", true)]), (vec![Some(true), None, None], 1, 1));
    }

    #[test]
    fn the_cut_read_one_score_for_each_entry() {
        let mut search = by_entries();
        assert_eq!(recorded_pool(&search).expect("sorted").len(), 3);
        search.scoring.settings.clear();
        assert_eq!(recorded_pool(&search).expect("sorted").len(), 5);
    }
}
