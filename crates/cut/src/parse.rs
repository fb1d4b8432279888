//! Rules from text and from names and values.

use thiserror::Error;

use crate::cut::Value;
use crate::method::{Parameter, Range, nearest};
use crate::methods::{METHODS, Registered, registered};
use crate::rule::Rule;

/// A rule from `METHOD[:PARAM=VALUE,…]`.
///
/// Names may have `-` for `_`, and spaces around them are ignored. Parameters that are not given have their defaults.
///
/// ```
/// let rule = tamis_cut::parse("background:lambda=0.7")?;
/// assert_eq!(rule.to_string(), "background:lambda=0.7");
/// assert_eq!(
///     tamis_cut::parse("kneedle:pick=best").unwrap_err().to_string(),
///     "kneedle:pick must be one of strongest, first and is best",
/// );
/// # Ok::<(), tamis_cut::RuleError>(())
/// ```
///
/// # Errors
/// [`RuleError`] names what is wrong, the value, and what is allowed.
pub fn parse(specification: &str) -> Result<Box<dyn Rule>, RuleError> {
    let (name, settings) = match specification.split_once(':') {
        Some((name, settings)) => (name, Some(settings)),
        None => (specification, None),
    };
    let found = find(name)?;
    let method = found.method;
    let mut values: Vec<(&str, Value)> = Vec::new();
    for part in settings.unwrap_or_default().split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let Some((name, text)) = part.split_once('=') else {
            return Err(RuleError::NotAssigned {
                method: method.name,
                part: part.to_string(),
                allowed: method.parameter_names(),
            });
        };
        let parameter = method.find_parameter(name)?;
        values.push((parameter.name, parse_value(parameter, text.trim())));
    }
    with_settings(found, &values)
}

/// A rule from a method's name and its settings by name, as a configuration file holds them.
///
/// ```
/// use tamis_cut::{Value, build};
///
/// let rule = build("max_gap", [("min_gap", Value::from(0.08)), ("adaptive", Value::from(true))])?;
/// assert_eq!(rule.name(), "max_gap");
/// # Ok::<(), tamis_cut::RuleError>(())
/// ```
///
/// # Errors
/// [`RuleError`] names what is wrong, the value, and what is allowed.
pub fn build<'a>(
    method: &str,
    settings: impl IntoIterator<Item = (&'a str, Value)>,
) -> Result<Box<dyn Rule>, RuleError> {
    let settings: Vec<(&str, Value)> = settings.into_iter().collect();
    with_settings(find(method)?, &settings)
}

fn with_settings(found: Registered, settings: &[(&str, Value)]) -> Result<Box<dyn Rule>, RuleError> {
    let mut seen = Vec::with_capacity(settings.len());
    for (name, _) in settings {
        let parameter = found.method.find_parameter(name)?.name;
        if seen.contains(&parameter) {
            return Err(RuleError::Repeated { method: found.method.name, parameter });
        }
        seen.push(parameter);
    }
    (found.build)(settings)
}

fn find(name: &str) -> Result<Registered, RuleError> {
    let wanted = name.trim().replace('-', "_");
    registered().find(|entry| entry.method.name == wanted).ok_or_else(|| {
        let allowed: Vec<&'static str> = METHODS.iter().map(|method| method.name).collect();
        RuleError::UnknownMethod {
            name: name.trim().to_string(),
            nearest: with_number(&wanted).or_else(|| nearest(&wanted, allowed.iter().copied()).map(str::to_string)),
            allowed,
        }
    })
}

/// `METHOD:PARAM=NUMBER` for `METHOD_NUMBER`.
fn with_number(name: &str) -> Option<String> {
    let (method, number) = name.rsplit_once(['_', '=', '@'])?;
    let method = METHODS.iter().find(|known| known.name == method)?;
    number.parse::<f64>().ok().filter(|number| number.is_finite())?;
    Some(format!("{}:{}={number}", method.name, method.parameters.first()?.name))
}

/// The text as a value of the parameter's kind, or else as text, which the range then refuses by name.
fn parse_value(parameter: &Parameter, text: &str) -> Value {
    let value = match parameter.range {
        Range::Number { .. } => text.parse().ok().map(Value::Number),
        Range::Integer { .. } => text.parse().ok().map(Value::Integer),
        Range::Flag => text.parse().ok().map(Value::Flag),
        Range::Choice(_) => None,
    };
    value.unwrap_or_else(|| Value::from(text.to_string()))
}

// Errors in a method's name or settings, each with what is allowed.

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

#[cfg(test)]
mod tests {
    use super::*;

    fn message(specification: &str) -> String {
        parse(specification).unwrap_err().to_string()
    }

    #[test]
    fn every_method_parses_bare_and_reads_back_what_it_prints() {
        for method in METHODS {
            let rule = parse(method.name).unwrap();
            assert_eq!((rule.name(), rule.scale()), (method.name, method.scale));
            rule.check().unwrap();
            assert_eq!(METHODS.iter().filter(|other| other.name == method.name).count(), 1, "{}", method.name);
            for ((name, value), parameter) in rule.settings().iter().zip(method.parameters) {
                assert_eq!((*name, value), (parameter.name, &parameter.default()));
            }
            let again = parse(&rule.to_string()).unwrap();
            assert_eq!(format!("{again:?}"), format!("{rule:?}"));
        }
    }

    #[test]
    fn a_number_after_a_method_is_offered_as_its_parameter() {
        let cases = [("fixed-5", "fixed:k=5"), ("fixed_20", "fixed:k=20"), ("background-0.7", "background:lambda=0.7")];
        for (given, meant) in cases {
            let message = message(given);
            assert!(message.contains(&format!("(did you mean \"{meant}\"?)")), "{message}");
            parse(meant).unwrap();
        }
        assert!(message("fixed-fitted").contains("unknown cut method \"fixed-fitted\""));
    }

    #[test]
    fn settings_are_taken_in_any_order_with_spaces_and_hyphens() {
        let rule = parse(" kneedle : pick = first , max-results=7,sensitivity=2 ").unwrap();
        assert_eq!(rule.to_string(), "kneedle:sensitivity=2,min_results=3,max_results=7,pick=first");
        let rule = parse("max-gap:adaptive=false,configured=.4").unwrap();
        assert_eq!((rule.name(), rule.settings().last()), ("max_gap", Some(&("adaptive", Value::from(false)))));
        assert_eq!(parse("otsu:").unwrap().to_string(), "otsu");
    }

    #[test]
    fn an_unknown_method_or_parameter_lists_what_there_is() {
        for (name, beginning) in [
            ("kneedel", "unknown cut method \"kneedel\" (did you mean \"kneedle\"?); the methods are "),
            ("", "unknown cut method \"\"; the methods are auto, background"),
        ] {
            let text = message(name);
            assert!(text.starts_with(beginning), "{text}");
            assert!(METHODS.iter().all(|method| text.contains(method.name)), "{text}");
        }
        let told = "cut method autocut has no parameter \"jump\" (did you mean \"jumps\"?); its parameters are jumps";
        assert_eq!(message("autocut:jump=2"), told);
        assert_eq!(message("otsu:k=2"), "cut method otsu has no parameter \"k\"; it takes none");
        let told =
            "expected PARAM=VALUE in the settings of cut method relative and got \"0.5\"; its parameters are share";
        assert_eq!(message("relative:0.5"), told);
    }

    #[test]
    fn a_value_out_of_range_names_parameter_value_and_range() {
        for (specification, text) in [
            ("background:lambda=1.5", "background:lambda must be a number from 0 to 1 and is 1.5"),
            ("background:lambda=nan", "background:lambda must be a number from 0 to 1 and is NaN"),
            ("background:lambda=", "background:lambda must be a number from 0 to 1 and is \"\""),
            ("fixed:k=0", "fixed:k must be a whole number from 1 to 1000000 and is 0"),
            ("fixed:k=-3", "fixed:k must be a whole number from 1 to 1000000 and is -3"),
            ("fixed:k=2.5", "fixed:k must be a whole number from 1 to 1000000 and is \"2.5\""),
            ("max_gap:adaptive=yes", "max_gap:adaptive must be true or false and is \"yes\""),
            ("kneedle:pick=best", "kneedle:pick must be one of strongest, first and is best"),
            ("fixed:k=1,k=2", "parameter k of cut method fixed is given twice; give it once"),
            ("max_gap:floor=0.8", "max_gap:floor (0.8) must not exceed ceiling (0.65)"),
            ("kneedle:min_results=60", "kneedle:min_results (60) must not exceed max_results (50)"),
        ] {
            assert_eq!(message(specification), text);
        }
    }

    #[test]
    fn a_configuration_file_gives_the_same_rules_and_the_same_errors() {
        let rule = build("top_score", [("floor", Value::from(0.2)), ("high_bound", Value::Integer(1))]).unwrap();
        assert_eq!(rule.settings()[0], ("high_bound", Value::from(1.0)));
        assert_eq!(rule.settings()[4], ("floor", Value::from(0.2)));
        let error = build("fixed", [("k", Value::from("ten"))]).unwrap_err();
        assert_eq!(error.to_string(), "fixed:k must be a whole number from 1 to 1000000 and is \"ten\"");
        assert!(matches!(build("fixed", [("n", Value::from(1.0))]), Err(RuleError::UnknownParameter { .. })));
    }

    #[test]
    fn structs_filled_in_by_hand_are_checked_too() {
        use crate::{BackgroundShare, Settings};
        let rule: BackgroundShare = serde_json::from_str(r#"{"lambda": 7}"#).unwrap();
        assert_eq!(rule.check().unwrap_err().to_string(), "background:lambda must be a number from 0 to 1 and is 7");
        assert!(serde_json::from_str::<BackgroundShare>(r#"{"lamda": 0.7}"#).is_err());
    }
}
