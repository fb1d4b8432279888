//! The rows of a log: searches, judgements, openings and the quality of queries, added, read, handed to another log, and deleted.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::session::{Lock, Row, Session, Value, all, bind, first, read, values};
use crate::usage_record::{
    JudgedSearch, Judgement, LoggedOpening, LoggedSearch, QueryQuality, RecordedCandidate, RecordedSearch,
};

const SEARCH: &str = "id, candidate_ids, evidence, at_ms, entry_point, namespace, query_hash, query_text, mode, model, method, scoring, \
     kept, passages, score_background, similarity_mean, similarity_deviation, bm25_mean, caller, shown";

/// A search and the number that other tables know it by.
pub(crate) struct Found {
    pub number: i64,
    pub search: RecordedSearch,
}

impl Found {
    pub(crate) fn key(&self) -> (i64, &str) {
        (self.number, &self.search.namespace)
    }
}

/// Inserts the row of a search and returns its number; `None` if its identifier is taken.
pub(crate) async fn insert_search<E>(session: &dyn Session<E>, search: &RecordedSearch) -> Result<Option<i64>, E> {
    let insert = format!(
        "INSERT INTO usage_searches({SEARCH}, candidates) \
         SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21 \
         WHERE NOT EXISTS (SELECT 1 FROM usage_searches WHERE id = $1) RETURNING number"
    );
    let candidates: Vec<String> = search.candidates.iter().map(|candidate| candidate.passage.clone()).collect();
    let evidence = encode_candidates(&search.candidates);
    let mut values = values![&search.id, candidates, evidence.as_slice()].to_vec();
    values.extend(bind!(search =>
        at_ms, entry_point, namespace, query_hash, query_text, mode, model, method, scoring, kept, passages, score_background,
        similarity_mean, similarity_deviation, bm25_mean, caller, shown,
    ));
    values.push((search.candidates.len() as i64).into());
    first(session, &insert, &values, Row::next).await
}

/// Searches that a condition finds.
pub(crate) async fn searches<E>(session: &dyn Session<E>, condition: &str, values: &[Value]) -> Result<Vec<Found>, E> {
    let select = format!("SELECT number, {SEARCH} FROM usage_searches WHERE {condition}");
    all(session, &select, values, |row| {
        let (number, id) = (row.next()?, row.next::<String>()?);
        let search = search(row).map_err(|reason| format!("search {id}: {reason}"))?;
        Ok(Found { number, search: RecordedSearch { id, ..search } })
    })
    .await
}

/// The rest of a search.
fn search(row: &mut Row) -> Result<RecordedSearch, String> {
    let candidates =
        decode_candidates(row.next()?, &row.next::<Vec<u8>>()?).ok_or("the evidence does not match the candidates")?;
    Ok(read!(row => RecordedSearch {
        at_ms, entry_point, namespace, query_hash, query_text, mode, model, method, scoring, kept, passages, score_background,
        similarity_mean, similarity_deviation, bm25_mean, caller, shown,
        ..RecordedSearch { candidates, ..RecordedSearch::default() }
    }))
}

/// Judged searches that a condition finds, earliest first, with the judgements that count.
pub(crate) async fn judged_searches<E>(
    session: &dyn Session<E>,
    condition: &str,
    values: &[Value],
) -> Result<Vec<JudgedSearch>, E> {
    let found = searches(session, &format!("{condition} ORDER BY number"), values).await?;
    let mut judged = judgements(session, found.iter().map(Found::key), COUNTS).await?;
    let with_judgements =
        |found: Found| Some(JudgedSearch { search: found.search, judgements: judged.remove(&found.number)? });
    Ok(found.into_iter().filter_map(with_judgements).collect())
}

pub(crate) async fn insert_judgement<E>(
    session: &dyn Session<E>,
    namespace: &str,
    search: i64,
    judgement: &Judgement,
) -> Result<(), E> {
    let Judgement { passage, relevant, in_pool, at_ms } = judgement;
    let insert = "INSERT INTO usage_judgements(namespace, search, passage, relevant, in_pool, at_ms) \
         VALUES ($1, $2, $3, $4, $5, $6)";
    session.execute(insert, values![namespace, search, passage, *relevant, *in_pool, *at_ms]).await.map(drop)
}

/// The condition that a judgement counts: the last one of each passage does.
pub(crate) const COUNTS: &str = " AND number = (SELECT max(number) FROM usage_judgements k \
     WHERE k.namespace = j.namespace AND k.search = j.search AND k.passage = j.passage)";

/// The judgements of searches that also meet a condition, by the number of their search, in the order in which they were given.
pub(crate) async fn judgements<'n, E>(
    session: &dyn Session<E>,
    searches: impl Iterator<Item = (i64, &'n str)>,
    condition: &str,
) -> Result<HashMap<i64, Vec<Judgement>>, E> {
    let select = |namespaces, numbers| {
        format!(
            "SELECT search, passage, relevant, in_pool, at_ms FROM usage_judgements j \
             WHERE namespace {namespaces} AND search {numbers}{condition} ORDER BY number"
        )
    };
    by_search(session, searches, select, |row| Ok(read!(row => Judgement { passage, relevant, in_pool, at_ms }))).await
}

/// What a search showed: its namespace, its number, and the positions of these passages among its candidates, in the order shown.
pub(crate) struct Shown {
    pub(crate) namespace: String,
    pub(crate) number: i64,
    pub(crate) positions: Vec<i64>,
    pub(crate) passages: Vec<String>,
}

/// Selects searches for [`shown`].
pub(crate) const SHOWN: &str = "SELECT namespace, number, shown, candidate_ids FROM usage_searches";

/// Reads what a search showed of some passages.
pub(crate) fn shown(row: &mut Row, wanted: &[&str]) -> Result<Shown, String> {
    let (namespace, number) = (row.next()?, row.next()?);
    let (positions, candidates): (Vec<i64>, Vec<String>) = (row.next()?, row.next()?);
    let wanted: HashSet<&str> = wanted.iter().copied().collect();
    let passage = |position: i64| {
        let passage = candidates.get(usize::try_from(position).ok()?)?;
        wanted.contains(passage.as_str()).then(|| (position, passage.clone()))
    };
    let (positions, passages) = positions.into_iter().filter_map(passage).unzip();
    Ok(Shown { namespace, number, positions, passages })
}

/// Adds an opening, and returns 1 if it is new.
pub(crate) async fn insert_opening<E>(
    session: &dyn Session<E>,
    namespace: &str,
    search: i64,
    opening: &LoggedOpening,
) -> Result<u64, E> {
    let insert = "INSERT INTO usage_openings(namespace, search, passage, entry_point, at_ms) VALUES ($1, $2, $3, $4, $5) \
         ON CONFLICT (namespace, search, passage) DO NOTHING";
    let LoggedOpening { passage, entry_point, at_ms } = opening;
    session.execute(insert, values![namespace, search, passage, entry_point, *at_ms]).await
}

/// The openings of searches, by the number of their search, in the order of recording.
pub(crate) async fn openings<E>(
    session: &dyn Session<E>,
    searches: &[Found],
) -> Result<HashMap<i64, Vec<LoggedOpening>>, E> {
    let select = |namespaces, numbers| {
        format!(
            "SELECT search, passage, entry_point, at_ms FROM usage_openings WHERE namespace {namespaces} AND search {numbers} \
             ORDER BY number"
        )
    };
    by_search(session, searches.iter().map(Found::key), select, |row| {
        Ok(read!(row => LoggedOpening { passage, entry_point, at_ms }))
    })
    .await
}

/// A figure, unless it is infinite or not a number.
fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|value| value.is_finite())
}

/// The stages as JSON, in milliseconds, exact to the microsecond.
fn stages(milliseconds: &BTreeMap<String, f64>) -> String {
    let known = milliseconds.iter().filter(|(_, value)| value.is_finite());
    let rounded = known.map(|(stage, value)| (stage.clone(), ((value * 1000.0).round() / 1000.0).into()));
    serde_json::Value::Object(rounded.collect()).to_string()
}

const QUALITY: &str = "at_ms, entry_point, namespace, corpus, query_hash, query_text, search_id, model, mode, lexical_candidates, \
     semantic_candidates, candidates, kept, dropped, returned, top_k, threshold, threshold_method, gap_size, mean_kept_distance, \
     language_match_ratio, best_similarity, similarity_mean, total_ms, fallback_reason";

/// Records the quality of a query, and returns the number of the row.
pub(crate) async fn insert_quality<E>(session: &dyn Session<E>, quality: &QueryQuality) -> Result<Option<i64>, E> {
    let insert = format!(
        "INSERT INTO usage_quality({QUALITY}, milliseconds) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, \
         $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26) RETURNING number"
    );
    let known = QueryQuality {
        threshold: finite(quality.threshold),
        gap_size: finite(quality.gap_size),
        mean_kept_distance: finite(quality.mean_kept_distance),
        language_match_ratio: finite(quality.language_match_ratio),
        best_similarity: finite(quality.best_similarity),
        similarity_mean: finite(quality.similarity_mean),
        total_ms: finite(Some(quality.total_ms)).unwrap_or_default(),
        ..quality.clone()
    };
    let mut values = bind!(known =>
        at_ms, entry_point, namespace, corpus, query_hash, query_text, search_id, model, mode, lexical_candidates,
        semantic_candidates, candidates, kept, dropped, returned, top_k, threshold, threshold_method, gap_size, mean_kept_distance,
        language_match_ratio, best_similarity, similarity_mean, total_ms, fallback_reason,
    )
    .to_vec();
    values.push(stages(&quality.milliseconds).as_str().into());
    first(session, &insert, &values, Row::next).await
}

/// The rows that a condition finds, each with its number.
pub(crate) async fn quality<E>(
    session: &dyn Session<E>,
    condition: &str,
    values: &[Value],
) -> Result<Vec<(i64, QueryQuality)>, E> {
    let select = format!("SELECT number, CAST(milliseconds AS text), {QUALITY} FROM usage_quality WHERE {condition}");
    all(session, &select, values, |row| {
        let number = row.next()?;
        let milliseconds = serde_json::from_str(&row.next::<String>()?).map_err(|error| error.to_string())?;
        let quality = read!(row => QueryQuality {
            at_ms, entry_point, namespace, corpus, query_hash, query_text, search_id, model, mode, lexical_candidates,
            semantic_candidates, candidates, kept, dropped, returned, top_k, threshold, threshold_method, gap_size,
            mean_kept_distance, language_match_ratio, best_similarity, similarity_mean, total_ms, fallback_reason,
            ..QueryQuality { milliseconds, ..QueryQuality::default() }
        });
        Ok((number, quality))
    })
    .await
}

/// Reads what belongs to searches, given by number and namespace: each row after the number of its search. The statement gets the
/// conditions on namespaces and numbers.
async fn by_search<'n, T, E>(
    session: &dyn Session<E>,
    searches: impl Iterator<Item = (i64, &'n str)>,
    statement: impl FnOnce(String, String) -> String,
    read: impl Fn(&mut Row) -> Result<T, String>,
) -> Result<HashMap<i64, Vec<T>>, E> {
    let (numbers, namespaces): (Vec<i64>, BTreeSet<&str>) = searches.unzip();
    let mut found: HashMap<i64, Vec<T>> = HashMap::new();
    if numbers.is_empty() {
        return Ok(found);
    }
    let namespaces: Vec<String> = namespaces.into_iter().map(str::to_owned).collect();
    let statement = statement(session.one_of(1), session.one_of(2));
    let rows = all(session, &statement, values![namespaces, numbers], |row| Ok((row.next()?, read(row)?))).await?;
    for (search, one) in rows {
        found.entry(search).or_default().push(one);
    }
    Ok(found)
}

/// The searches that a condition finds, with all that was recorded of them.
pub(crate) async fn logged<E>(
    session: &dyn Session<E>,
    condition: &str,
    values: &[Value],
) -> Result<Vec<LoggedSearch>, E> {
    let found = searches(session, condition, values).await?;
    let mut judged = judgements(session, found.iter().map(Found::key), "").await?;
    let mut opened = openings(session, &found).await?;
    let whole = found.into_iter().map(|Found { number, search }| LoggedSearch {
        number,
        judgements: judged.remove(&number).unwrap_or_default(),
        openings: opened.remove(&number).unwrap_or_default(),
        search,
    });
    Ok(whole.collect())
}

pub(crate) async fn find_logged<E>(session: &dyn Session<E>, ids: &[&str]) -> Result<HashMap<String, LoggedSearch>, E> {
    let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
    let found = logged(session, &format!("id {}", session.one_of(1)), values![ids]).await?;
    Ok(found.into_iter().map(|logged| (logged.search.id.clone(), logged)).collect())
}

/// Adds searches, and what is missing of those that are known.
pub(crate) async fn add_missing<E>(
    session: &dyn Session<E>,
    searches: &[LoggedSearch],
    known: &HashMap<String, LoggedSearch>,
) -> Result<u64, E> {
    let mut changed = 0;
    let mut added = HashSet::new();
    for logged in searches.iter().filter(|logged| added.insert(logged.search.id.as_str())) {
        let there = known.get(logged.search.id.as_str());
        let number = match there {
            Some(there) => Some(there.number),
            None => insert_search(session, &logged.search).await?,
        };
        let Some(number) = number else { continue };
        let namespace = there.map_or(&logged.search.namespace, |there| &there.search.namespace);
        let judged: HashSet<&Judgement> = there.iter().flat_map(|there| &there.judgements).collect();
        let mut is_changed = there.is_none();
        for judgement in logged.judgements.iter().filter(|judgement| !judged.contains(judgement)) {
            insert_judgement(session, namespace, number, judgement).await?;
            let update = "UPDATE usage_searches SET judged = true WHERE namespace = $1 AND number = $2";
            session.execute(update, values![namespace, number]).await?;
            is_changed = true;
        }
        for opening in &logged.openings {
            is_changed |= insert_opening(session, namespace, number, opening).await? > 0;
        }
        changed += u64::from(is_changed);
    }
    Ok(changed)
}

/// Most rows that one recording deletes. It is far more than are added between two purges, and keeps a search from waiting for the end
/// of a long backlog.
pub(crate) const AT_ONCE: i64 = 1000;

/// Deletes `at_most` of the unjudged searches except the last `retained`, the oldest first.
pub(crate) async fn old_searches<E>(session: &dyn Session<E>, retained: i64, at_most: i64) -> Result<u64, E> {
    // What is judged meanwhile stays.
    let delete = "DELETE FROM usage_searches WHERE NOT judged AND number IN (SELECT number FROM usage_searches WHERE NOT judged \
         AND number <= (SELECT number FROM usage_searches WHERE NOT judged ORDER BY number DESC LIMIT 1 OFFSET $1) \
         ORDER BY number LIMIT $2)";
    session.lock(Lock::Rows).await?;
    session.execute(delete, values![retained, at_most]).await
}

/// Deletes some of the rows of quality up to a number, the oldest first.
pub(crate) async fn old_quality<E>(session: &dyn Session<E>, last: i64) -> Result<u64, E> {
    let delete = "DELETE FROM usage_quality WHERE number IN \
         (SELECT number FROM usage_quality WHERE number <= $1 ORDER BY number LIMIT $2)";
    session.lock(Lock::Rows).await?;
    session.execute(delete, values![last, AT_ONCE]).await
}

/// Number of columns, in the order of [`blob_columns`].
const BLOB_COLUMNS: usize = 8;

fn blob_columns(candidate: &RecordedCandidate) -> [Option<f32>; BLOB_COLUMNS] {
    let RecordedCandidate { similarity, bm25, coverage, score, probability, entry, required, exact, .. } = *candidate;
    // A place is far below the integers that single precision leaves out.
    let (entry, exact) = (entry.map(|place| place as f32), exact.map(|exact| f32::from(u8::from(exact))));
    [similarity, bm25, coverage, score, probability, entry, required, exact]
}

/// The candidates' evidence as one blob: a byte whose bits name the columns that follow, then each column as little-endian
/// f32, one value per candidate. An unknown value is NaN; a column without any known value is omitted.
fn encode_candidates(candidates: &[RecordedCandidate]) -> Vec<u8> {
    let known = |column: usize| candidates.iter().any(|candidate| blob_columns(candidate)[column].is_some());
    let present: Vec<usize> = (0..BLOB_COLUMNS).filter(|&column| known(column)).collect();
    let mut blob = Vec::with_capacity(1 + present.len() * candidates.len() * 4);
    blob.push(present.iter().fold(0u8, |mask, column| mask | 1 << column));
    for &column in &present {
        for candidate in candidates {
            blob.extend_from_slice(&blob_columns(candidate)[column].unwrap_or(f32::NAN).to_le_bytes());
        }
    }
    blob
}

/// The candidates with these identifiers; `None` if the blob does not fit them.
fn decode_candidates(passages: Vec<String>, blob: &[u8]) -> Option<Vec<RecordedCandidate>> {
    let (&mask, bytes) = blob.split_first()?;
    let count = passages.len();
    let present = mask.count_ones() as usize;
    if bytes.len() != present * count * 4 {
        return None;
    }
    let mut values = bytes.chunks_exact(4).map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    let mut candidates: Vec<RecordedCandidate> =
        passages.into_iter().map(|passage| RecordedCandidate { passage, ..RecordedCandidate::default() }).collect();
    for column in (0..BLOB_COLUMNS).filter(|column| mask & 1 << column != 0) {
        for candidate in &mut candidates {
            let value = values.next().filter(|value| !value.is_nan());
            match column {
                0 => candidate.similarity = value,
                1 => candidate.bm25 = value,
                2 => candidate.coverage = value,
                3 => candidate.score = value,
                4 => candidate.probability = value,
                5 => candidate.entry = value.map(|place| place as u32),
                6 => candidate.required = value,
                _ => candidate.exact = value.map(|exact| exact > 0.0),
            }
        }
    }
    Some(candidates)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn candidate() -> impl Strategy<Value = RecordedCandidate> {
        let figure = || prop::option::of(-1e6f32..1e6);
        let entry = prop::option::of(0u32..4000);
        let exact = prop::option::of(any::<bool>());
        let figures = [(); 6].map(|()| figure());
        ("[0-9a-f]{12}", figures, entry, exact).prop_map(|(passage, figures, entry, exact)| {
            let [similarity, bm25, coverage, score, probability, required] = figures;
            RecordedCandidate { passage, similarity, bm25, coverage, score, probability, entry, required, exact }
        })
    }

    fn passages(candidates: &[RecordedCandidate]) -> Vec<String> {
        candidates.iter().map(|candidate| candidate.passage.clone()).collect()
    }

    proptest! {
        #[test]
        fn what_is_encoded_comes_back(candidates in prop::collection::vec(candidate(), 0..40)) {
            let blob = encode_candidates(&candidates);
            prop_assert!(blob.len() <= 1 + 32 * candidates.len());
            prop_assert_eq!(decode_candidates(passages(&candidates), &blob), Some(candidates));
        }

        #[test]
        fn any_bytes_are_read_without_harm(blob in prop::collection::vec(any::<u8>(), 0..90), count in 0usize..6) {
            let candidates = decode_candidates(vec!["0123456789ab".to_owned(); count], &blob);
            prop_assert!(candidates.is_none_or(|candidates| candidates.len() == count));
        }
    }

    #[test]
    fn unknown_columns_take_no_space() {
        let alone = RecordedCandidate { passage: "a".into(), bm25: Some(2.5), ..RecordedCandidate::default() };
        assert_eq!(encode_candidates(&[alone.clone(), alone]).len(), 1 + 2 * 4);
        assert_eq!(encode_candidates(&[]), [0]);
    }
}
