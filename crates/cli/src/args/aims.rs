//! Errors of the aims of a cut, for `tamis search`, `tamis recall` and `tamis cut`.

use anyhow::{Error, anyhow};
use tamis::search::AimError;
use tamis_cut::RuleError;

/// The error in terms of the flags that were typed. `cut` is the flag that chooses the method.
pub fn refused(error: AimError, cut: &str) -> Error {
    let flag = |parameter: &str| format!("--{}", parameter.replace('_', "-"));
    match error {
        AimError::NoSuchAim { aim, method, able } => {
            anyhow!("{}: cut {method} has no such aim; use {cut} {able}", flag(aim))
        }
        AimError::NotAllowed(RuleError::OutOfRange { parameter, value, range, .. }) => {
            anyhow!("{} must be {range} and is {value}", flag(parameter))
        }
        AimError::NotAllowed(error) => anyhow!(error),
    }
}
