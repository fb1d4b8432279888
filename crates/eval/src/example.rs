//! A small made-up evaluation for tests: two collections, two methods, every kind of query.

use std::collections::BTreeMap;

use crate::data::{Collection, Decision, Method, PooledDocument, QueryKind, QueryPool};

/// A query whose pool has scores falling from 1, with the documents numbered `relevant` relevant and `missing`
/// more that were not found.
fn query(id: String, kind: QueryKind, length: usize, relevant: &[usize], missing: usize) -> QueryPool {
    let document = |at: usize| PooledDocument {
        id: format!("{id}-{at}"),
        score: 1.0 / (1.0 + 0.2 * at as f64 + if relevant.contains(&at) { 0.0 } else { 0.3 }),
        characters: 200 + 37 * (at % 5),
    };
    let mut documents: Vec<PooledDocument> = (0..length).map(document).collect();
    documents.sort_by(|a, b| b.score.total_cmp(&a.score));
    let judged = relevant.iter().map(|&at| (format!("{id}-{at}"), 1 + (at % 2) as i32));
    let missing = (0..missing).map(|at| (format!("{id}-missing-{at}"), 1));
    let judged: BTreeMap<String, i32> = judged.chain(missing).collect();
    QueryPool { id, kind, documents, judged, beyond: Vec::new() }
}

/// The collections; a third of the queries of the first have no answer, and the second has foreign ones.
pub(crate) fn collections() -> Vec<Collection> {
    [("first", 24), ("second", 15)]
        .into_iter()
        .enumerate()
        .map(|(which, (name, count))| {
            let queries: Vec<QueryPool> = (0..count)
                .map(|at| {
                    let kind = match (which, at % 3) {
                        (0, 2) => QueryKind::Unanswerable,
                        (1, 2) => QueryKind::Foreign,
                        _ => QueryKind::Judged,
                    };
                    let relevant: Vec<usize> = (0..1 + (at * 7 + which) % 5).map(|step| step + step * at % 3).collect();
                    let relevant = if kind == QueryKind::Judged { relevant } else { Vec::new() };
                    query(format!("q{at}"), kind, 12 + at % 4, &relevant, at % 2)
                })
                .collect();
            let methods = vec![cautious(&queries), Method { name: "generous".into(), ..by(&queries, |at| 4 + at % 3) }];
            Collection { name: name.into(), model: (which == 0).then(|| "words".into()), queries, methods }
        })
        .collect()
}

fn by(queries: &[QueryPool], keep: impl Fn(usize) -> usize) -> Method {
    let decisions = (0..queries.len()).map(|at| Decision::keep(keep(at))).collect();
    Method { name: String::new(), decisions }
}

/// A method with probabilities, evidence and depths, which keeps nothing of most queries that have no answer.
fn cautious(queries: &[QueryPool]) -> Method {
    let decide = |(at, query): (usize, &QueryPool)| {
        let answerable = query.kind == QueryKind::Judged;
        let level = if answerable != (at % 8 == 5) { 0.9 } else { 0.35 };
        let probabilities: Vec<f64> =
            (0..query.documents.len()).map(|rank| level / (1.0 + 0.4 * rank as f64)).collect();
        let keep = probabilities.iter().filter(|&&probability| probability > 0.4).count();
        Decision {
            keep_at_depth: vec![(30, keep.saturating_sub(at % 5 / 4)), (100, keep)],
            probabilities: Some(probabilities),
            ..Decision::keep(keep)
        }
    };
    Method { name: "cautious".into(), decisions: queries.iter().enumerate().map(decide).collect() }
}
