//! Factors on a passage's ranking value: its role, and its relation to a name in the query.

use crate::config::RankFactors;
use tamis_rank::{QueryNames, RolePrior};
use tamis_store::StoredPassage;

impl RankFactors {
    /// Returns the factor on each passage's value, in (0, 1].
    pub(super) fn factors(&self, names: &QueryNames, passages: &[StoredPassage]) -> Vec<f64> {
        let mut factors = self.definitions.factors(names, passages.iter().map(|passage| passage.symbol.as_deref()));
        for (factor, passage) in factors.iter_mut().zip(passages) {
            *factor *= self.roles.factor(&passage.role);
        }
        factors
    }

    /// Returns the factors as settings of a scoring key.
    pub(super) fn scoring(&self) -> [(&'static str, String); 2] {
        let RolePrior { test, example, vendored, generated, changelog, license, bot, template } = self.roles;
        let usage = self.definitions.usage;
        let roles = format!("{test} {example} {vendored} {generated} {changelog} {license} {bot} {template}");
        [("roles", roles), ("usage", usage.to_string())]
    }
}

/// Returns `value` lowered by `factor`. A value that is not positive stays as it is, so a factor never raises it.
pub(super) fn lowered(value: f64, factor: f64) -> f64 {
    if value > 0.0 { value * factor } else { value }
}
