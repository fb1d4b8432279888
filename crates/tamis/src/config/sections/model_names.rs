//! Checks the model names in a key's value.

use crate::config::declare::Entry;
use crate::config::error::{ConfigError, Source};
use crate::config::models::{BUILT_IN, Endpoint, Provider};
use crate::config::trust;

/// Refuses an unknown name, and a project's choice of a model that sends text away unless the user trusts the project's
/// file.
pub(super) fn one(entry: &Entry<'_>, name: String) -> Result<String, ConfigError> {
    if BUILT_IN.contains(&name.as_str()) {
        return Ok(name);
    }
    let settings = entry.settings;
    let Some(definition) = settings.models.get(&name) else {
        let known: Vec<&str> = settings.models.keys().map(String::as_str).chain(BUILT_IN).collect();
        return Err(entry.refuse(&*name, format!("one of {}, or defined as [models.{name}]", known.join(", "))));
    };
    let from_project =
        [&definition.source, &entry.setting.source].iter().any(|source| matches!(source, Source::Project(_)));
    match (&definition.provider, &settings.project_file) {
        (Provider::Openai(Endpoint { url, .. }), Some(path))
            if from_project && !settings.user_directory.as_ref().is_some_and(|user| trust::is_trusted(user, path)) =>
        {
            Err(ConfigError::Untrusted { path: path.clone(), model: name, url: url.clone() })
        }
        _ => Ok(name),
    }
}

/// Checks each name of a list, as [`one`] does.
pub(super) fn all(entry: &Entry<'_>, names: Vec<String>) -> Result<Vec<String>, ConfigError> {
    names.into_iter().map(|name| one(entry, name)).collect()
}
