//! Reading judgements back.

use std::collections::HashMap;

use tokio_postgres::Transaction;

use super::text::{original, stored};
use super::transactions::rows;
use crate::error::Result;
use crate::postgres::connection::Connections;
use crate::postgres::error::Failure;
use crate::usage_record::{Judgement, LabelVersion};

/// The last judgement of each passage, in the order in which these were given. Those with a grade, which a model
/// gave, are kept and not read.
const SELECT: &str = "SELECT search, passage, relevant, in_pool, at_ms FROM \
     (SELECT DISTINCT ON (search, passage) number, search, passage, relevant, in_pool, at_ms FROM usage_judgements \
     WHERE namespace = ANY($1) AND search = ANY($2) AND grade IS NULL ORDER BY search, passage, number DESC) j \
     ORDER BY number";

/// The judgements that count, by the number of their search.
pub(super) async fn of_searches(
    transaction: &Transaction<'_>,
    searches: impl Iterator<Item = (i64, String)>,
) -> Result<HashMap<i64, Vec<Judgement>>, Failure> {
    let (numbers, mut namespaces): (Vec<i64>, Vec<String>) = searches.unzip();
    namespaces.sort_unstable();
    namespaces.dedup();
    let mut judged: HashMap<i64, Vec<Judgement>> = HashMap::new();
    for row in transaction.query(SELECT, &[&namespaces, &numbers]).await? {
        judged.entry(row.get(0)).or_default().push(Judgement {
            passage: original(row.get(1)),
            relevant: row.get(2),
            in_pool: row.get(3),
            at_ms: row.get(4),
        });
    }
    Ok(judged)
}

pub(super) fn of_search(connections: &Connections, id: &str) -> Result<Vec<Judgement>> {
    connections.read(async |transaction| {
        let select = "SELECT number, namespace FROM usage_searches WHERE id = $1";
        let Some(row) = transaction.query_opt(select, &[&stored(id)]).await? else { return Ok(Vec::new()) };
        let judged = of_searches(transaction, std::iter::once((row.get(0), row.get(1)))).await?;
        Ok(judged.into_values().next().unwrap_or_default())
    })
}

pub(super) fn version(connections: &Connections) -> Result<LabelVersion> {
    let select = "SELECT j.count, j.last, o.count, o.last FROM \
         (SELECT count(*), coalesce(max(number), 0) AS last FROM usage_judgements) j, \
         (SELECT count(*), coalesce(max(number), 0) AS last FROM usage_openings) o";
    let rows = rows(connections, select, &[])?;
    let version = rows
        .first()
        .map(|row| LabelVersion { judgements: (row.get(0), row.get(1)), openings: (row.get(2), row.get(3)) });
    Ok(version.unwrap_or_default())
}
