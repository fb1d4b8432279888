//! Judgements of passages.

use std::collections::HashMap;

use super::database::by_search;
use crate::session::{Session, read, values};
use crate::usage_record::{Judgement, LoggedJudgement};

/// Adds a judgement of a search.
pub(super) async fn insert<E>(
    session: &dyn Session<E>,
    namespace: &str,
    search: i64,
    judgement: &LoggedJudgement,
) -> Result<(), E> {
    let LoggedJudgement { passage, relevant, in_pool, at_ms } = judgement;
    let insert = "INSERT INTO usage_judgements(namespace, search, passage, relevant, in_pool, at_ms) \
         VALUES ($1, $2, $3, $4, $5, $6)";
    session.execute(insert, values![namespace, search, passage, *relevant, *in_pool, *at_ms]).await.map(drop)
}

/// The judgements that count, by the number of their search: the last one of each passage, in the order in which these were given.
pub(super) async fn that_count<'n, E>(
    session: &dyn Session<E>,
    searches: impl Iterator<Item = (i64, &'n str)>,
) -> Result<HashMap<i64, Vec<Judgement>>, E> {
    let select = |namespaces, numbers| {
        format!(
            "SELECT search, passage, relevant, in_pool, at_ms FROM usage_judgements j WHERE namespace {namespaces} AND search {numbers} \
             AND number = (SELECT max(number) FROM usage_judgements k WHERE k.namespace = j.namespace AND k.search = j.search \
             AND k.passage = j.passage) ORDER BY number"
        )
    };
    by_search(session, searches, select, |row| Ok(read!(row => Judgement { passage, relevant, in_pool, at_ms }))).await
}
