//! Checks the model names in a key's value.

use crate::config::declare::Entry;
use crate::config::error::{ConfigError, Source};
use crate::config::models::{BUILT_IN, Endpoint, ModelDefinition, Provider};
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

/// Checks the name of a chat model, which is always at an endpoint, by the same rule of trust; `None` for `off`.
pub(super) fn chat(entry: &Entry<'_>, name: String) -> Result<Option<String>, ConfigError> {
    let provider = entry.settings.models.get(&name).map(|definition| &definition.provider);
    match (name.as_str(), provider) {
        ("off", _) => Ok(None),
        (_, Some(Provider::Openai(_))) => one(entry, name).map(Some),
        _ => {
            let is_chat = |definition: &&ModelDefinition| matches!(definition.provider, Provider::Openai(_));
            let known = entry.settings.models.iter().filter(|(_, definition)| is_chat(definition));
            let known: Vec<&str> = known.map(|(name, _)| name.as_str()).chain(["off"]).collect();
            let allowed = format!(
                "one of {}, or defined as [models.{}] with provider = \"openai\"",
                known.join(", "),
                if BUILT_IN.contains(&name.as_str()) { "NAME" } else { &name }
            );
            Err(entry.refuse(&*name, allowed))
        }
    }
}

/// Checks each name of a list, as [`one`] does.
pub(super) fn all(entry: &Entry<'_>, names: Vec<String>) -> Result<Vec<String>, ConfigError> {
    names.into_iter().map(|name| one(entry, name)).collect()
}
