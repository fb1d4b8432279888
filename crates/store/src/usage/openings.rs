//! Shown passages that a caller opened after a search.

use rusqlite::{Connection, TransactionBehavior, params};

use super::read::{number, searches_where};
use super::rules::{LOOKED_THROUGH, at_most, period};
use super::schema;
use crate::query::{all, execute, one};
use crate::usage_record::{OpenedCount, OpenedSearch, Opening};

/// Credits the caller's latest search that showed one of the passages.
pub(super) fn record(connection: &mut Connection, opening: &Opening<'_>) -> rusqlite::Result<u64> {
    if opening.passages.is_empty() {
        return Ok(0);
    }
    // Most openings follow no search, and those write nothing.
    let wanted = serde_json::to_string(opening.passages).unwrap_or_default();
    let shown = one(
        connection,
        "SELECT s.number FROM (SELECT number, shown, candidate_ids FROM searches WHERE caller = ?1 AND at_ms >= ?2 \
         AND shown IS NOT NULL ORDER BY number DESC LIMIT ?4) s WHERE EXISTS (SELECT 1 FROM json_each(s.shown) p \
         JOIN json_each(s.candidate_ids) c ON c.key = p.value JOIN json_each(?3) w ON w.value = c.value) \
         ORDER BY s.number DESC LIMIT 1",
        params![opening.caller.bytes(), opening.since_ms, wanted, LOOKED_THROUGH],
        |row| row.get::<_, i64>(0),
    )?;
    let Some(search) = shown else { return Ok(0) };
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let added = execute(
        &transaction,
        "INSERT OR IGNORE INTO openings(search, passage, entry_point, at_ms) SELECT s.number, c.value, ?3, ?4 \
         FROM searches s, json_each(s.shown) p JOIN json_each(s.candidate_ids) c ON c.key = p.value \
         JOIN json_each(?2) w ON w.value = c.value WHERE s.number = ?1 ORDER BY p.key",
        params![search, wanted, opening.entry_point, opening.at_ms],
    )?;
    transaction.commit()?;
    Ok(added as u64)
}

/// Reduces what a search showed to these passages.
pub(super) fn narrow(connection: &mut Connection, id: &str, passages: &[&str]) -> rusqlite::Result<()> {
    let kept = serde_json::to_string(passages).unwrap_or_default();
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if let Some(search) = number(&transaction, id)? {
        execute(
            &transaction,
            "UPDATE searches SET shown = (SELECT json_group_array(p.value ORDER BY p.key) FROM json_each(shown) p \
             JOIN json_each(candidate_ids) c ON c.key = p.value JOIN json_each(?2) w ON w.value = c.value) \
             WHERE number = ?1 AND shown IS NOT NULL",
            params![search, kept],
        )?;
    }
    transaction.commit()
}

/// The last searches with an opened result, earliest first.
pub(super) fn read(connection: &Connection, limit: usize) -> rusqlite::Result<Vec<OpenedSearch>> {
    if !schema::has_labels(connection)? {
        return Ok(Vec::new());
    }
    let condition = "number IN (SELECT DISTINCT search FROM openings ORDER BY search DESC LIMIT ?1) ORDER BY number";
    let searches = searches_where(connection, condition, [at_most(limit)])?;
    let opened = searches.into_iter().map(|(number, search)| {
        let sql = "SELECT passage FROM openings WHERE search = ?1 ORDER BY number";
        Ok(OpenedSearch { search, opened: all(connection, sql, [number], |row| row.get(0))? })
    });
    opened.collect()
}

/// The number of results opened in a period.
pub(super) fn count(
    connection: &Connection,
    since_ms: Option<i64>,
    until_ms: Option<i64>,
    namespace: Option<&str>,
) -> rusqlite::Result<OpenedCount> {
    if !schema::has_labels(connection)? {
        return Ok(OpenedCount::default());
    }
    let [since, until, _] = period(since_ms, until_ms, 0);
    let sql = "SELECT count(DISTINCT o.search), count(*) FROM openings o JOIN searches s ON s.number = o.search \
               WHERE o.at_ms >= ?1 AND o.at_ms < ?2 AND (?3 IS NULL OR s.namespace = ?3)";
    let counted = one(connection, sql, params![since, until, namespace], |row| {
        Ok(OpenedCount { searches: crate::query::unsigned(row, 0)?, passages: crate::query::unsigned(row, 1)? })
    })?;
    Ok(counted.unwrap_or_default())
}
