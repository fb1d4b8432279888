//! Checks the model names in a key's value.

use crate::config::declare::Entry;
use crate::config::error::{ConfigError, Source};
use crate::config::models::{BUILT_IN, ModelDefinition, Provider};

/// Refuses an unknown name, a reranker, and a project's choice of a model that sends text away unless the user trusts the
/// project's file.
pub(crate) fn one(entry: &Entry<'_>, name: String) -> Result<String, ConfigError> {
    if BUILT_IN.contains(&name.as_str()) {
        return Ok(name);
    }
    match entry.settings.models.get(&name) {
        Some(definition) if !definition.provider.is_reranker() => trusted(entry, definition, name),
        Some(_) => {
            Err(entry.refuse(&*name, format!("a model that makes vectors; [models.{name}] is one for rerank.model")))
        }
        None => {
            let known = defined(entry, |provider| !provider.is_reranker()).chain(BUILT_IN);
            let known: Vec<&str> = known.collect();
            Err(entry.refuse(&*name, format!("one of {}, or defined as [models.{name}]", known.join(", "))))
        }
    }
}

/// Checks the name of a reranker by the same rule of trust; `None` for `off`.
pub(crate) fn reranker(entry: &Entry<'_>, name: String) -> Result<Option<String>, ConfigError> {
    if name == "off" {
        return Ok(None);
    }
    match entry.settings.models.get(&name).filter(|definition| definition.provider.is_reranker()) {
        Some(definition) => trusted(entry, definition, name).map(Some),
        None => {
            let known: Vec<&str> = defined(entry, Provider::is_reranker).chain(["off"]).collect();
            let own = if BUILT_IN.contains(&name.as_str()) { "NAME" } else { &name };
            let provider = "provider = \"rerank\", \"cross-encoder\", or \"hub\" and reranker = true";
            let allowed = format!("one of {}, or defined as [models.{own}] with {provider}", known.join(", "));
            Err(entry.refuse(&*name, allowed))
        }
    }
}

/// Returns the names of the defined models of a kind.
fn defined<'a>(entry: &'a Entry<'_>, fits: impl Fn(&Provider) -> bool) -> impl Iterator<Item = &'a str> {
    let models = entry.settings.models.iter();
    models.filter(move |(_, definition)| fits(&definition.provider)).map(|(name, _)| name.as_str())
}

/// Refuses a project's choice of a model that sends text away unless the user trusts the project's file.
fn trusted(entry: &Entry<'_>, definition: &ModelDefinition, name: String) -> Result<String, ConfigError> {
    let settings = entry.settings;
    let from_project =
        [&definition.source, &entry.setting.source].iter().any(|source| matches!(source, Source::Project(_)));
    match (definition.provider.url(), &settings.project_file) {
        (Some(url), Some(path)) if from_project && !settings.trusts_project() => {
            Err(ConfigError::Untrusted { path: path.clone(), model: name, url: url.to_owned() })
        }
        _ => Ok(name),
    }
}

/// Checks each name of a list, as [`one`] does.
pub(crate) fn all(entry: &Entry<'_>, names: Vec<String>) -> Result<Vec<String>, ConfigError> {
    names.into_iter().map(|name| one(entry, name)).collect()
}
