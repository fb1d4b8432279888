//! Giving passages public identifiers that no other passage of their namespace has.

use std::collections::HashSet;

use deadpool_postgres::Transaction;

use super::super::error::Failure;
use crate::sqlite::{prefixes, same_identifier};

/// Returns the shortest free prefix of each full identifier, in order. `path` names the document of one for the error.
pub(super) async fn public_ids<'p>(
    transaction: &Transaction<'_>,
    namespace: &str,
    names: &[String],
    path: impl Fn(usize) -> &'p str,
) -> Result<Vec<String>, Failure> {
    let shortest: Vec<&str> = names.iter().filter_map(|name| prefixes(name).next()).collect();
    let mut taken = HashSet::new();
    take(transaction, namespace, &shortest, &mut taken).await?;
    // Hardly any two passages ever share twelve digits.
    let mut seen = HashSet::new();
    let longer: Vec<&str> = names
        .iter()
        .zip(&shortest)
        .filter(|(_, shortest)| taken.contains(**shortest) || !seen.insert(**shortest))
        .flat_map(|(name, _)| prefixes(name))
        .collect();
    if !longer.is_empty() {
        take(transaction, namespace, &longer, &mut taken).await?;
    }
    let mut ids = Vec::with_capacity(names.len());
    for (place, name) in names.iter().enumerate() {
        let free =
            prefixes(name).find(|prefix| !taken.contains(*prefix)).ok_or_else(|| same_identifier(path(place)))?;
        taken.insert(free.to_owned());
        ids.push(free.to_owned());
    }
    Ok(ids)
}

/// Adds the identifiers among `ids` that passages of the namespace have.
async fn take(
    transaction: &Transaction<'_>,
    namespace: &str,
    ids: &[&str],
    taken: &mut HashSet<String>,
) -> Result<(), Failure> {
    let select = "SELECT public_id FROM passages WHERE namespace = $1 AND public_id = ANY($2)";
    let statement = transaction.prepare_cached(select).await?;
    taken.extend(transaction.query(&statement, &[&namespace, &ids]).await?.iter().map(|row| row.get::<_, String>(0)));
    Ok(())
}
