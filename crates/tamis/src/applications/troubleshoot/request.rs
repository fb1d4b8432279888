//! The request to troubleshoot a problem.

use crate::Error;
use crate::config::{Allowed, TroubleshootingConfig, Value};
#[cfg(feature = "clap")]
use crate::flags::{share, whole};
use schemars::JsonSchema;
use serde::Deserialize;

/// A problem to be answered from solved issues: a title, a body or both, or an issue of the index.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct TroubleshootRequest {
    /// The problem in one line, like the title of a report (default: none).
    #[schemars(length(max = 1000))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TITLE"))]
    pub title: Option<String>,
    /// Everything known about it: error messages, steps taken, versions (default: nothing).
    #[schemars(length(max = 50_000))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TEXT", requires = "title", conflicts_with = "body_file"))]
    pub body: Option<String>,
    /// Number of an issue of the index, in place of a title and a body; the issue itself is no answer.
    #[schemars(range(min = 1, max = 9_000_000_000_000_i64))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub issue: Option<u64>,
    /// Least similarity of a solved issue, 0 to 1 (default: triage.troubleshooting.similarity_threshold, by the model).
    #[schemars(range(min = 0.0, max = 1.0))]
    #[serde(rename = "threshold")]
    #[cfg_attr(feature = "clap", arg(long = "threshold", value_name = "SIMILARITY", value_parser = share, allow_negative_numbers = true))]
    pub similarity_threshold: Option<f64>,
    /// Most solved issues, 1 to 10 (default: triage.troubleshooting.max_results, 3).
    #[schemars(range(min = 1, max = 10))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = whole::<1, 10>, allow_negative_numbers = true))]
    pub max_results: Option<usize>,
    /// Characters shared by the threads, 1000 to 50000 (default: triage.troubleshooting.total_budget_chars, 12000).
    #[schemars(range(min = 1000, max = 50_000))]
    #[serde(rename = "budget")]
    #[cfg_attr(feature = "clap", arg(long = "budget", value_name = "CHARACTERS", value_parser = whole::<1000, 50_000>, allow_negative_numbers = true))]
    pub total_budget_chars: Option<usize>,
    /// Repository to search first (default: this one, or all).
    #[schemars(length(min = 1, max = 200))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME"))]
    pub namespace: Option<String>,
    /// The namespaces that the caller may read; nothing else is read. `None`: all.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub allowed_namespaces: Option<Vec<String>>,
    /// The entry point recorded for the call. `None`: `troubleshoot`.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub entry_point: Option<String>,
}

impl TroubleshootRequest {
    /// Creates a request for a problem in words, with the configuration's settings.
    #[must_use]
    pub fn text(title: impl Into<String>, body: impl Into<String>) -> Self {
        TroubleshootRequest { title: Some(title.into()), body: Some(body.into()), ..TroubleshootRequest::default() }
    }

    /// Creates a request for the problem of an issue of the index, by number.
    #[must_use]
    pub fn issue(number: u64) -> Self {
        TroubleshootRequest { issue: Some(number), ..TroubleshootRequest::default() }
    }

    /// The configuration's settings, overridden by those of the request.
    ///
    /// # Errors
    /// A problem without words, or a value out of range.
    pub(super) fn settings(&self, config: &TroubleshootingConfig) -> Result<TroubleshootingConfig, Error> {
        described("issue", self.issue, self.title.as_deref(), self.body.as_deref())?;
        let integer =
            |value: Option<usize>| value.map(|value| Value::Integer(i64::try_from(value).unwrap_or(i64::MAX)));
        in_range("similarity_threshold", self.similarity_threshold.map(Value::Number))?;
        in_range("max_results", integer(self.max_results))?;
        in_range("total_budget_chars", integer(self.total_budget_chars))?;
        Ok(TroubleshootingConfig {
            similarity_threshold: self.similarity_threshold.or(config.similarity_threshold),
            max_results: self.max_results.unwrap_or(config.max_results),
            total_budget_chars: self.total_budget_chars.unwrap_or(config.total_budget_chars),
            ..*config
        })
    }
}

/// Checks that a request has the number of an issue, or its words, and not both.
///
/// # Errors
/// It has neither, or both. `number` is the argument of the number.
pub(crate) fn described(
    number: &'static str,
    issue: Option<u64>,
    title: Option<&str>,
    body: Option<&str>,
) -> Result<(), Error> {
    let has_words = title.into_iter().chain(body).any(|text| !text.trim().is_empty());
    match issue {
        Some(issue) if has_words => Err(Error::argument(number, issue.to_string(), "without a title and a body")),
        None if !has_words => {
            Err(Error::argument("title", format!("{:?}", title.unwrap_or_default()), "a title, or a body"))
        }
        _ => Ok(()),
    }
}

/// Rejects a value that the configuration would reject too.
fn in_range(name: &'static str, value: Option<Value>) -> Result<(), Error> {
    let key = format!("triage.troubleshooting.{name}");
    let allowed =
        crate::config::keys().into_iter().find(|known| known.name == key).map_or(Allowed::Text, |key| key.allowed);
    match value {
        Some(value) if !allowed.takes(&value) => Err(Error::argument(name, value.to_string(), allowed.to_string())),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn what_is_asked_goes_by_the_same_ranges_as_the_configuration() {
        let config = Config::built_in().triage.troubleshooting;
        let asked = TroubleshootRequest::text("It fails", "");
        assert_eq!(asked.settings(&config).ok(), Some(config));
        let more = TroubleshootRequest { max_results: Some(10), ..asked.clone() };
        assert_eq!(more.settings(&config).map(|settings| settings.max_results).ok(), Some(10));
        let wrong = [
            (TroubleshootRequest { max_results: Some(0), ..asked.clone() }, "max_results = 0: must be 1 to 10"),
            (
                TroubleshootRequest { similarity_threshold: Some(f64::NAN), ..asked.clone() },
                "similarity_threshold = NaN: must be \"auto\", or 0 to 1",
            ),
            (TroubleshootRequest { total_budget_chars: Some(usize::MAX), ..asked.clone() }, "must be 1000 to 50000"),
            (TroubleshootRequest::text(" ", "\n"), "title = \" \": must be a title, or a body"),
        ];
        for (request, message) in wrong {
            let error = request.settings(&config).expect_err("refused").to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
