//! Aims that a cut cannot take.

use tamis_cut::RuleError;
use thiserror::Error;

/// An aim that a rule cannot take.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum AimError {
    /// The method has no parameter for it. Ignoring the aim in silence would break a promise.
    #[error("{aim}: cut {method} has no such aim; use the cut {able}")]
    NoSuchAim {
        /// The parameter.
        aim: &'static str,
        /// The method without it.
        method: &'static str,
        /// The methods that have it.
        able: String,
    },
    /// The value is not allowed.
    #[error(transparent)]
    NotAllowed(#[from] RuleError),
}
