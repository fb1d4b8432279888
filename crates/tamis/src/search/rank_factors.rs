//! Factors on a passage's ranking value: its role, its relation to a name in the query, and its kind where the query asks for
//! another.

use crate::collections::{CODE, FILE_COLLECTIONS};
use crate::config::RankFactors;
use tamis_cut::TextKind;
use tamis_rank::{Lean, QueryNames, RolePrior};
use tamis_store::StoredPassage;

impl RankFactors {
    /// Returns the factor on each passage's value, in (0, 1].
    pub(super) fn factors(&self, names: &QueryNames, lean: Option<Lean>, passages: &[StoredPassage]) -> Vec<f64> {
        let mut factors = self.definitions.factors(names, passages.iter().map(|passage| passage.symbol.as_deref()));
        for (factor, passage) in factors.iter_mut().zip(passages) {
            *factor *= self.roles.factor(&passage.role);
            let other = match lean {
                Some(Lean::Code) => passage.collection != CODE && is_file(passage),
                Some(Lean::Guide) => passage.collection == CODE,
                Some(Lean::Both) | None => false,
            };
            if other {
                *factor *= self.lean.other;
            }
        }
        factors
    }

    /// Returns the factors as settings of a scoring key.
    pub(super) fn scoring(&self) -> [(&'static str, String); 3] {
        let RolePrior { test, example, vendored, generated, changelog, license, bot, template } = self.roles;
        let usage = self.definitions.usage;
        let roles = format!("{test} {example} {vendored} {generated} {changelog} {license} {bot} {template}");
        [("roles", roles), ("usage", usage.to_string()), ("lean", self.lean.other.to_string())]
    }
}

fn is_file(passage: &StoredPassage) -> bool {
    FILE_COLLECTIONS.contains(&passage.collection.as_str())
}

/// What a search leans to: what its question asks for, or else code where most of what was found is code.
pub(super) fn lean_of(asked: Option<Lean>, found: TextKind) -> Option<Lean> {
    asked.or((found == TextKind::Code).then_some(Lean::Code))
}

/// Returns `value` lowered by `factor`. A value that is not positive stays as it is, so a factor never raises it.
pub(super) fn lowered(value: f64, factor: f64) -> f64 {
    if value > 0.0 { value * factor } else { value }
}
