//! Values of diagnostics and parameters.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A flag, whole number, number or text. It serializes as the bare value (`true`, `3`, `0.65`, `"strongest"`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// `true` or `false`.
    Flag(bool),
    /// A whole number: a count, or a position counted from 0.
    Integer(i64),
    /// A number. Diagnostics hold finite ones only.
    Number(f64),
    /// A word.
    Text(Cow<'static, str>),
}

impl Value {
    /// The value as a number; whole numbers convert.
    pub fn as_number(&self) -> Option<f64> {
        match *self {
            Value::Number(number) => Some(number),
            Value::Integer(integer) => Some(integer as f64),
            _ => None,
        }
    }

    /// The value as a whole number.
    pub fn as_integer(&self) -> Option<i64> {
        match *self {
            Value::Integer(integer) => Some(integer),
            _ => None,
        }
    }

    /// The value as a flag.
    pub fn as_flag(&self) -> Option<bool> {
        match *self {
            Value::Flag(flag) => Some(flag),
            _ => None,
        }
    }

    /// The value as a word.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Flag(flag) => flag.fmt(f),
            Value::Integer(integer) => integer.fmt(f),
            Value::Number(number) => number.fmt(f),
            Value::Text(text) => text.fmt(f),
        }
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Value::Flag(flag)
    }
}

impl From<usize> for Value {
    fn from(count: usize) -> Self {
        Value::Integer(i64::try_from(count).unwrap_or(i64::MAX))
    }
}

impl From<i64> for Value {
    fn from(integer: i64) -> Self {
        Value::Integer(integer)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Value::Number(number)
    }
}

impl From<&'static str> for Value {
    fn from(text: &'static str) -> Self {
        Value::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(Cow::Owned(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_serialize_bare_and_come_back() {
        let values = [Value::from(true), Value::from(3_usize), Value::from(0.5), Value::from("first")];
        let json = serde_json::to_string(&values).unwrap();
        assert_eq!(json, r#"[true,3,0.5,"first"]"#);
        assert_eq!(serde_json::from_str::<Vec<Value>>(&json).unwrap(), values);
    }

    #[test]
    fn each_reading_takes_its_own_kind_and_numbers_take_integers() {
        assert_eq!(Value::from(3_usize).as_number(), Some(3.0));
        assert_eq!(Value::from(3.0).as_integer(), None);
        assert_eq!(Value::from(false).as_flag(), Some(false));
        assert_eq!(Value::from(String::from("first")).as_text(), Some("first"));
        assert_eq!(Value::from("first").as_number(), None);
    }
}
