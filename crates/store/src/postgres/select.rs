//! Filters resolved against the database.

use tokio_postgres::Transaction;

use super::error::Failure;
use crate::error::StoreError;
use crate::filter::Filter;
use crate::record::PassageRef;

/// All passages that pass a filter, ascending.
pub(super) async fn select(_transaction: &Transaction<'_>, _filter: &Filter) -> Result<Vec<PassageRef>, Failure> {
    Err(StoreError::Invalid { what: "a filter".to_owned(), reason: "this store does not read filters yet".to_owned() }
        .into())
}
