//! Settings of the index as a whole, and calibrated thresholds.

use super::Content;
use crate::calibration::Calibration;
use crate::error::{Result, StoreError};
use crate::session::{Row, all, bind, first, read, values};
use crate::store::Properties;

impl<C: Content> Properties for C {
    fn property(&self, name: &str) -> Result<Option<String>> {
        let select = "SELECT value FROM properties WHERE namespace = $1 AND name = $2";
        self.ask(async |session| first(session, select, values![self.settings(), name], Row::next).await)
    }

    fn properties(&self) -> Result<Vec<(String, String)>> {
        let select = "SELECT name, value FROM properties WHERE namespace = $1 ORDER BY name";
        let pair = |row: &mut Row| Ok((row.next()?, row.next()?));
        self.ask(async |session| all(session, select, values![self.settings()], pair).await)
    }

    fn set_property(&self, name: &str, value: &str) -> Result<()> {
        let put = "INSERT INTO properties(namespace, name, value) VALUES ($1, $2, $3) \
             ON CONFLICT (namespace, name) DO UPDATE SET value = excluded.value";
        self.write(async |session| session.execute(put, values![self.settings(), name, value]).await.map(drop))
    }

    fn calibrations(&self) -> Result<Vec<Calibration>> {
        let select = "SELECT language, threshold, sample_size, provider, model, calibrated_at FROM threshold_calibration \
             ORDER BY language, provider, model";
        let calibration = |row: &mut Row| {
            Ok(read!(row => Calibration { language, threshold, sample_size, provider, model, calibrated_at_ms }))
        };
        self.ask(async |session| all(session, select, &[], calibration).await)
    }

    fn put_calibrations(&self, calibrations: &[Calibration]) -> Result<()> {
        if let Some(bad) = calibrations.iter().find(|calibration| !(-1.0..=1.0).contains(&calibration.threshold)) {
            return Err(StoreError::Invalid {
                what: format!("threshold {} of {}", bad.threshold, bad.language),
                reason: "a threshold is a cosine similarity, -1 to 1".to_owned(),
            });
        }
        let put = "INSERT INTO threshold_calibration(language, threshold, sample_size, provider, model, calibrated_at) \
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (language, provider, model) DO UPDATE SET \
             threshold = excluded.threshold, sample_size = excluded.sample_size, calibrated_at = excluded.calibrated_at";
        self.write(async |session| {
            for one in calibrations {
                let values = bind!(one => language, threshold, sample_size, provider, model, calibrated_at_ms);
                session.execute(put, &values).await?;
            }
            Ok(())
        })
    }

    fn clear_calibrations(&self) -> Result<u64> {
        self.write(async |session| session.execute("DELETE FROM threshold_calibration", &[]).await)
    }
}
