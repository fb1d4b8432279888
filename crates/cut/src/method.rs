//! The description of a method, which parsing, help, documentation and errors share.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::cut::Value;
use crate::parse::RuleError;

/// The list of a hybrid search that a rule is made for. A rule works on any pool; this names the one its constants were
/// chosen on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// The fused score that orders the candidates. Never a reciprocal-rank score, which carries no evidence of relevance.
    Score,
    /// The cosine similarity to the query (distance = 1 − similarity), as reranking adjusted it.
    Similarity,
    /// 0.7 · similarity + 0.3 · r/(1+r), with r the raw BM25 value.
    Weighted,
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scale::Score => "score",
            Scale::Similarity => "similarity",
            Scale::Weighted => "weighted",
        })
    }
}

/// A method's description, complete without running it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Method {
    /// Name, as [`parse`](crate::parse()) takes it.
    pub name: &'static str,
    /// One line on what it keeps.
    pub summary: &'static str,
    /// The list of a hybrid search that it is made for.
    pub scale: Scale,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Pairs of parameters of which the first may not exceed the second.
    pub(crate) ordered: &'static [(&'static str, &'static str)],
}

impl Method {
    /// The parameter of that name.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    pub(crate) fn parameter_names(&self) -> Vec<&'static str> {
        self.parameters.iter().map(|parameter| parameter.name).collect()
    }

    /// The parameter of that name, with `-` for `_` allowed.
    pub(crate) fn find_parameter(&self, name: &str) -> Result<&'static Parameter, RuleError> {
        let wanted = name.trim().replace('-', "_");
        self.parameter(&wanted).ok_or_else(|| {
            let allowed = self.parameter_names();
            RuleError::UnknownParameter {
                method: self.name,
                name: name.trim().to_string(),
                nearest: nearest(&wanted, allowed.iter().copied()),
                allowed,
            }
        })
    }

    /// The parameter of that name, if it may have that value.
    pub(crate) fn check_value(&self, name: &str, value: &Value) -> Result<&'static Parameter, RuleError> {
        let parameter = self.find_parameter(name)?;
        if parameter.range.contains(value) {
            return Ok(parameter);
        }
        let value = match value {
            Value::Text(text) if !matches!(parameter.range, Range::Choice(_)) => format!("\"{text}\""),
            value => value.to_string(),
        };
        Err(RuleError::OutOfRange { method: self.name, parameter: parameter.name, value, range: parameter.range })
    }

    /// Checks that every value is within its range and every lower bound at most its upper bound.
    pub(crate) fn check(&self, settings: &[(&'static str, Value)]) -> Result<(), RuleError> {
        for (name, value) in settings {
            self.check_value(name, value)?;
        }
        let value_of = |wanted: &str| settings.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value);
        for &(low, high) in self.ordered {
            let (Some(low_value), Some(high_value)) = (value_of(low), value_of(high)) else { continue };
            if low_value.as_number() > high_value.as_number() {
                return Err(RuleError::OutOfOrder {
                    method: self.name,
                    low,
                    low_value: low_value.clone(),
                    high,
                    high_value: high_value.clone(),
                });
            }
        }
        Ok(())
    }
}

// One declaration for a method's struct, its defaults, its description and its access by name, so that the doc comment of
// a field is also its line of help.

/// Declares a method. See `methods/fixed.rs` for the smallest example.
macro_rules! declare {
    (
        $(#[$about:meta])*
        pub struct $rule:ident = $name:literal on $scale:ident, $summary:literal
        $(where $low:ident <= $high:ident)*
        {
            $(#[doc = $doc:literal] pub $field:ident: $kind:ty = $default:expr, $range:expr;)*
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $rule {
            $(#[doc = $doc] pub $field: $kind,)*
        }

        impl Default for $rule {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $rule {
            /// The method's description: name, summary, parameters with their ranges and defaults.
            pub const METHOD: $crate::method::Method = $crate::method::Method {
                name: $name,
                summary: $summary,
                scale: $crate::method::Scale::$scale,
                parameters: &[$($crate::method::Parameter {
                    name: stringify!($field),
                    doc: $doc.trim_ascii(),
                    range: $range,
                    default: || $crate::method::Setting::to_value(&{ let value: $kind = $default; value }),
                },)*],
                ordered: &[$((stringify!($low), stringify!($high)),)*],
            };

            /// The rule with these settings by name; every other parameter has its default.
            ///
            /// # Errors
            /// An unknown parameter, or a value out of range, with what is allowed.
            pub fn with_settings(settings: &[(&str, $crate::cut::Value)]) -> Result<Self, $crate::parse::RuleError> {
                #[allow(unused_mut)]
                let mut rule = Self::default();
                for (name, value) in settings {
                    let parameter = Self::METHOD.check_value(name, value)?;
                    match parameter.name {
                        $(stringify!($field) => {
                            if let Some(value) = $crate::method::Setting::from_value(value) {
                                rule.$field = value;
                            }
                        })*
                        _ => {}
                    }
                }
                $crate::rule::Settings::check(&rule)?;
                Ok(rule)
            }
        }

        impl $crate::rule::Settings for $rule {
            fn method(&self) -> &'static $crate::method::Method {
                const { &Self::METHOD }
            }

            fn settings(&self) -> Vec<(&'static str, $crate::cut::Value)> {
                vec![$((stringify!($field), $crate::method::Setting::to_value(&self.$field)),)*]
            }

            fn rebuilt(
                &self,
                settings: &[(&str, $crate::cut::Value)],
            ) -> Result<Box<dyn $crate::rule::Rule>, $crate::parse::RuleError> {
                Ok(Box::new(Self::with_settings(settings)?))
            }

            fn boxed(&self) -> Box<dyn $crate::rule::Rule> {
                Box::new(self.clone())
            }
        }
    };
}
pub(crate) use declare;

// Parameters of a method: their names, ranges and defaults.

/// One parameter of a method.
#[derive(Debug)]
#[non_exhaustive]
pub struct Parameter {
    /// Name, in a specification and in a configuration file.
    pub name: &'static str,
    /// One line on what it does.
    pub doc: &'static str,
    /// Allowed values.
    pub range: Range,
    pub(crate) default: fn() -> Value,
}

impl Parameter {
    /// The value used when none is given.
    pub fn default(&self) -> Value {
        (self.default)()
    }
}

/// The allowed values of a parameter. Bounds are inclusive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// A finite number.
    Number {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
    },
    /// A whole number.
    Integer {
        /// Smallest.
        min: usize,
        /// Largest.
        max: usize,
    },
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
}

impl Range {
    /// Returns true if `value` has the right kind and lies within the bounds.
    pub fn contains(&self, value: &Value) -> bool {
        match *self {
            Range::Number { min, max } => value.as_number().is_some_and(|number| (min..=max).contains(&number)),
            Range::Integer { min, max } => value
                .as_integer()
                .and_then(|integer| usize::try_from(integer).ok())
                .is_some_and(|integer| (min..=max).contains(&integer)),
            Range::Flag => value.as_flag().is_some(),
            Range::Choice(words) => value.as_text().is_some_and(|text| words.contains(&text)),
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Range::Number { min, max } => write!(f, "a number from {min} to {max}"),
            Range::Integer { min, max } => write!(f, "a whole number from {min} to {max}"),
            Range::Flag => f.write_str("true or false"),
            Range::Choice(words) => write!(f, "one of {}", words.join(", ")),
        }
    }
}

/// A Rust type that a parameter can have. Conversion succeeds exactly when the kind is right.
pub trait Setting: Sized {
    fn to_value(&self) -> Value;
    fn from_value(value: &Value) -> Option<Self>;
}

impl Setting for f64 {
    fn to_value(&self) -> Value {
        Value::Number(*self)
    }
    fn from_value(value: &Value) -> Option<Self> {
        value.as_number()
    }
}

impl Setting for usize {
    fn to_value(&self) -> Value {
        Value::from(*self)
    }
    fn from_value(value: &Value) -> Option<Self> {
        usize::try_from(value.as_integer()?).ok()
    }
}

impl Setting for bool {
    fn to_value(&self) -> Value {
        Value::Flag(*self)
    }
    fn from_value(value: &Value) -> Option<Self> {
        value.as_flag()
    }
}

// Suggestions for misspelt names.

/// The name closest to `typed`, if it is close enough to be a slip: edits to at most a third of it, or a shared beginning.
pub fn nearest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let edits = names.into_iter().map(|name| (strsim::levenshtein(typed, name), name));
    let (distance, name) = edits.min_by_key(|&(distance, _)| distance)?;
    let length = typed.chars().count().max(name.chars().count());
    let begins_alike = typed.len() >= 3 && (name.starts_with(typed) || typed.starts_with(name));
    (distance * 3 <= length.max(3) || begins_alike).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_inclusive_and_reject_the_wrong_kind() {
        let number = Range::Number { min: 0.0, max: 1.0 };
        for (value, inside) in [(0.0, true), (1.0, true), (1.01, false), (f64::NAN, false), (f64::INFINITY, false)] {
            assert_eq!(number.contains(&Value::from(value)), inside, "{value}");
        }
        assert!(number.contains(&Value::Integer(1)), "a whole number is a number");
        let integer = Range::Integer { min: 1, max: 3 };
        assert!(!integer.contains(&Value::from(2.0)) && !integer.contains(&Value::Integer(-1)));
        assert!(Range::Choice(&["a", "b"]).contains(&Value::from("b")));
        assert!(!Range::Flag.contains(&Value::from("true")));
    }

    #[test]
    fn a_slip_finds_its_name_and_nonsense_finds_none() {
        let names = ["kneedle", "max_gap", "otsu"];
        assert_eq!([nearest("kneedel", names), nearest("knee", names)], [Some("kneedle"), Some("kneedle")]);
        assert_eq!([nearest("otzu", names), nearest("banana", names)], [Some("otsu"), None]);
        assert_eq!(nearest("", names), None);
    }
}
