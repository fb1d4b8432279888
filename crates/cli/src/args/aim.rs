//! Flags that say what is wanted of a cut, for `tamis search` and `tamis cut`.

use super::values::{count, finite};
use anyhow::{Error, anyhow};
use clap::Args;
use clap::builder::PossibleValuesParser;
use tamis::cut::{RuleError, Want};
use tamis::search::{Aim, AimError};

/// What the asker wants of the cut.
#[derive(Debug, Args)]
#[command(next_help_heading = "What is wanted")]
pub struct AimArguments {
    /// The one answer, some good ones, or all on the topic; sets the strictness of a cut that has one
    #[arg(long, value_name = "HOW MUCH", value_parser = PossibleValuesParser::new(Want::NAMES))]
    pub want: Option<String>,
    /// How much more precision counts than recall, 0.1 to 10; with the cut auto
    #[arg(long, value_name = "FACTOR", value_parser = finite, allow_negative_numbers = true)]
    pub strictness: Option<f64>,
    /// Keep the fewest with this expected recall, 0 to 0.999; with the cut auto
    #[arg(long, value_name = "SHARE", value_parser = finite, allow_negative_numbers = true)]
    pub target_recall: Option<f64>,
    /// Never keep more than have this expected precision, 0 to 0.999; with the cut auto
    #[arg(long, value_name = "SHARE", value_parser = finite, allow_negative_numbers = true)]
    pub min_precision: Option<f64>,
    /// Never keep more than N tokens of text; with the cut auto
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub budget_tokens: Option<usize>,
}

impl AimArguments {
    /// The aims that are given.
    pub fn aim(&self) -> Aim {
        Aim {
            strictness: self.strictness,
            target_recall: self.target_recall,
            min_precision: self.min_precision,
            budget_tokens: self.budget_tokens,
        }
    }

    /// The word that is given, or what the cut decides by itself.
    pub fn want(&self) -> Want {
        self.want.as_deref().and_then(|word| word.parse().ok()).unwrap_or_default()
    }
}

/// The error with the flags that the asker has typed. `cut`: the one that chooses the method.
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
