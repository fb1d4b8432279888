//! Aims of a cut, such as a target recall, which replace its own parameters.

use crate::Error;
use crate::error::AimError;
#[cfg(feature = "clap")]
use crate::flags::{finite, whole};
#[cfg(feature = "clap")]
use clap::builder::PossibleValuesParser;
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt::Display;
use std::str::FromStr;
use tamis_cut::{METHODS, Rule, Value, Want, build};

/// The aims of a cut: parameters of the methods that compute with expected values. `None`: the method's own setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct Aim {
    /// Count precision this many times as much as recall, 0.1 to 10; for the cut auto.
    #[schemars(range(min = 0.1, max = 10.0))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "FACTOR", value_parser = finite, allow_negative_numbers = true, help_heading = "Cut", hide_short_help = true))]
    pub strictness: Option<f64>,
    /// Keep the fewest with this expected recall, 0 to 0.999; for the cut auto.
    #[schemars(range(min = 0.0, max = 0.999))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "SHARE", value_parser = finite, allow_negative_numbers = true, help_heading = "Cut", hide_short_help = true))]
    pub target_recall: Option<f64>,
    /// Keep no more than have this expected precision, 0 to 0.999; for the cut auto.
    #[schemars(range(min = 0.0, max = 0.999))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "SHARE", value_parser = finite, allow_negative_numbers = true, help_heading = "Cut", hide_short_help = true))]
    pub min_precision: Option<f64>,
    /// Keep no more than this many tokens of text; for the cut auto.
    #[schemars(range(min = 0, max = 1_000_000))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = whole::<0, { usize::MAX }>, allow_negative_numbers = true, help_heading = "Cut", hide_short_help = true))]
    pub budget_tokens: Option<usize>,
}

/// The amount wanted, and the aims of a cut.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct CutGoal {
    /// Keep the one answer, the best ones, or all on the topic (default: search.want, auto).
    #[schemars(extend("enum" = Want::NAMES))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "one|best|all", value_parser = PossibleValuesParser::new(Want::NAMES), hide_possible_values = true, help_heading = "Cut"))]
    pub want: Option<String>,
    /// The aims.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub aim: Aim,
}

impl CutGoal {
    /// The amount wanted; by default the cut decides.
    ///
    /// # Errors
    /// A word that is none of [`Want::NAMES`].
    pub fn wanted(&self) -> Result<Want, Error> {
        Ok(parsed("want", self.want.as_deref())?.unwrap_or_default())
    }
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

/// The value that a text names.
pub(super) fn parsed<T: FromStr<Err: Display>>(name: &'static str, text: Option<&str>) -> Result<Option<T>, Error> {
    let read = |text: &str| {
        text.parse().map_err(|error: T::Err| {
            Error::argument(name, format!("{text:?}"), error.to_string().trim_start_matches("must be "))
        })
    };
    text.map(read).transpose()
}
