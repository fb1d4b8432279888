//! What a log needs of the database that keeps it.

use std::collections::{BTreeSet, HashMap};

use crate::error::{Result, StoreError};
use crate::session::{Row, Session, all, values};

/// A database that keeps a log in the tables `usage_…`.
pub(crate) trait Database: Send + Sync {
    /// What a session fails with.
    type Error: From<StoreError>;

    /// Reads by single statements.
    fn ask<T: Default>(&self, work: impl AsyncFn(&dyn Session<Self::Error>) -> Result<T, Self::Error>) -> Result<T>;

    /// Reads by several statements that see the same.
    fn read<T: Default>(&self, work: impl AsyncFn(&dyn Session<Self::Error>) -> Result<T, Self::Error>) -> Result<T>;

    /// Writes all or nothing. `work` may run several times, and takes a lock before it writes.
    fn write<T>(
        &self,
        patience: Patience,
        work: impl AsyncFn(&dyn Session<Self::Error>) -> Result<T, Self::Error>,
    ) -> Result<T>;

    /// Makes feedback as safe as it can be, once it is written.
    fn settle(&self) {}

    /// Makes deleted rows leave the disk too. Whoever reads now may delay that to the next time.
    fn shrink(&self);
}

/// How a writer waits for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// At most [`IMPATIENT`](super::rules::IMPATIENT), as a search waits for it. What is written may be lost if the machine breaks down
    /// in the next moments.
    Short,
    /// [`PATIENT`](super::rules::PATIENT).
    Long,
}

/// Reads what belongs to searches, given by number and namespace: each row after the number of its search. The statement gets the
/// conditions on namespaces and numbers.
pub(super) async fn by_search<'n, T, E>(
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
