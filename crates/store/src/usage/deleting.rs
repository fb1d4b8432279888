//! Deleting what is old.

use crate::session::{Lock, Session, values};

/// Most rows that one recording deletes. It is far more than are added between two purges, and keeps a search from waiting for the end
/// of a long backlog.
pub(super) const AT_ONCE: i64 = 1000;

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
