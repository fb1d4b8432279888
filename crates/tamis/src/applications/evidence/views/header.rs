//! The header of a view: the block at the top of its file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use tamis_store::SqlValue;

/// The most optional parameters of a view: each doubles the number of texts that its template can produce.
const MOST_OPTIONAL: usize = 8;

/// A column of a view.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ViewColumn {
    /// Its name.
    pub name: String,
    /// The meaning of its values.
    pub meaning: String,
}

/// A parameter of a view.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ViewParameter {
    /// Its name.
    pub name: String,
    /// The type of its values.
    #[serde(rename = "type")]
    pub kind: ParameterType,
    /// The value used if none is given; null: none.
    pub default: Option<SqlValue>,
    /// True if a value must be given.
    pub required: bool,
    /// The effect of the parameter.
    pub meaning: String,
}

/// The type of a parameter's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ParameterType {
    /// Any text.
    Text,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A date or a time in any common form.
    Time,
}

/// The block at the top of a view's file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Header {
    pub answers: String,
    pub columns: Vec<ViewColumn>,
    pub parameters: Vec<ViewParameter>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    answers: String,
    #[serde(default)]
    columns: Vec<(String, String)>,
    #[serde(default)]
    parameters: Vec<RawParameter>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawParameter {
    name: String,
    #[serde(rename = "type")]
    kind: ParameterType,
    #[serde(default)]
    default: Option<SqlValue>,
    is: String,
}

impl Header {
    /// Reads the block at the top of `source`. The error is one line.
    pub fn read(source: &str) -> Result<Header, String> {
        let block = source.strip_prefix("{#").and_then(|rest| rest.split_once("#}"));
        let Some((block, _)) = block else {
            return Err("must open with {# answers = \"…\" … #}, which says what the view answers".to_owned());
        };
        // The block begins on the first line of the file, so line numbers agree.
        let raw: Raw = toml::from_str(block).map_err(|error| {
            let line = error.span().map_or(1, |span| 1 + block[..span.start.min(block.len())].matches('\n').count());
            format!("line {line}: {}", error.message())
        })?;
        let mut known = BTreeSet::new();
        for parameter in &raw.parameters {
            if !is_name(&parameter.name) {
                return Err(format!("parameter {:?}: must be letters, digits and underscores", parameter.name));
            }
            if !known.insert(&parameter.name) {
                return Err(format!("parameter {}: is there twice", parameter.name));
            }
        }
        if raw.parameters.iter().filter(|parameter| parameter.default.is_none()).count() > MOST_OPTIONAL {
            return Err(format!("has more than {MOST_OPTIONAL} parameters without a default"));
        }
        let column = |(name, meaning)| ViewColumn { name, meaning };
        let parameter = |RawParameter { name, kind, default, is }| ViewParameter {
            name,
            kind,
            default,
            required: false,
            meaning: is,
        };
        Ok(Header {
            answers: raw.answers,
            columns: raw.columns.into_iter().map(column).collect(),
            parameters: raw.parameters.into_iter().map(parameter).collect(),
        })
    }
}

/// True if a text is a valid name for a view or a parameter.
pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.len() <= 64
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_is_read_and_what_is_wrong_has_its_line() {
        let good = "{#\nanswers = \"a\"\nparameters = [{ name = \"n\", type = \"integer\", default = 3, is = \"b\" }]\n#}\nSELECT 1";
        let header = Header::read(good).expect("a header");
        assert_eq!(header.parameters[0].default, Some(SqlValue::Integer(3)));
        let error = |source: &str| Header::read(source).expect_err("refused");
        assert!(error("SELECT 1").contains("must open with {#"));
        assert!(error(&good.replace("integer", "whole")).starts_with("line 3: unknown variant `whole`"));
        assert!(error(&good.replace("answers =", "answer =")).starts_with("line 2: unknown field `answer`"));
        assert!(error(&good.replace("\"n\"", "\"n-1\"")).contains("letters, digits"));
        let twice = good.replace("[{", "[{ name = \"n\", type = \"text\", is = \"c\" }, {");
        assert!(error(&twice).contains("is there twice"));
    }
}
