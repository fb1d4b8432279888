//! Named values and calibrated thresholds.

use super::EmbeddedStore;
use crate::calibration::Calibration;
use crate::error::Result;
use crate::store::Properties;

impl Properties for EmbeddedStore {
    fn property(&self, name: &str) -> Result<Option<String>> {
        self.database.property(name)
    }

    fn properties(&self) -> Result<Vec<(String, String)>> {
        self.database.properties()
    }

    fn set_property(&self, name: &str, value: &str) -> Result<()> {
        self.writing(|database| database.set_property(name, value))
    }

    fn calibrations(&self) -> Result<Vec<Calibration>> {
        self.database.calibrations()
    }

    fn put_calibrations(&self, calibrations: &[Calibration]) -> Result<()> {
        self.writing(|database| database.put_calibrations(calibrations))
    }

    fn clear_calibrations(&self) -> Result<u64> {
        self.writing(|database| database.clear_calibrations())
    }
}
