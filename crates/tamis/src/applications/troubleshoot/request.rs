//! The request to troubleshoot a problem.

use crate::Error;
use crate::config::{Allowed, TroubleshootingConfig, Value};

/// A problem to solve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// A problem in words.
    Text {
        /// The problem in one line.
        title: String,
        /// All further details; can be empty.
        body: String,
    },
    /// The problem of an issue of the index, by number. The issue itself is not an answer.
    Issue(u64),
}

/// A problem to be answered from solved issues.
#[derive(Clone, Debug)]
pub struct TroubleshootRequest {
    /// The problem.
    pub trouble: Trouble,
    /// The least similarity of an issue, 0 to 1. `None`: `triage.troubleshooting.similarity_threshold`.
    pub similarity_threshold: Option<f64>,
    /// The most issues returned, 1 to 10. `None`: `triage.troubleshooting.max_results`.
    pub max_results: Option<usize>,
    /// The number of characters shared by the threads, 1,000 to 50,000. `None`:
    /// `triage.troubleshooting.total_budget_chars`.
    pub total_budget_chars: Option<usize>,
    /// The namespace that is searched first. `None`: the index's own, if it has one.
    pub namespace: Option<String>,
    /// The namespaces that the caller may read; nothing else is read. `None`: all.
    pub allowed_namespaces: Option<Vec<String>>,
    /// The entry point recorded for the call. `None`: `troubleshoot`.
    pub entry_point: Option<String>,
}

impl TroubleshootRequest {
    /// Creates a request with the configuration's settings.
    #[must_use]
    pub fn new(trouble: Trouble) -> Self {
        TroubleshootRequest {
            trouble,
            similarity_threshold: None,
            max_results: None,
            total_budget_chars: None,
            namespace: None,
            allowed_namespaces: None,
            entry_point: None,
        }
    }

    /// Creates a request for a problem in words.
    #[must_use]
    pub fn text(title: impl Into<String>, body: impl Into<String>) -> Self {
        Self::new(Trouble::Text { title: title.into(), body: body.into() })
    }

    /// The configuration's settings, overridden by those of the request.
    ///
    /// # Errors
    /// A problem without words, or a value out of range.
    pub(super) fn settings(&self, config: &TroubleshootingConfig) -> Result<TroubleshootingConfig, Error> {
        if let Trouble::Text { title, body } = &self.trouble
            && title.trim().is_empty()
            && body.trim().is_empty()
        {
            return Err(Error::argument("title", format!("{title:?}"), "a title, or a body"));
        }
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
