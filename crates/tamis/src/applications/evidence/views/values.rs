//! Converts the values given for a view's parameters.

use super::header::{ParameterType, ViewParameter};
use crate::dates::moment;
use jiff::{Timestamp, tz::TimeZone};
use tamis_store::SqlValue;

/// Converts a value for the statement; the error names the values allowed. A number may be given as text, as on a
/// command line.
pub(super) fn value_of(parameter: &ViewParameter, given: &SqlValue, now: Timestamp) -> Result<SqlValue, String> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    match (parameter.kind, given) {
        (ParameterType::Text, SqlValue::Text(text)) => Ok(SqlValue::Text(text.clone())),
        (ParameterType::Text, SqlValue::Integer(number)) => Ok(SqlValue::Text(number.to_string())),
        (ParameterType::Text, _) => Err("a text".to_owned()),
        (ParameterType::Integer, SqlValue::Integer(number)) => Ok(SqlValue::Integer(*number)),
        (ParameterType::Integer, SqlValue::Text(text)) => {
            text.trim().parse().map(SqlValue::Integer).map_err(|_| "a whole number".to_owned())
        }
        (ParameterType::Integer, _) => Err("a whole number".to_owned()),
        (ParameterType::Number, SqlValue::Integer(number)) => Ok(SqlValue::Real(*number as f64)),
        (ParameterType::Number, SqlValue::Real(number)) if number.is_finite() => Ok(SqlValue::Real(*number)),
        (ParameterType::Number, SqlValue::Text(text)) => {
            number(text).map(SqlValue::Real).ok_or_else(|| "a number".to_owned())
        }
        (ParameterType::Number, _) => Err("a number".to_owned()),
        (ParameterType::Time, SqlValue::Text(text)) => {
            let moment = moment(text, &now.to_zoned(TimeZone::UTC)).map_err(|error| format!("a time ({error})"))?;
            Ok(SqlValue::Text(moment.to_string()))
        }
        (ParameterType::Time, _) => Err("a date or a time".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_of_their_type() {
        let now = "2026-11-22T12:00:00Z".parse().expect("a time");
        let value = |kind, given: SqlValue| {
            let parameter =
                ViewParameter { name: "x".into(), kind, default: None, required: false, meaning: "".into() };
            value_of(&parameter, &given, now)
        };
        let text = |text: &str| SqlValue::Text(text.to_owned());
        use ParameterType::{Integer, Number, Text, Time};
        assert_eq!(value(Text, text("' OR 1=1 --")), Ok(text("' OR 1=1 --")));
        assert_eq!(value(Text, SqlValue::Integer(7)), Ok(text("7")));
        assert_eq!(value(Integer, text("7")), Ok(SqlValue::Integer(7)));
        assert_eq!(value(Number, SqlValue::Integer(1)), Ok(SqlValue::Real(1.0)));
        assert_eq!(value(Number, text("0.25")), Ok(SqlValue::Real(0.25)));
        assert_eq!(value(Time, text("now")), Ok(text("2026-11-22T12:00:00Z")));
        assert_eq!(value(Time, text("2024-06-30")), Ok(text("2024-06-30T00:00:00Z")));
        for (kind, given) in [
            (Text, SqlValue::Real(0.5)),
            (Integer, SqlValue::Real(0.5)),
            (Integer, text("seven")),
            (Number, text("NaN")),
            (Number, SqlValue::Real(f64::INFINITY)),
            (Time, text("soon")),
            (Time, SqlValue::Integer(2024)),
        ] {
            assert!(value(kind, given.clone()).is_err(), "{kind:?} {given:?}");
        }
    }
}
