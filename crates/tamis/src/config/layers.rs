//! Reads every origin and keeps the strongest value of each key, with its origin.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::collections::read_collections;
use super::declare::{Setting, Settings};
use super::error::{ConfigError, Source, nearest};
use super::models::read_models;
use super::sections::{cuts, thresholds};
use super::value::{Key, Value, unknown};
use super::{calibrated, keys, mcp_tokens, project_file};
use crate::index_location::{Location, UserDirectories};

/// The name of the user's configuration file in the user's configuration directory.
const USER_FILE: &str = "config.toml";

/// The origins of a configuration. A test can pass its own.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    /// The user's file, which need not exist.
    pub user: Option<PathBuf>,
    /// The project's file, which need not exist.
    pub project: Option<PathBuf>,
    /// Environment variables.
    pub environment: Vec<(String, String)>,
    /// The user's directories, among them the cache that is configured here.
    pub directories: UserDirectories,
    /// Key, text and flag name of each flag that sets a key.
    pub flags: Vec<(String, String, String)>,
}

impl Origins {
    /// Returns the origins of this process for the tree of an index.
    pub fn of_process(location: &Location, flags: Vec<(String, String, String)>) -> Self {
        let directories = UserDirectories::here();
        let lossy = |value: OsString| value.to_string_lossy().into_owned();
        Self {
            user: directories.configuration().map(|directory| directory.join(USER_FILE)),
            project: Some(location.config_file()),
            environment: std::env::vars_os().map(|(name, value)| (lossy(name), lossy(value))).collect(),
            directories,
            flags,
        }
    }
}

/// Variables that start with `TAMIS_` and set no key: the directories of the index, of the user's configuration and of the
/// cache, and the pager.
const OTHER_VARIABLES: [&str; 4] = ["TAMIS_INDEX", "TAMIS_CONFIG_HOME", "TAMIS_CACHE", "TAMIS_PAGER"];

/// The start of all variables.
const PREFIX: &str = "TAMIS_";

/// The name of the environment in errors.
const ENVIRONMENT: &str = "environment";

/// The start of variables that only this project's own tests read, such as `TAMIS_TEST_POSTGRES`.
const OF_TESTS: &str = "TAMIS_TEST_";

impl Settings {
    /// Reads the values of `keys`, weakest origin first.
    ///
    /// # Errors
    /// An unreadable or malformed file, an unknown key, or a value that is not allowed.
    pub(crate) fn collect(
        origins: &Origins,
        user_directory: Option<PathBuf>,
        keys: Vec<Key>,
    ) -> Result<Self, ConfigError> {
        let built_in = |key: &Key| Setting { value: key.default.clone(), source: Source::BuiltIn };
        let mut settings = Settings {
            values: keys.iter().map(|key| (key.name.clone(), built_in(key))).collect(),
            project_file: origins.project.clone(),
            user_directory,
            directories: origins.directories.clone(),
            ..Settings::default()
        };
        let table = by_name(keys);
        if let Some(path) = &origins.user {
            settings.file(&table, path, Source::User(path.clone()))?;
        }
        if let Some(path) = &origins.project {
            settings.file(&table, path, Source::Project(path.clone())).map_err(|error| match error {
                ConfigError::UsersOwn { path, key, .. } => {
                    ConfigError::UsersOwn { path, key, user: origins.user.clone() }
                }
                other => other,
            })?;
        }
        let variables = Variables::new(&table);
        for (name, text) in &origins.environment {
            // A variable that sets nothing is no reason to end every command; `unknown_variables` tells of it.
            if let Ok(Some(key)) = variables.key(name) {
                settings.text(&key, text, Source::Environment(name.clone()))?;
            }
        }
        for (name, text, flag) in &origins.flags {
            settings.text(&*find(&table, flag, name)?, text, Source::Flag(flag.clone()))?;
        }
        Ok(settings)
    }

    fn text(&mut self, key: &Key, text: &str, source: Source) -> Result<(), ConfigError> {
        let value = key.allowed.parse(text).ok_or_else(|| ConfigError::NotAllowed {
            source_name: source.to_string(),
            key: key.name.clone(),
            value: format!("{text:?}"),
            allowed: key.allowed.to_string(),
        })?;
        self.values.insert(key.name.clone(), Setting { value, source });
        Ok(())
    }

    fn file(&mut self, table: &BTreeMap<String, Key>, path: &Path, source: Source) -> Result<(), ConfigError> {
        // A project's file is untrusted.
        let read = match source {
            Source::Project(_) => project_file::read_text(path),
            _ => std::fs::read_to_string(path),
        };
        let text = match read {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(ConfigError::Unreadable { path: path.to_owned(), error }),
        };
        let mut document: toml::Table = text.parse().map_err(|error: toml::de::Error| ConfigError::Syntax {
            path: path.to_owned(),
            message: error.to_string().trim_end().to_owned(),
        })?;
        if let Some(models) = document.remove("models") {
            self.models.extend(read_models(models, path, &source, &self.directories)?);
        }
        if let Some(collections) = document.remove("collection") {
            if !matches!(source, Source::Project(_)) {
                let allowed = "in a project's .tamis/config.toml, to whose root its paths are relative";
                return Err(ConfigError::in_file(path, "collection", "…", allowed));
            }
            self.collections = read_collections(&collections, path)?;
        }
        // Thresholds hold for the model that they were measured with, so those of two files are never mixed.
        if let Some(calibrated) = calibrated::take(&mut document, path, &source)? {
            self.calibrated = Some(calibrated);
        }
        self.tokens.extend(mcp_tokens::take(&mut document, path, &source)?);
        let mut seen = BTreeSet::new();
        let mut leaves = Vec::new();
        flatten(String::new(), &document, &mut leaves);
        for (name, value) in leaves {
            let key = find(table, &path.display().to_string(), &name)?;
            let accepted = Value::from_toml(value).and_then(|value| key.allowed.accept(&value));
            let refused = || ConfigError::in_file(path, &*name, value.to_string(), &key.allowed.to_string());
            let value = accepted.ok_or_else(refused)?;
            // A language has several names, so a file can set one key twice.
            if !seen.insert(key.name.clone()) {
                let allowed = format!("left out, since the file sets {} under another name too", key.name);
                return Err(ConfigError::in_file(path, name, value.to_string(), &allowed));
            }
            self.values.insert(key.name.clone(), Setting { value, source: source.clone() });
        }
        Ok(())
    }
}

/// Returns keys by name, and those of the collections.
fn by_name(keys: Vec<Key>) -> BTreeMap<String, Key> {
    keys.into_iter().chain(cuts::by_collection()).map(|key| (key.name.clone(), key)).collect()
}

/// Returns what is wrong with each variable that begins with `TAMIS_` and sets nothing.
pub fn unknown_variables<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<ConfigError> {
    let table = by_name(keys());
    let variables = Variables::new(&table);
    names.into_iter().filter_map(|name| variables.key(name).err()).collect()
}

/// The variables that set keys.
struct Variables<'t>(BTreeMap<String, &'t Key>);

impl<'t> Variables<'t> {
    fn new(table: &'t BTreeMap<String, Key>) -> Self {
        Variables(table.values().map(|key| (key.variable(), key)).collect())
    }

    /// The key that a variable sets; `None` if it is not for keys.
    fn key(&self, name: &str) -> Result<Option<Cow<'t, Key>>, ConfigError> {
        let is_for_keys = name.starts_with(PREFIX) && !OTHER_VARIABLES.contains(&name) && !name.starts_with(OF_TESTS);
        if !is_for_keys || name.ends_with("_KEY") || name.ends_with("_TOKEN") {
            return Ok(None);
        }
        match (self.0.get(name), thresholds::find_variable(name)) {
            (Some(key), _) => Ok(Some(Cow::Borrowed(*key))),
            (None, Some(Ok(key))) => Ok(Some(Cow::Owned(key))),
            (None, Some(Err(nearest))) => {
                Err(ConfigError::UnknownKey { source_name: ENVIRONMENT.to_owned(), key: name.to_owned(), nearest })
            }
            (None, None) => {
                // What all variables begin with makes none similar.
                let bare = |variable: &'_ str| variable.strip_prefix(PREFIX).unwrap_or(variable).to_owned();
                let known: Vec<String> = self.0.keys().map(String::as_str).chain(OTHER_VARIABLES).map(bare).collect();
                let nearest =
                    nearest(&bare(name), known.iter().map(String::as_str)).map(|near| format!("{PREFIX}{near}"));
                Err(ConfigError::UnknownKey { source_name: ENVIRONMENT.to_owned(), key: name.to_owned(), nearest })
            }
        }
    }
}

/// Returns the key of that name. Languages are also found by their other names.
fn find<'t>(table: &'t BTreeMap<String, Key>, source_name: &str, name: &str) -> Result<Cow<'t, Key>, ConfigError> {
    if let Some(key) = table.get(name) {
        return Ok(Cow::Borrowed(key));
    }
    match thresholds::find(name).or_else(|| cuts::in_a_rule(name).map(|rule| Err(Some(rule)))) {
        Some(Ok(key)) => Ok(Cow::Owned(key)),
        Some(Err(nearest)) => {
            Err(ConfigError::UnknownKey { source_name: source_name.to_owned(), key: name.to_owned(), nearest })
        }
        None => Err(unknown(source_name, name, table.keys().map(String::as_str))),
    }
}

fn flatten<'a>(prefix: String, table: &'a toml::Table, leaves: &mut Vec<(String, &'a toml::Value)>) {
    for (name, value) in table {
        let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            toml::Value::Table(inner) if !inner.is_empty() => flatten(name, inner, leaves),
            toml::Value::Table(_) => {}
            value => leaves.push((name, value)),
        }
    }
}
