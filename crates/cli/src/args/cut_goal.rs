//! Flags for the aims of a cut, for `tamis search`, `tamis recall` and `tamis cut`.

use super::values::{count, finite};
use anyhow::{Error, anyhow};
use clap::Args;
use clap::builder::PossibleValuesParser;
use tamis::cut::{RuleError, Want};
use tamis::search::{Aim, AimError};

/// The aims of a cut.
#[derive(Debug, Args)]
pub struct CutGoalArguments {
    /// Keep the one answer, the best ones, or all on the topic
    #[arg(long, value_name = "HOW MUCH", value_parser = PossibleValuesParser::new(Want::NAMES), help_heading = "Cut", hide_short_help = true)]
    pub want: Option<String>,
    /// Count precision this many times as much as recall, 0.1 to 10; for the cut auto
    #[arg(long, value_name = "FACTOR", value_parser = finite, allow_negative_numbers = true, help_heading = "Cut", hide_short_help = true)]
    pub strictness: Option<f64>,
    /// Keep the fewest with this expected recall, 0 to 0.999; for the cut auto
    #[arg(long, value_name = "SHARE", value_parser = finite, allow_negative_numbers = true, help_heading = "Cut", hide_short_help = true)]
    pub target_recall: Option<f64>,
    /// Keep no more than have this expected precision, 0 to 0.999; for the cut auto
    #[arg(long, value_name = "SHARE", value_parser = finite, allow_negative_numbers = true, help_heading = "Cut", hide_short_help = true)]
    pub min_precision: Option<f64>,
    /// Keep no more than N tokens of text; for the cut auto
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true, help_heading = "Cut", hide_short_help = true)]
    pub budget_tokens: Option<usize>,
}

impl CutGoalArguments {
    /// The figures to aim at.
    pub fn aim(&self) -> Aim {
        Aim {
            strictness: self.strictness,
            target_recall: self.target_recall,
            min_precision: self.min_precision,
            budget_tokens: self.budget_tokens,
        }
    }

    /// The amount wanted; by default the cut decides.
    pub fn want(&self) -> Want {
        self.want.as_deref().and_then(|word| word.parse().ok()).unwrap_or_default()
    }
}

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
