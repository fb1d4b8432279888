//! Making sure that the tables are still the ones that were opened.

use deadpool_postgres::GenericClient;
use tokio_postgres::error::SqlState;

use super::error::Failure;
use super::store::{PostgresStore, READ_INSTANCE};
use crate::error::{Result, StoreError};

impl PostgresStore {
    /// Returns `true` if another store is in the same database, whatever address each was opened with.
    ///
    /// # Errors
    /// The server cannot be reached or refuses.
    pub fn is_same_database(&self, other: &PostgresStore) -> Result<bool> {
        Ok(self.identity()? == other.identity()?)
    }

    /// The tables, the database and the server. A backup that was restored elsewhere has the same tables.
    fn identity(&self) -> Result<(String, u32, String)> {
        self.connections.ask(async |connection| {
            let select =
                "SELECT oid, pg_postmaster_start_time()::text FROM pg_database WHERE datname = current_database()";
            let row = connection.query_one(select, &[]).await?;
            Ok((self.instance.clone(), row.get(0), row.get(1)))
        })
    }

    /// Fails if the tables were deleted or replaced since they were opened.
    pub(super) async fn check_instance(&self, client: &impl GenericClient) -> Result<(), Failure> {
        let found: Result<Option<String>, Failure> = async {
            let statement = client.prepare_cached(READ_INSTANCE).await?;
            Ok(client.query_opt(&statement, &[]).await?.map(|row| row.get(0)))
        }
        .await;
        match found {
            Ok(Some(instance)) if instance == self.instance => Ok(()),
            Ok(Some(_)) => Err(self.replaced(false).into()),
            Ok(None) => Err(self.replaced(true).into()),
            Err(failure) if is_gone(&failure) => Err(self.replaced(true).into()),
            Err(failure) => Err(failure),
        }
    }

    /// Fails if the tables were deleted or replaced since they were opened.
    pub(super) fn check_opened(&self) -> Result<()> {
        self.connections.wait(async {
            match self.connections.asking(async |connection| self.check_instance(connection).await).await {
                Err(failure) if is_gone(&failure) => Err(self.replaced(true).into()),
                checked => checked,
            }
        })
    }

    fn replaced(&self, gone: bool) -> StoreError {
        let what = if gone { "it was deleted" } else { "it was replaced by another index" };
        StoreError::Replaced { path: self.address().into(), what, gone }
    }
}

/// Returns `true` if the tables or their database do not exist.
fn is_gone(failure: &Failure) -> bool {
    const GONE: [SqlState; 3] =
        [SqlState::UNDEFINED_TABLE, SqlState::UNDEFINED_DATABASE, SqlState::INVALID_SCHEMA_NAME];
    matches!(failure, Failure::Server(error) if error.code().is_some_and(|code| GONE.contains(code)))
}
