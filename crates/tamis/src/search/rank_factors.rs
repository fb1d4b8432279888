//! Factors on a passage's ranking value that depend on the passage's role and not on the query's words.

use crate::config::Priors;
use tamis_rank::{QueryNames, RolePrior};
use tamis_store::StoredPassage;

impl Priors {
    /// The factor on each passage's value, in (0, 1].
    pub(super) fn factors(&self, names: &QueryNames, passages: &[StoredPassage]) -> Vec<f64> {
        let mut factors = self.definitions.factors(names, passages.iter().map(|passage| passage.symbol.as_deref()));
        for (factor, passage) in factors.iter_mut().zip(passages) {
            *factor *= self.roles.factor(&passage.role);
        }
        factors
    }

    /// The priors in words, as a part of what scores are made by.
    pub(super) fn describe(&self) -> String {
        let RolePrior { test, example, vendored, generated, changelog, license, bot, template } = self.roles;
        let usage = self.definitions.usage;
        format!("roles {test} {example} {vendored} {generated} {changelog} {license} {bot} {template}, usage {usage}")
    }
}

/// `value` ranked down by `factor`. What is not positive stays as it is, so that a factor never raises a value.
pub(super) fn lowered(value: f64, factor: f64) -> f64 {
    if value > 0.0 { value * factor } else { value }
}
