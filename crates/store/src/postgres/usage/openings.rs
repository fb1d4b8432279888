//! Shown passages that a caller opened after a search.

use super::searches::{self, Found};
use super::text::{all_stored, original, stored};
use super::transactions::{LABELS, impatiently, rows};
use crate::error::Result;
use crate::postgres::connection::Connections;
use crate::usage::rules::{LOOKED_THROUGH, at_most, period};
use crate::usage_record::{OpenedCount, OpenedSearch, Opening};

/// Credits the caller's latest search that showed one of the passages.
pub(super) fn record(connections: &Connections, opening: &Opening<'_>) -> Result<u64> {
    if opening.passages.is_empty() {
        return Ok(0);
    }
    let select = "SELECT s.namespace, s.number FROM (SELECT namespace, number, shown, candidate_ids FROM usage_searches \
         WHERE caller = $1 AND at_ms >= $2 AND shown IS NOT NULL ORDER BY number DESC LIMIT $4) s \
         WHERE EXISTS (SELECT 1 FROM unnest(s.shown) AS position WHERE s.candidate_ids[position + 1] = ANY($3)) \
         ORDER BY s.number DESC LIMIT 1";
    // The search may be deleted at the same time. It is then waited for, and nothing is added.
    let insert = "INSERT INTO usage_openings(namespace, search, passage, entry_point, at_ms) \
         SELECT s.namespace, s.number, s.candidate_ids[p.position + 1], $4, $5 \
         FROM (SELECT namespace, number, shown, candidate_ids FROM usage_searches WHERE namespace = $1 AND number = $2 FOR KEY SHARE) s, \
         unnest(s.shown) WITH ORDINALITY AS p(position, place) WHERE s.candidate_ids[p.position + 1] = ANY($3) ORDER BY p.place \
         ON CONFLICT (namespace, search, passage) DO NOTHING";
    let wanted = all_stored(opening.passages.iter().copied());
    impatiently(connections, async |transaction| {
        let select = transaction.prepare_cached(select).await?;
        let values: [&(dyn tokio_postgres::types::ToSql + Sync); 4] =
            [&opening.caller.bytes(), &opening.since_ms, &wanted, &LOOKED_THROUGH];
        // Most openings follow no search, and those write nothing.
        let Some(search) = transaction.query_opt(&select, &values).await? else { return Ok(0) };
        transaction.batch_execute(LABELS).await?;
        let insert = transaction.prepare_cached(insert).await?;
        let (namespace, number): (String, i64) = (search.get(0), search.get(1));
        let added = transaction
            .execute(&insert, &[&namespace, &number, &wanted, &stored(opening.entry_point), &opening.at_ms])
            .await?;
        Ok(added)
    })
}

/// Reduces what a search showed to these passages.
pub(super) fn narrow(connections: &Connections, id: &str, passages: &[&str]) -> Result<()> {
    let update = "UPDATE usage_searches SET shown = ARRAY(SELECT p.position FROM unnest(shown) WITH ORDINALITY \
         AS p(position, place) JOIN unnest($2::text[]) AS kept ON kept = candidate_ids[p.position + 1] ORDER BY p.place) \
         WHERE id = $1 AND shown IS NOT NULL";
    impatiently(connections, async |transaction| {
        let update = transaction.prepare_cached(update).await?;
        transaction.execute(&update, &[&stored(id), &all_stored(passages.iter().copied())]).await?;
        Ok(())
    })
}

/// The last searches with an opened result, earliest first.
pub(super) fn list(connections: &Connections, limit: usize) -> Result<Vec<OpenedSearch>> {
    let condition = "(namespace, number) IN (SELECT DISTINCT namespace, search FROM usage_openings ORDER BY search DESC LIMIT $1) \
         ORDER BY number";
    let select = "SELECT passage FROM usage_openings WHERE namespace = $1 AND search = $2 ORDER BY number";
    connections.read(async |transaction| {
        let found = searches::found(connections, transaction, condition, &[&at_most(limit)]).await?;
        let select = transaction.prepare(select).await?;
        let mut opened = Vec::with_capacity(found.len());
        for Found { number, search } in found {
            let rows = transaction.query(&select, &[&stored(&search.namespace), &number]).await?;
            opened.push(OpenedSearch { search, opened: rows.iter().map(|row| original(row.get(0))).collect() });
        }
        Ok(opened)
    })
}

/// The number of results opened in a period.
pub(super) fn count(
    connections: &Connections,
    since_ms: Option<i64>,
    until_ms: Option<i64>,
    namespace: Option<&str>,
) -> Result<OpenedCount> {
    let [since, until, _] = period(since_ms, until_ms, 0);
    // An opening has the namespace of its search.
    let select = "SELECT count(DISTINCT search), count(*) FROM usage_openings WHERE at_ms >= $1 AND at_ms < $2 \
         AND ($3::text IS NULL OR namespace = $3)";
    let rows = rows(connections, select, &[&since, &until, &namespace.map(stored)])?;
    let counted = rows
        .first()
        .map(|row| OpenedCount { searches: row.get::<_, i64>(0) as u64, passages: row.get::<_, i64>(1) as u64 });
    Ok(counted.unwrap_or_default())
}
