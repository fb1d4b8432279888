//! The description of a method, which parsing, help, documentation and errors share.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::RuleError;
use crate::nearest::nearest;
use crate::parameter::{Parameter, Range};
use crate::value::Value;

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
