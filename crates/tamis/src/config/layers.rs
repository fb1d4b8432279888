//! From files, variables and flags to one value a key, and where each came from.

use super::calibrated::{self, CalibratedConfig};
use super::collections::{Collection, read_collections};
use super::keys::{Key, keys, nearest};
use super::mcp_keys::{self, McpToken};
use super::models::{ModelDefinition, read_models};
use super::project_file;
use super::threshold_keys;
use super::value::Value;
use crate::user_directories::UserDirectories;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Where a value came from, weakest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The default.
    BuiltIn,
    /// The user's configuration file.
    User(PathBuf),
    /// The project's configuration file.
    Project(PathBuf),
    /// An environment variable.
    Environment(String),
    /// A command-line flag or an argument of a call.
    Flag(String),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::BuiltIn => f.write_str("built-in"),
            Source::User(path) | Source::Project(path) => write!(f, "{}", path.display()),
            Source::Environment(name) => write!(f, "${name}"),
            Source::Flag(name) => f.write_str(name),
        }
    }
}

/// What is wrong with a configuration, with the place, the value and what is allowed.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// A file that is there but cannot be read.
    #[error("{}: cannot be read: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A file that is not TOML.
    #[error("{}: not valid TOML: {message}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The parser's message with line and column.
        message: String,
    },
    /// A key that does not exist.
    #[error("{source_name}: {key}: no such key{}", suggestion(.nearest))]
    UnknownKey {
        /// The file or variable.
        source_name: String,
        /// The key.
        key: String,
        /// The nearest key that does.
        nearest: Option<String>,
    },
    /// A value that the key does not allow.
    #[error("{source_name}: {key} = {value}: must be {allowed}")]
    NotAllowed {
        /// The file or variable.
        source_name: String,
        /// The key.
        key: String,
        /// The value found.
        value: String,
        /// What is allowed.
        allowed: String,
    },
    /// A checked-in configuration that sends text away, and that the user has not allowed to.
    #[error("{}: model {model:?} sends text to {url}; read the file and run `tamis trust` to allow it", path.display())]
    Untrusted {
        /// The project's configuration file.
        path: PathBuf,
        /// The model's name.
        model: String,
        /// Where the text would go.
        url: String,
    },
    /// A checked-in configuration that has directories elsewhere read, and that the user has not allowed to.
    #[error(
        "{}: {key}: reads {}, which is outside the project; read the file and run `tamis trust` to allow it",
        path.display(),
        directory.display()
    )]
    UntrustedDirectory {
        /// The project's configuration file.
        path: PathBuf,
        /// The entry that names the directory.
        key: String,
        /// The directory.
        directory: PathBuf,
    },
    /// A checked-in configuration that says who may reach a server.
    #[error(
        "{}: {key}: who may reach a server, and as whom, is for its user to say and not for a project's file; move it to the \
         user's configuration, {}",
        path.display(),
        user.as_deref().unwrap_or(Path::new("config.toml in the directory that TAMIS_CONFIG_HOME names")).display()
    )]
    UsersOwn {
        /// The project's configuration file.
        path: PathBuf,
        /// The key.
        key: String,
        /// The user's configuration file.
        user: Option<PathBuf>,
    },
}

fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!(" (did you mean {name}?)")).unwrap_or_default()
}

/// The value of a key and where it came from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// The effective value.
    pub value: Value,
    /// Its origin.
    pub source: Source,
}

/// All keys with their effective values, and what else is defined in files: models and collections.
#[derive(Clone, Debug)]
pub struct Settings {
    pub(super) values: BTreeMap<String, Setting>,
    pub(super) models: BTreeMap<String, ModelDefinition>,
    pub(super) collections: Vec<Collection>,
    pub(super) calibrated: Option<CalibratedConfig>,
    pub(super) tokens: Vec<McpToken>,
}

/// What there is to read a configuration from. Nothing is read from the process itself, so a test can give its own.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    /// The user's file, which need not exist.
    pub user: Option<PathBuf>,
    /// The project's file, which need not exist.
    pub project: Option<PathBuf>,
    /// Environment variables.
    pub environment: Vec<(String, String)>,
    /// The user's directories, of which the cache is configured here.
    pub directories: UserDirectories,
    /// Key, text and flag name of each flag that sets a key.
    pub flags: Vec<(String, String, String)>,
}

/// Variables that start with `TAMIS_` and set no key: the directories of the index, of the user's configuration and of the
/// cache, and the pager.
const OTHER_VARIABLES: [&str; 4] = ["TAMIS_INDEX", "TAMIS_CONFIG_HOME", "TAMIS_CACHE", "TAMIS_PAGER"];

impl Settings {
    /// Reads every origin, the strongest last.
    ///
    /// # Errors
    /// The first thing wrong: an unreadable or malformed file, an unknown key, a value that is not allowed.
    pub fn read(origins: &Origins) -> Result<Self, ConfigError> {
        let table: BTreeMap<String, Key> = keys().into_iter().map(|key| (key.name.clone(), key)).collect();
        let mut settings = Settings {
            values: table
                .values()
                .map(|key| (key.name.clone(), Setting { value: key.default.clone(), source: Source::BuiltIn }))
                .collect(),
            models: BTreeMap::new(),
            collections: Vec::new(),
            calibrated: None,
            tokens: Vec::new(),
        };
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
        let variables: BTreeMap<String, &Key> = table.values().map(|key| (key.variable(), key)).collect();
        for (name, text) in origins.environment.iter().filter(|(name, _)| name.starts_with("TAMIS_")) {
            if OTHER_VARIABLES.contains(&name.as_str()) || name.ends_with("_KEY") || name.ends_with("_TOKEN") {
                continue;
            }
            let key = match (variables.get(name), threshold_keys::find_variable(name)) {
                (Some(key), _) => Ok(Cow::Borrowed(*key)),
                (None, Some(found)) => found.map(Cow::Owned),
                (None, None) => {
                    let known = variables.keys().map(String::as_str).chain(OTHER_VARIABLES);
                    Err(nearest(name, known).map(str::to_owned))
                }
            };
            let key = key.map_err(|nearest| ConfigError::UnknownKey {
                source_name: "environment".into(),
                key: name.clone(),
                nearest,
            })?;
            settings.text(&key, text, Source::Environment(name.clone()))?;
        }
        for (name, text, flag) in &origins.flags {
            settings.text(&*find(&table, flag, name)?, text, Source::Flag(flag.clone()))?;
        }
        Ok(settings)
    }

    fn text(&mut self, key: &Key, text: &str, source: Source) -> Result<(), ConfigError> {
        let value = key.allowed.read(text).ok_or_else(|| ConfigError::NotAllowed {
            source_name: source.to_string(),
            key: key.name.clone(),
            value: format!("{text:?}"),
            allowed: key.allowed.to_string(),
        })?;
        self.values.insert(key.name.clone(), Setting { value, source });
        Ok(())
    }

    fn file(&mut self, table: &BTreeMap<String, Key>, path: &Path, source: Source) -> Result<(), ConfigError> {
        // A project's own file came with the project.
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
            self.models.extend(read_models(models, path, &source)?);
        }
        if let Some(collections) = document.remove("collection") {
            if !matches!(source, Source::Project(_)) {
                return Err(ConfigError::NotAllowed {
                    source_name: path.display().to_string(),
                    key: "collection".into(),
                    value: "…".into(),
                    allowed: "in a project's .tamis/config.toml, to whose root its paths are relative".into(),
                });
            }
            self.collections = read_collections(&collections, path)?;
        }
        // Thresholds belong to the model that they were measured with: those of one file are never mixed with another's.
        if let Some(calibrated) = calibrated::take(&mut document, path, &source)? {
            self.calibrated = Some(calibrated);
        }
        self.tokens.extend(mcp_keys::take(&mut document, path, &source)?);
        let mut seen = BTreeSet::new();
        let mut leaves = Vec::new();
        flatten(String::new(), &document, &mut leaves);
        for (name, value) in leaves {
            let key = find(table, &path.display().to_string(), &name)?;
            let accepted = Value::from_toml(value).and_then(|value| key.allowed.accept(&value));
            let value = accepted.ok_or_else(|| ConfigError::NotAllowed {
                source_name: path.display().to_string(),
                key: name.clone(),
                value: value.to_string(),
                allowed: key.allowed.to_string(),
            })?;
            // Languages have several names each.
            if !seen.insert(key.name.clone()) {
                return Err(ConfigError::NotAllowed {
                    source_name: path.display().to_string(),
                    key: name,
                    value: value.to_string(),
                    allowed: format!("left out, since the file sets {} under another name too", key.name),
                });
            }
            self.values.insert(key.name.clone(), Setting { value, source: source.clone() });
        }
        Ok(())
    }
}

/// The key that a name stands for, under its canonical name.
fn find<'t>(table: &'t BTreeMap<String, Key>, source_name: &str, name: &str) -> Result<Cow<'t, Key>, ConfigError> {
    if let Some(key) = table.get(name) {
        return Ok(Cow::Borrowed(key));
    }
    match threshold_keys::find(name) {
        Some(Ok(key)) => Ok(Cow::Owned(key)),
        Some(Err(nearest)) => {
            Err(ConfigError::UnknownKey { source_name: source_name.to_owned(), key: name.to_owned(), nearest })
        }
        None => Err(unknown(table, source_name, name)),
    }
}

fn unknown(table: &BTreeMap<String, Key>, source_name: &str, name: &str) -> ConfigError {
    let nearest = nearest(name, table.keys().map(String::as_str)).map(str::to_owned);
    ConfigError::UnknownKey { source_name: source_name.to_owned(), key: name.to_owned(), nearest }
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
