//! Errors in a method's name or settings, each with what is allowed.

use thiserror::Error;

use crate::parameter::Range;
use crate::value::Value;

/// A specification that describes no rule.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum RuleError {
    /// No method has that name.
    #[error("unknown cut method \"{name}\"{}; the methods are {}", did_you_mean(nearest.as_deref()), allowed.join(", "))]
    UnknownMethod {
        /// The name as given.
        name: String,
        /// The method it may have meant. `fixed-5`, a name with a number, suggests the first parameter: `fixed:k=5`.
        nearest: Option<String>,
        /// All methods.
        allowed: Vec<&'static str>,
    },
    /// The method has no parameter of that name.
    #[error("cut method {method} has no parameter \"{name}\"{}; {}", did_you_mean(*nearest), has_parameters(allowed))]
    UnknownParameter {
        /// The method.
        method: &'static str,
        /// The name as given.
        name: String,
        /// The parameter it may have meant.
        nearest: Option<&'static str>,
        /// The method's parameters.
        allowed: Vec<&'static str>,
    },
    /// A part of the specification is not `PARAM=VALUE`.
    #[error(
        "expected PARAM=VALUE in the settings of cut method {method} and got \"{part}\"; {}",
        has_parameters(allowed)
    )]
    NotAssigned {
        /// The method.
        method: &'static str,
        /// The part as given.
        part: String,
        /// The method's parameters.
        allowed: Vec<&'static str>,
    },
    /// A parameter is given twice.
    #[error("parameter {parameter} of cut method {method} is given twice; give it once")]
    Repeated {
        /// The method.
        method: &'static str,
        /// The parameter.
        parameter: &'static str,
    },
    /// A value has the wrong kind or lies outside its range.
    #[error("{method}:{parameter} must be {range} and is {value}")]
    OutOfRange {
        /// The method.
        method: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// The value as given.
        value: String,
        /// The allowed values.
        range: Range,
    },
    /// A lower bound exceeds its upper bound.
    #[error("{method}:{low} ({low_value}) must not exceed {high} ({high_value})")]
    OutOfOrder {
        /// The method.
        method: &'static str,
        /// The parameter that must be lower.
        low: &'static str,
        /// Its value.
        low_value: Value,
        /// The parameter that must be higher.
        high: &'static str,
        /// Its value.
        high_value: Value,
    },
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|name| format!(" (did you mean \"{name}\"?)")).unwrap_or_default()
}

fn has_parameters(allowed: &[&str]) -> String {
    if allowed.is_empty() { "it takes none".to_string() } else { format!("its parameters are {}", allowed.join(", ")) }
}
