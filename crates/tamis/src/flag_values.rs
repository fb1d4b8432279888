//! Values of the flags that requests declare; errors say what is allowed.

use std::error::Error;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use jiff::Timestamp;
use tamis_text::Language;

use crate::search::MetadataFilter;
use crate::words;

/// A whole number in a closed range.
///
/// # Errors
/// The text is another one. So for all functions here.
pub fn whole<const LOW: usize, const HIGH: usize>(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (LOW..=HIGH).contains(number));
    number.ok_or_else(|| match HIGH {
        usize::MAX => format!("must be a whole number of at least {LOW}"),
        _ => format!("must be a whole number from {LOW} to {HIGH}"),
    })
}

/// A finite number.
///
/// # Errors
/// See [`whole`].
pub fn finite(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| "must be a finite number".into())
}

/// A share, from 0 to 1.
///
/// # Errors
/// See [`whole`].
pub fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "must be a number from 0 to 1".into())
}

/// The name or file extension of a language.
///
/// # Errors
/// See [`whole`].
pub fn language(text: &str) -> Result<String, String> {
    match Language::resolve(text) {
        Some(_) => Ok(text.to_owned()),
        None => Err(format!("must be {}", words::allowed(text))),
    }
}

/// A name, or several separated by commas, none of them empty.
///
/// # Errors
/// See [`whole`].
pub fn name(text: &str) -> Result<String, String> {
    let empty = text.split(',').any(|name| name.trim().is_empty());
    if empty { Err("must not be empty".into()) } else { Ok(text.trim().to_owned()) }
}

/// Labels of which one is enough, separated by commas.
pub(crate) fn labels(text: &str) -> Result<Vec<String>, String> {
    name(text).map(|text| crate::search::label_group(&text))
}

/// A moment as people write it, from now and in the user's time zone.
///
/// # Errors
/// See [`whole`].
pub fn moment(text: &str) -> Result<Timestamp, String> {
    crate::dates::moment(text, &crate::dates::now()).map_err(|error| error.to_string())
}

/// One of some words, which name the values of a type.
pub(crate) fn word<T>(names: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err: Into<Box<dyn Error + Send + Sync>>> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names).try_map(|word| word.parse::<T>())
}

/// A type of issue with its aliases.
pub(crate) fn issue_type() -> impl TypedValueParser<Value = String> {
    let types = MetadataFilter::TYPES.map(|name| match name {
        "pull_request" => PossibleValue::new(name).aliases(["pr", "pull-request"]),
        name => PossibleValue::new(name),
    });
    PossibleValuesParser::new(types).map(|text| crate::search::issue_type(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_outside_its_range_names_the_range() {
        let limit = whole::<1, 1000>;
        assert_eq!(limit("1000"), Ok(1000));
        for wrong in ["0", "1001", "-1", "ten", "", "1.5"] {
            assert_eq!(limit(wrong), Err("must be a whole number from 1 to 1000".into()), "{wrong}");
        }
        assert!(finite("inf").is_err() && finite("x").is_err());
        assert_eq!(finite("-0.5"), Ok(-0.5));
        assert_eq!(whole::<1, { usize::MAX }>("0"), Err("must be a whole number of at least 1".into()));
    }

    #[test]
    fn moments_are_those_of_the_library() {
        assert_eq!(moment("2026-11-01T08:30Z").map(|moment| moment.to_string()), Ok("2026-11-01T08:30:00Z".into()));
        assert!(moment("-7d").is_err_and(|error| error.contains("how long ago (7d")));
    }
}
