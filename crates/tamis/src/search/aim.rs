//! Aims of a cut, such as a target recall, which replace its own parameters.

use crate::error::AimError;
use tamis_cut::{METHODS, Rule, Value, build};

/// The aims of a cut: parameters of the methods that compute with expected values. `None`: the method's own setting.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Aim {
    /// Weight of precision against recall, 0.1 to 10.
    pub strictness: Option<f64>,
    /// Keep the fewest candidates with this expected recall, 0 (off) to 0.999.
    pub target_recall: Option<f64>,
    /// Never keep more than this expected precision allows, 0 (off) to 0.999.
    pub min_precision: Option<f64>,
    /// Never keep more than this many tokens of text; 0: off.
    pub budget_tokens: Option<usize>,
}

/// Returns the methods that have the parameter, by name.
fn able(aim: &str) -> String {
    let names = METHODS.iter().filter(|method| method.parameter(aim).is_some()).map(|method| method.name);
    names.collect::<Vec<_>>().join(" or ")
}

impl Aim {
    /// Returns the aims that are set, each by the name of its parameter.
    fn given(&self) -> impl Iterator<Item = (&'static str, Value)> {
        let number = |value: Option<f64>| value.map(Value::from);
        [
            ("strictness", number(self.strictness)),
            ("target_recall", number(self.target_recall)),
            ("min_precision", number(self.min_precision)),
            ("budget_tokens", self.budget_tokens.map(Value::from)),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
    }

    /// Returns the rule with these aims in place of its own.
    ///
    /// # Errors
    /// [`AimError::NoSuchAim`] if the method lacks the parameter, [`AimError::NotAllowed`] if a value is out of its range.
    pub fn set(&self, rule: &dyn Rule) -> Result<Box<dyn Rule>, AimError> {
        let mut settings = rule.settings();
        for (aim, value) in self.given() {
            let method = rule.name();
            let setting = settings.iter_mut().find(|(name, _)| *name == aim);
            setting.ok_or_else(|| AimError::NoSuchAim { aim, method, able: able(aim) })?.1 = value;
        }
        Ok(build(rule.name(), settings)?)
    }
}
