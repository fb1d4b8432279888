//! Parameters of a method: their names, ranges and defaults.

use std::fmt;

use crate::value::Value;

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
}
