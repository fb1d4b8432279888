//! The description of a method and its parameters: one place for parsing, help, documentation and errors.

use std::fmt;

use crate::auto::Auto;
use crate::methods::{
    adaptive_k::AdaptiveK, autocut::Autocut, background::BackgroundShare, elbow::Elbow, fixed::Fixed, kneedle::Kneedle,
    language::LanguageThreshold, max_gap::MaxGap, otsu::Otsu, percentile::Percentile, relative::Relative,
    top_score::TopScore,
};
use crate::parse::RuleError;
use crate::rule::{Rule, Scale};
use crate::value::Value;

/// Every method, in the order of the documentation.
pub static METHODS: &[&Method] = &[
    &Auto::METHOD,
    &BackgroundShare::METHOD,
    &MaxGap::METHOD,
    &LanguageThreshold::METHOD,
    &TopScore::METHOD,
    &Kneedle::METHOD,
    &Autocut::METHOD,
    &AdaptiveK::METHOD,
    &Otsu::METHOD,
    &Elbow::METHOD,
    &Relative::METHOD,
    &Percentile::METHOD,
    &Fixed::METHOD,
];

/// The method of that name.
pub fn method(name: &str) -> Option<&'static Method> {
    METHODS.iter().copied().find(|method| method.name == name)
}

/// Makes a rule from settings by name; every other parameter has its default.
pub(crate) type Build = fn(&[(&str, Value)]) -> Result<Box<dyn Rule>, RuleError>;

/// What there is to know of a method without running it.
#[derive(Debug)]
pub struct Method {
    /// Its name, as [`parse`](crate::parse()) takes it.
    pub name: &'static str,
    /// What it keeps, in one line.
    pub summary: &'static str,
    /// Which list of a hybrid search it is made for.
    pub scale: Scale,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Pairs of parameters of which the first may not exceed the second.
    pub(crate) ordered: &'static [(&'static str, &'static str)],
    pub(crate) build: Build,
}

impl Method {
    /// The parameter of that name.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }
}

/// One parameter of a method.
#[derive(Debug)]
pub struct Parameter {
    /// Its name, in a specification and in a configuration file.
    pub name: &'static str,
    /// What it does, in one line.
    pub doc: &'static str,
    /// What it may be.
    pub range: Range,
    pub(crate) default: fn() -> Value,
}

impl Parameter {
    /// The value it has when nothing is said.
    pub fn default(&self) -> Value {
        (self.default)()
    }
}

/// What a parameter may be. Bounds are inclusive.
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
    /// Whether `value` is of the right kind and within the bounds.
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
pub(crate) trait Setting: Sized {
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

/// Declares a method's struct, and from the same lines its defaults, its description and its access by name, so that
/// the documentation of a field is also the line of help.
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
                scale: $crate::rule::Scale::$scale,
                parameters: &[$($crate::method::Parameter {
                    name: stringify!($field),
                    doc: $doc.trim_ascii(),
                    range: $range,
                    default: || $crate::method::Setting::to_value(&{ let value: $kind = $default; value }),
                },)*],
                ordered: &[$((stringify!($low), stringify!($high)),)*],
                build: |settings| Ok(Box::new(Self::with_settings(settings)?)),
            };

            /// The rule with these settings by name; every other parameter has its default.
            ///
            /// # Errors
            /// An unknown parameter, or a value out of range, with what is allowed.
            pub fn with_settings(settings: &[(&str, $crate::value::Value)]) -> Result<Self, $crate::parse::RuleError> {
                #[allow(unused_mut)]
                let mut rule = Self::default();
                for (name, value) in settings {
                    let parameter = $crate::parse::allowed(&Self::METHOD, name, value)?;
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

            fn settings(&self) -> Vec<(&'static str, $crate::value::Value)> {
                vec![$((stringify!($field), $crate::method::Setting::to_value(&self.$field)),)*]
            }

            fn check(&self) -> Result<(), $crate::parse::RuleError> {
                $crate::parse::check(self.method(), &self.settings())
            }

            fn boxed(&self) -> Box<dyn $crate::rule::Rule> {
                Box::new(self.clone())
            }
        }
    };
}
pub(crate) use declare;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_listed_once_with_a_summary_and_documented_parameters() {
        for (index, method) in METHODS.iter().enumerate() {
            assert!(METHODS[..index].iter().all(|other| other.name != method.name), "{} twice", method.name);
            assert!(!method.summary.is_empty() && !method.summary.contains('\n'));
            for parameter in method.parameters {
                assert!(!parameter.doc.is_empty(), "{}:{}", method.name, parameter.name);
                assert!(!parameter.doc.starts_with(' '));
                let default = parameter.default();
                assert!(parameter.range.contains(&default), "{}:{}={default}", method.name, parameter.name);
            }
            for (low, high) in method.ordered {
                assert!(method.parameter(low).is_some() && method.parameter(high).is_some());
            }
        }
    }

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
}
