//! `[search.calibrated]`: the thresholds that `tamis calibrate` measured, and the model that they hold for.

use super::error::{ConfigError, Source};
use super::threshold_language::{nearest_language, threshold_language};
use jiff::Timestamp;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::path::Path;
use tamis_text::Language;

/// The names in the table besides those of languages.
pub(super) const PROVIDER: &str = "provider";
pub(super) const MODEL: &str = "model";
pub(super) const CALIBRATED_AT: &str = "calibrated_at";

/// `[search.calibrated]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CalibratedConfig {
    /// The provider of the model: `static`, `mini-lm`, `local` or `remote`.
    pub provider: String,
    /// The model's identifier.
    pub model: String,
    /// The time of the measurement, if the file gives it.
    #[serde(serialize_with = "as_text", skip_serializing_if = "Option::is_none")]
    pub calibrated_at: Option<Timestamp>,
    /// Thresholds, -1 to 1, by the name of the language.
    #[serde(flatten)]
    pub thresholds: BTreeMap<String, f64>,
    /// The file that holds the table.
    #[serde(skip)]
    pub source: Source,
}

fn as_text<S: Serializer>(time: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => serializer.collect_str(time),
        None => serializer.serialize_none(),
    }
}

/// Takes the table out of a file's content. `None` if it is missing or empty.
pub(super) fn take(
    document: &mut toml::Table,
    path: &Path,
    source: &Source,
) -> Result<Option<CalibratedConfig>, ConfigError> {
    let wrong = |key: &str, value: &toml::Value, allowed: &str| {
        let key = format!("search.calibrated{}{key}", if key.is_empty() { "" } else { "." });
        ConfigError::in_file(path, key, value.to_string(), allowed)
    };
    let search = document.get_mut("search").and_then(toml::Value::as_table_mut);
    let mut table = match search.and_then(|search| search.remove("calibrated")) {
        None => return Ok(None),
        Some(toml::Value::Table(table)) if table.is_empty() => return Ok(None),
        Some(toml::Value::Table(table)) => table,
        Some(other) => return Err(wrong("", &other, "the table that `tamis calibrate` writes")),
    };
    let mut text = |name: &str| match table.remove(name) {
        Some(toml::Value::String(text)) if !text.is_empty() => Ok(text),
        Some(other) => Err(wrong(name, &other, "a text")),
        None => {
            Err(wrong(name, &"".into(), "set to what the thresholds were measured with; run `tamis calibrate` again"))
        }
    };
    let (provider, model) = (text(PROVIDER)?, text(MODEL)?);
    let time = |value: toml::Value| {
        match &value {
            toml::Value::String(text) => text.parse().ok(),
            toml::Value::Datetime(time) => time.to_string().parse().ok(),
            _ => None,
        }
        .ok_or_else(|| wrong(CALIBRATED_AT, &value, "a time such as \"2026-01-31T12:00:00Z\""))
    };
    let calibrated_at = table.remove(CALIBRATED_AT).map(time).transpose()?;

    let mut thresholds = BTreeMap::new();
    for (name, value) in table {
        let language = Language::resolve(&name).ok_or_else(|| ConfigError::UnknownKey {
            source_name: path.display().to_string(),
            key: format!("search.calibrated.{name}"),
            nearest: nearest_language(&name).map(|near| format!("search.calibrated.{near}")),
        })?;
        let number = match &value {
            toml::Value::Integer(number) => Some(*number as f64),
            toml::Value::Float(number) => Some(*number),
            _ => None,
        };
        let number = number.filter(|number| (-1.0..=1.0).contains(number));
        let number = number.ok_or_else(|| wrong(&name, &value, "-1 to 1"))?;
        if thresholds.insert(threshold_language(language.name).to_owned(), number).is_some() {
            return Err(wrong(&name, &value, "left out, since the table has this threshold under another name too"));
        }
    }
    Ok(Some(CalibratedConfig { provider, model, calibrated_at, thresholds, source: source.clone() }))
}
