//! Judgements of passages.

use std::collections::HashMap;

use super::database::by_search;
use crate::session::{Session, read, values};
use crate::usage_record::Judgement;

/// Adds a judgement of a search.
pub(super) async fn insert<E>(
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
pub(super) const COUNTS: &str = " AND number = (SELECT max(number) FROM usage_judgements k \
     WHERE k.namespace = j.namespace AND k.search = j.search AND k.passage = j.passage)";

/// The judgements of searches that also meet a condition, by the number of their search, in the order in which they were given.
pub(super) async fn of_searches<'n, E>(
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
