//! Named values and calibrated thresholds.

use rusqlite::params;

use super::Database;
use crate::calibration::Calibration;
use crate::error::{Result, StoreError};
use crate::query::{all, execute, one, unsigned};

impl Database {
    /// Returns a property.
    pub(crate) fn property(&self, name: &str) -> Result<Option<String>> {
        let sql = "SELECT value FROM properties WHERE name = ?1";
        self.read(|connection| Ok(one(connection, sql, [name], |row| row.get(0))?))
    }

    /// Returns all properties, by name.
    pub(crate) fn properties(&self) -> Result<Vec<(String, String)>> {
        let sql = "SELECT name, value FROM properties ORDER BY name";
        self.read(|connection| Ok(all(connection, sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?))
    }

    /// Stores a property.
    pub(crate) fn set_property(&self, name: &str, value: &str) -> Result<()> {
        let sql = "INSERT INTO properties(name, value) VALUES (?1, ?2) \
                   ON CONFLICT(name) DO UPDATE SET value = excluded.value";
        self.write(|connection| Ok(execute(connection, sql, [name, value]).map(drop)?))
    }

    /// Returns all thresholds, by language, provider and model.
    pub(crate) fn calibrations(&self) -> Result<Vec<Calibration>> {
        let sql = "SELECT language, threshold, sample_size, provider, model, calibrated_at FROM threshold_calibration \
                   ORDER BY language, provider, model";
        self.read(|connection| {
            let calibrations = all(connection, sql, [], |row| {
                Ok(Calibration {
                    language: row.get(0)?,
                    threshold: row.get(1)?,
                    sample_size: unsigned(row, 2)?,
                    provider: row.get(3)?,
                    model: row.get(4)?,
                    calibrated_at_ms: row.get(5)?,
                })
            })?;
            Ok(calibrations)
        })
    }

    /// Stores thresholds, each replacing the one of the same language, provider and model.
    pub(crate) fn put_calibrations(&self, calibrations: &[Calibration]) -> Result<()> {
        if let Some(bad) = calibrations.iter().find(|calibration| !(-1.0..=1.0).contains(&calibration.threshold)) {
            return Err(StoreError::Invalid {
                what: format!("threshold {} of {}", bad.threshold, bad.language),
                reason: "a threshold is a cosine similarity, -1 to 1".to_owned(),
            });
        }
        let sql = "INSERT OR REPLACE INTO threshold_calibration(language, threshold, sample_size, provider, model, \
                   calibrated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        self.write(|connection| {
            for calibration in calibrations {
                let values = params![
                    calibration.language, calibration.threshold, calibration.sample_size as i64, calibration.provider,
                    calibration.model, calibration.calibrated_at_ms,
                ];
                execute(connection, sql, values)?;
            }
            Ok(())
        })
    }

    /// Deletes all thresholds.
    pub(crate) fn clear_calibrations(&self) -> Result<u64> {
        self.write(|connection| Ok(connection.execute("DELETE FROM threshold_calibration", [])? as u64))
    }
}
