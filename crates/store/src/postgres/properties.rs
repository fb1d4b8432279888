//! Settings of the index as a whole, and calibrated thresholds.

use tokio_postgres::Row;

use super::store::PostgresStore;
use crate::calibration::Calibration;
use crate::error::Result;
use crate::store::Properties;

const PUT_CALIBRATION: &str = "INSERT INTO threshold_calibration \
    (language, threshold, sample_size, provider, model, calibrated_at) VALUES ($1, $2, $3, $4, $5, $6) \
    ON CONFLICT (language, provider, model) DO UPDATE SET threshold = excluded.threshold, \
    sample_size = excluded.sample_size, calibrated_at = excluded.calibrated_at";

impl Properties for PostgresStore {
    fn property(&self, name: &str) -> Result<Option<String>> {
        self.connections.ask(async |connection| {
            let statement =
                connection.prepare_cached("SELECT value FROM properties WHERE namespace = $1 AND name = $2").await?;
            Ok(connection.query_opt(&statement, &[&self.namespace, &name]).await?.map(|row| row.get(0)))
        })
    }

    fn properties(&self) -> Result<Vec<(String, String)>> {
        self.connections.ask(async |connection| {
            let select = "SELECT name, value FROM properties WHERE namespace = $1 ORDER BY name";
            let rows = connection.query(select, &[&self.namespace]).await?;
            Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
        })
    }

    fn set_property(&self, name: &str, value: &str) -> Result<()> {
        self.connections.write(async |transaction| {
            let put = "INSERT INTO properties(namespace, name, value) VALUES ($1, $2, $3) \
                    ON CONFLICT (namespace, name) DO UPDATE SET value = excluded.value";
            transaction.execute(put, &[&self.namespace, &name, &value]).await?;
            Ok(())
        })
    }

    fn calibrations(&self) -> Result<Vec<Calibration>> {
        self.connections.ask(async |connection| {
            let select = "SELECT language, threshold, sample_size, provider, model, calibrated_at \
                FROM threshold_calibration ORDER BY language, provider, model";
            Ok(connection.query(select, &[]).await?.iter().map(calibration).collect())
        })
    }

    fn put_calibrations(&self, calibrations: &[Calibration]) -> Result<()> {
        self.connections.write(async |transaction| {
            let statement = transaction.prepare(PUT_CALIBRATION).await?;
            for one in calibrations {
                let Calibration { language, threshold, sample_size, provider, model, calibrated_at_ms } = one;
                let sample_size = *sample_size as i64;
                transaction
                    .execute(&statement, &[language, threshold, &sample_size, provider, model, calibrated_at_ms])
                    .await?;
            }
            Ok(())
        })
    }

    fn clear_calibrations(&self) -> Result<u64> {
        self.connections
            .write(async |transaction| Ok(transaction.execute("DELETE FROM threshold_calibration", &[]).await?))
    }
}

impl PostgresStore {
    /// Returns the trees that have settings in the database, by name.
    ///
    /// # Errors
    /// The server cannot be reached or refuses.
    pub fn trees(&self) -> Result<Vec<String>> {
        self.connections.ask(async |connection| {
            let rows = connection.query("SELECT DISTINCT namespace FROM properties ORDER BY namespace", &[]).await?;
            Ok(rows.iter().map(|row| row.get(0)).collect())
        })
    }
}

fn calibration(row: &Row) -> Calibration {
    Calibration {
        language: row.get(0),
        threshold: row.get(1),
        sample_size: row.get::<_, i64>(2) as u64,
        provider: row.get(3),
        model: row.get(4),
        calibrated_at_ms: row.get(5),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use crate::store::Properties;

    #[test]
    fn settings_are_kept() {
        let Some(store) = testing::store() else { return };
        assert_eq!(store.property("splitter").unwrap(), None);
        store.set_property("splitter", "1").unwrap();
        store.set_property("splitter", "2").unwrap();
        assert_eq!(store.another().property("splitter").unwrap().as_deref(), Some("2"));
    }
}
