//! Deleting what is old, and what somebody wants deleted.

use deadpool_postgres::Transaction;

use super::text::stored;
use super::transactions::{LABELS, patiently};
use crate::error::Result;
use crate::postgres::connection::Connections;
use crate::postgres::error::Failure;
use crate::usage::rules::{PATIENT, at_most};
use crate::usage_record::Purged;

/// Most rows that one recording deletes. It is far more than are added between two purges, and keeps a search from waiting for the end
/// of a long backlog.
const AT_ONCE: i64 = 1000;

/// The number of the last unjudged search that is not among the last ones.
const TOO_OLD: &str = "(SELECT number FROM usage_searches WHERE NOT judged ORDER BY number DESC LIMIT 1 OFFSET $1)";

pub(super) fn forget(connections: &Connections, id: &str) -> Result<bool> {
    patiently(connections, "", async |transaction| {
        Ok(transaction.execute("DELETE FROM usage_searches WHERE id = $1", &[&stored(id)]).await? > 0)
    })
}

/// Deletes unjudged searches except the last `retained`.
pub(super) fn purge(connections: &Connections, retained: usize) -> Result<u64> {
    let delete = format!("DELETE FROM usage_searches WHERE NOT judged AND number <= {TOO_OLD}");
    patiently(connections, "", async |transaction| Ok(transaction.execute(&delete, &[&at_most(retained)]).await?))
}

/// Deletes some of the unjudged searches except the last `retained`. Those that another server is deleting are left to it.
pub(super) async fn some_searches(transaction: &Transaction<'_>, retained: usize) -> Result<u64, Failure> {
    let delete = format!(
        "DELETE FROM usage_searches s USING (SELECT namespace, number FROM usage_searches WHERE NOT judged AND number <= {TOO_OLD} \
         ORDER BY number LIMIT $2 FOR UPDATE SKIP LOCKED) old WHERE s.namespace = old.namespace AND s.number = old.number"
    );
    Ok(transaction.execute(&delete, &[&at_most(retained), &AT_ONCE]).await?)
}

/// Deletes some of the rows of quality older than the last `retained` numbers, where `last` is the latest, and returns how many.
pub(super) async fn some_quality(transaction: &Transaction<'_>, last: i64, retained: usize) -> Result<u64, Failure> {
    let delete = "DELETE FROM usage_quality q USING (SELECT namespace, number FROM usage_quality WHERE number <= $1 \
         ORDER BY number LIMIT $2 FOR UPDATE SKIP LOCKED) old WHERE q.namespace = old.namespace AND q.number = old.number";
    Ok(transaction.execute(delete, &[&(last - at_most(retained)), &AT_ONCE]).await?)
}

pub(super) fn purge_telemetry(connections: &Connections, judged: bool) -> Result<Purged> {
    let purged = patiently(connections, LABELS, async |transaction| {
        let count = async |table: &str| -> Result<u64, Failure> {
            let row = transaction.query_one(&format!("SELECT count(*) FROM {table}"), &[]).await?;
            Ok(row.get::<_, i64>(0) as u64)
        };
        let judgements = if judged { count("usage_judgements").await? } else { 0 };
        let queries = transaction.execute("DELETE FROM usage_quality", &[]).await?;
        let searches = transaction.execute("DELETE FROM usage_searches WHERE NOT judged OR $1", &[&judged]).await?;
        let judged_kept = count("usage_searches WHERE judged").await?;
        transaction.execute("DELETE FROM usage_openings", &[]).await?;
        // What a model said stays with the judgements made from it.
        let ungraded =
            "DELETE FROM usage_grades g WHERE NOT EXISTS (SELECT 1 FROM usage_judgements WHERE grade = g.number)";
        transaction.execute(ungraded, &[]).await?;
        Ok(Purged { queries, searches, judgements, judged_kept })
    })?;
    // Deleted rows must leave the disk too, not only the tables. Whoever reads now may delay that to the next purge, and a user who does
    // not own the tables leaves it to the server.
    let _ = connections.wait(async {
        let connection = connections.connection().await?;
        let vacuum = "VACUUM (FULL) usage_searches, usage_judgements, usage_openings, usage_grades, usage_quality";
        connection.batch_execute(&format!("SET lock_timeout = {}", PATIENT.as_millis())).await?;
        let vacuumed = connection.batch_execute(vacuum).await;
        connection.batch_execute("RESET lock_timeout").await?;
        Ok(vacuumed?)
    });
    Ok(purged)
}
