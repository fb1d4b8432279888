//! Settings of the index as a whole, and calibrated thresholds.

use crate::calibration::Calibration;
use crate::error::Result;

/// Keeps named values and calibrated thresholds.
pub trait Properties: Send + Sync {
    /// Returns the value stored under a name, such as the version of the splitter.
    fn property(&self, name: &str) -> Result<Option<String>>;

    /// Returns all values with their names, by name.
    fn properties(&self) -> Result<Vec<(String, String)>>;

    /// Stores a value under a name, replacing the one there.
    fn set_property(&self, name: &str, value: &str) -> Result<()>;

    /// Returns all calibrated thresholds, by language, provider and model.
    fn calibrations(&self) -> Result<Vec<Calibration>>;

    /// Stores thresholds, each replacing the one of the same language, provider and model: all or none.
    fn put_calibrations(&self, calibrations: &[Calibration]) -> Result<()>;

    /// Deletes all thresholds and returns their number.
    fn clear_calibrations(&self) -> Result<u64>;
}
