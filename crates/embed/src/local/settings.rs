//! The settings of a model: its pooling and its prefixes, from the files beside its weights.
//!
//! sentence-transformers writes the pooling to `1_Pooling/config.json` and the prefixes, which it calls prompts, to
//! `config_sentence_transformers.json`. Exports by others often lack both. [`SETTINGS_FILE`] then holds what whoever fetched the
//! model decided, and goes before the other two.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::bert::Pooling;

/// The file in a model's directory with settings that go before those of its other files: [`ModelSettings`] as JSON, among
/// other keys.
pub const SETTINGS_FILE: &str = "tamis-model.json";

/// The settings of a model that its weights do not determine. `None` leaves a setting to the next best origin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelSettings {
    /// The way token vectors become the vector of a text: `mean`, `cls`, `lasttoken` or `weightedmean`.
    #[serde(default)]
    pub pooling: Option<String>,
    /// Text before each query.
    #[serde(default)]
    pub query_prefix: Option<String>,
    /// Text before each passage.
    #[serde(default)]
    pub passage_prefix: Option<String>,
}

impl ModelSettings {
    /// Reads `config_sentence_transformers.json`: the prompt `query`, and the first of `document`, `passage` and `corpus`, as
    /// sentence-transformers itself chooses them; otherwise the default prompt, if there is one.
    ///
    /// # Errors
    /// The file is not JSON of that form.
    pub fn of_prompts(json: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Prompts {
            #[serde(default)]
            prompts: Option<BTreeMap<String, Option<String>>>,
            #[serde(default)]
            default_prompt_name: Option<String>,
        }
        let file: Prompts =
            serde_json::from_slice(json).map_err(|error| format!("config_sentence_transformers.json: {error}"))?;
        let prompts = file.prompts.unwrap_or_default();
        let first = |names: &[&str]| {
            let named = names.iter().copied().chain(file.default_prompt_name.as_deref());
            named.filter_map(|name| prompts.get(name).cloned().flatten()).next()
        };
        Ok(ModelSettings {
            pooling: None,
            query_prefix: first(&["query"]),
            passage_prefix: first(&["document", "passage", "corpus"]),
        })
    }

    /// Reads `1_Pooling/config.json`, in the form with one flag for each kind of pooling or with one word.
    ///
    /// # Errors
    /// The file is not JSON of that form, or asks for a pooling that this crate cannot do.
    pub fn of_pooling(json: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Flags {
            pooling_mode: Option<String>,
            #[serde(flatten)]
            others: BTreeMap<String, serde_json::Value>,
        }
        let file: Flags = serde_json::from_slice(json).map_err(|error| format!("1_Pooling/config.json: {error}"))?;
        let flags = file.others.iter().filter(|(_, value)| **value == serde_json::Value::Bool(true));
        let flags = flags.filter_map(|(name, _)| name.strip_prefix("pooling_mode_"));
        let words: Vec<&str> = match &file.pooling_mode {
            Some(word) => vec![word],
            None => flags.collect(),
        };
        let word = match *words.as_slice() {
            // Their lengths differ, which scaling to length one undoes.
            ["mean" | "mean_tokens" | "mean_sqrt_len_tokens"] => "mean",
            ["cls" | "cls_token"] => "cls",
            ["lasttoken"] => "lasttoken",
            ["weightedmean" | "weightedmean_tokens"] => "weightedmean",
            _ => {
                return Err(format!(
                    "1_Pooling/config.json asks for a pooling that is not supported ({}); supported is one of mean, cls, \
                     lasttoken and weightedmean",
                    if words.is_empty() { "none".to_owned() } else { words.join(" and ") }
                ));
            }
        };
        Ok(ModelSettings { pooling: Some(word.to_owned()), ..ModelSettings::default() })
    }

    /// Takes from `other` what is not set here.
    #[must_use]
    pub fn or(self, other: ModelSettings) -> Self {
        ModelSettings {
            pooling: self.pooling.or(other.pooling),
            query_prefix: self.query_prefix.or(other.query_prefix),
            passage_prefix: self.passage_prefix.or(other.passage_prefix),
        }
    }

    /// Returns the pooling; the mean by default.
    pub(super) fn kind(&self) -> Result<Pooling, String> {
        match self.pooling.as_deref() {
            None | Some("mean") => Ok(Pooling::Mean),
            Some("cls") => Ok(Pooling::First),
            Some("lasttoken") => Ok(Pooling::Last),
            Some("weightedmean") => Ok(Pooling::WeightedMean),
            Some(other) => Err(format!(
                "{SETTINGS_FILE} has pooling {other:?}; supported are \"mean\", \"cls\", \"lasttoken\" and \"weightedmean\""
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(pooling: Option<&str>, query: Option<&str>, passage: Option<&str>) -> ModelSettings {
        let [pooling, query_prefix, passage_prefix] = [pooling, query, passage].map(|text| text.map(str::to_owned));
        ModelSettings { pooling, query_prefix, passage_prefix }
    }

    #[test]
    fn prompts_are_chosen_by_name_and_then_by_default() {
        let of = |json: &str| ModelSettings::of_prompts(json.as_bytes()).unwrap();
        assert_eq!(of(r#"{"prompts": {}}"#), ModelSettings::default());
        assert_eq!(of(r#"{"__version__": {}, "prompts": null}"#), ModelSettings::default());
        let two = r#"{"prompts": {"query": "q: ", "passage": "p: ", "corpus": "c: ", "clustering": "x: "}}"#;
        assert_eq!(of(two), settings(None, Some("q: "), Some("p: ")));
        let default = r#"{"prompts": {"document": "", "all": "a: "}, "default_prompt_name": "all"}"#;
        assert_eq!(of(default), settings(None, Some("a: "), Some("")));
        assert!(
            ModelSettings::of_prompts(br#"{"prompts": 5}"#).unwrap_err().contains("config_sentence_transformers.json")
        );
    }

    #[test]
    fn both_forms_of_pooling_are_read() {
        let of = |json: &str| ModelSettings::of_pooling(json.as_bytes()).map(|settings| settings.pooling.unwrap());
        for (json, word) in [
            (r#"{"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": false}"#, "mean"),
            (r#"{"pooling_mode_mean_sqrt_len_tokens": true}"#, "mean"),
            (r#"{"word_embedding_dimension": 8, "pooling_mode_cls_token": true, "include_prompt": true}"#, "cls"),
            (r#"{"pooling_mode_weightedmean_tokens": true}"#, "weightedmean"),
            (r#"{"pooling_mode": "lasttoken"}"#, "lasttoken"),
        ] {
            assert_eq!(of(json).as_deref(), Ok(word), "{json}");
        }
        for (json, named) in [
            ("{}", "none"),
            (r#"{"pooling_mode_max_tokens": true}"#, "max_tokens"),
            (r#"{"pooling_mode_max_tokens": true, "pooling_mode_cls_token": true}"#, "cls_token and max_tokens"),
            ("no", "1_Pooling/config.json"),
        ] {
            assert!(of(json).unwrap_err().contains(named), "{json}");
        }
    }

    #[test]
    fn what_is_set_goes_first() {
        let own = settings(Some("cls"), None, Some(""));
        let other = settings(Some("mean"), Some("q: "), Some("p: "));
        assert_eq!(own.or(other), settings(Some("cls"), Some("q: "), Some("")));
        assert!(settings(Some("max"), None, None).kind().unwrap_err().contains("\"max\""));
    }
}
