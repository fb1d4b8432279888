//! Calibrated thresholds in the database.

use rusqlite::params;

use super::Database;
use crate::calibration::Calibration;
use crate::error::{Result, StoreError};

impl Database {
    /// All of them, by language, provider and model.
    pub(crate) fn calibrations(&self) -> Result<Vec<Calibration>> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT language, threshold, sample_size, provider, model, calibrated_at FROM threshold_calibration \
                 ORDER BY language, provider, model",
            )?;
            let rows = statement.query_map([], |row| {
                Ok(Calibration {
                    language: row.get(0)?,
                    threshold: row.get(1)?,
                    sample_size: row.get::<_, i64>(2)? as u64,
                    provider: row.get(3)?,
                    model: row.get(4)?,
                    calibrated_at_ms: row.get(5)?,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Keeps them, each in place of the one of the same language, provider and model.
    pub(crate) fn put_calibrations(&self, calibrations: &[Calibration]) -> Result<()> {
        if let Some(bad) = calibrations.iter().find(|calibration| !(-1.0..=1.0).contains(&calibration.threshold)) {
            return Err(StoreError::Invalid {
                what: format!("threshold {} of {}", bad.threshold, bad.language),
                reason: "a threshold is a cosine similarity, -1 to 1".to_owned(),
            });
        }
        self.write(|connection| {
            let mut statement = connection.prepare_cached(
                "INSERT OR REPLACE INTO threshold_calibration(language, threshold, sample_size, provider, model, calibrated_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?;
            for calibration in calibrations {
                statement.execute(params![
                    calibration.language,
                    calibration.threshold,
                    calibration.sample_size as i64,
                    calibration.provider,
                    calibration.model,
                    calibration.calibrated_at_ms,
                ])?;
            }
            Ok(())
        })
    }

    /// Forgets all of them.
    pub(crate) fn clear_calibrations(&self) -> Result<u64> {
        self.write(|connection| Ok(connection.execute("DELETE FROM threshold_calibration", [])? as u64))
    }
}
