//! The declaration of configuration keys.
//!
//! A section is a struct whose fields declare their keys. The rustdoc of a field is the line that `tamis config` shows, the
//! literal after it is the key's name, and the [`KeySpec`] gives its type, range, default and conversion to the field's type.
//! Validation, environment variables, `tamis config` and the typed value all come from that entry, so a key without a field, or a
//! field without a key, cannot be written.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use serde::Serialize;

use super::calibrated::CalibratedConfig;
use super::collections::Collection;
use super::error::{ConfigError, Source};
use super::mcp_tokens::McpToken;
use super::models::ModelDefinition;
use super::trust;
use super::value::{Allowed, Key, Value};
use super::words::Words;
use crate::index_location::UserDirectories;

/// The value of a key and its origin.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// The effective value.
    pub value: Value,
    /// Its origin.
    pub source: Source,
}

/// The merged settings of all origins, by key, with the tables that have no fixed keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub values: BTreeMap<String, Setting>,
    pub models: BTreeMap<String, ModelDefinition>,
    pub collections: Vec<Collection>,
    pub calibrated: Option<CalibratedConfig>,
    pub tokens: Vec<McpToken>,
    /// The project's configuration file, which need not exist.
    pub project_file: Option<PathBuf>,
    /// The user's configuration directory, which holds the list of trusted projects.
    pub user_directory: Option<PathBuf>,
    pub directories: UserDirectories,
}

impl Settings {
    /// Returns `true` if the user trusts the project's configuration file as it is.
    pub fn trusts_project(&self) -> bool {
        let user = self.user_directory.as_deref().zip(self.project_file.as_deref());
        user.is_some_and(|(user, file)| trust::is_trusted(user, file))
    }

    /// Returns `true` if a database holds the index.
    pub fn names_database(&self) -> bool {
        self.values.get("store.url").is_some_and(|url| url.value != Value::from(""))
    }
}

/// A part of the configuration with its keys and its typed value.
pub(crate) trait Section: Sized {
    /// Returns the keys, in the order in which `tamis config` prints them.
    fn declared() -> Vec<Key>;

    /// Returns the typed value.
    ///
    /// # Errors
    /// A value of the key's type that cannot be used.
    fn from_settings(settings: &Settings) -> Result<Self, ConfigError>;
}

/// Declares a section: `section! { pub struct NAME { … } }` for a struct of its own, `section! { for TYPE { … } }` for one that
/// another crate defines. A field's type is followed by `= "KEY", SPEC` for a key, by `=> FUNCTION` for a value without a key, or
/// by nothing for a nested section.
macro_rules! section {
    (
        $(#[$about:meta])*
        pub struct $name:ident {
            $($(#[doc = $doc:literal])+ $vis:vis $field:ident: $type:ty $(= $key:literal, $spec:expr)? $(=> $derive:expr)?;)*
        }
    ) => {
        $(#[$about])*
        pub struct $name {
            $($(#[doc = $doc])+ $vis $field: $type,)*
        }

        $crate::config::declare::section! {
            for $name { $($(#[doc = $doc])+ $field: $type $(= $key, $spec)? $(=> $derive)?;)* }
        }
    };
    (
        for $name:ty {
            $($(#[doc = $doc:literal])+ $field:ident: $type:ty $(= $key:literal, $spec:expr)? $(=> $derive:expr)?;)*
        }
    ) => {
        impl $crate::config::declare::Section for $name {
            fn declared() -> Vec<$crate::config::value::Key> {
                let mut keys = Vec::new();
                $($crate::config::declare::section!(
                    @declared keys, concat!($($doc),+), $type $(= $key, $spec)? $(=> $derive)?
                );)*
                keys
            }

            fn from_settings(
                settings: &$crate::config::declare::Settings,
            ) -> Result<Self, $crate::config::error::ConfigError> {
                Ok(Self {
                    $($field: $crate::config::declare::section!(
                        @read settings, $type $(= $key, $spec)? $(=> $derive)?
                    ),)*
                })
            }
        }
    };
    (@declared $keys:ident, $doc:expr, $type:ty) => {
        $keys.extend(<$type as $crate::config::declare::Section>::declared())
    };
    (@declared $keys:ident, $doc:expr, $type:ty = $key:literal, $spec:expr) => {{
        let spec: $crate::config::declare::KeySpec<$type> = $spec;
        $keys.push(spec.key($key, $doc));
    }};
    (@declared $keys:ident, $doc:expr, $type:ty => $derive:expr) => {};
    (@read $settings:ident, $type:ty) => {
        <$type as $crate::config::declare::Section>::from_settings($settings)?
    };
    (@read $settings:ident, $type:ty = $key:literal, $spec:expr) => {{
        let spec: $crate::config::declare::KeySpec<$type> = $spec;
        spec.read($settings, $key)?
    }};
    (@read $settings:ident, $type:ty => $derive:expr) => {{
        let derive: fn(&$crate::config::declare::Settings) -> Result<$type, $crate::config::error::ConfigError> = $derive;
        derive($settings)?
    }};
}
pub(super) use section;

/// A key's type, range, default and conversion to a `T`.
pub(crate) struct KeySpec<T> {
    allowed: Allowed,
    default: Value,
    convert: Convert<T>,
}

type Convert<T> = Box<dyn Fn(&Entry<'_>) -> Result<T, ConfigError>>;

/// A key with the value to convert.
pub(crate) struct Entry<'a> {
    pub settings: &'a Settings,
    pub setting: &'a Setting,
    name: &'static str,
}

impl Entry<'_> {
    /// Returns the error for a value that is not `allowed`.
    pub fn refuse(&self, value: impl Into<Value>, allowed: impl Into<String>) -> ConfigError {
        ConfigError::NotAllowed {
            source_name: self.setting.source.to_string(),
            key: self.name.to_owned(),
            value: value.into().to_string(),
            allowed: allowed.into(),
        }
    }
}

impl<T: 'static> KeySpec<T> {
    fn new(allowed: Allowed, default: impl Into<Value>, convert: fn(&Value) -> Option<T>) -> Self {
        let convert = move |entry: &Entry<'_>| {
            convert(&entry.setting.value).ok_or_else(|| entry.refuse(entry.setting.value.clone(), allowed.to_string()))
        };
        KeySpec { allowed, default: default.into(), convert: Box::new(convert) }
    }

    /// Converts the key's value by `function`.
    pub fn map<U: 'static>(self, function: fn(T) -> U) -> KeySpec<U> {
        self.check(move |_, value| Ok(function(value)))
    }

    /// Checks the key's value with `check`, which refuses it or converts it further.
    pub fn check<U: 'static>(self, check: impl Fn(&Entry<'_>, T) -> Result<U, ConfigError> + 'static) -> KeySpec<U> {
        let KeySpec { allowed, default, convert } = self;
        KeySpec { allowed, default, convert: Box::new(move |entry| check(entry, convert(entry)?)) }
    }

    /// Returns the key under this name. `doc` is the rustdoc of the field.
    pub fn key(self, name: &str, doc: &str) -> Key {
        let doc = doc.trim().trim_end_matches('.').to_owned();
        Key { name: name.to_owned(), allowed: self.allowed, default: self.default, doc }
    }

    /// Returns the field's value.
    pub fn read(self, settings: &Settings, name: &'static str) -> Result<T, ConfigError> {
        let built_in = Setting { value: self.default, source: Source::BuiltIn };
        let setting = settings.values.get(name).unwrap_or(&built_in);
        (self.convert)(&Entry { settings, setting, name })
    }
}

/// A key that is true or false.
pub(crate) fn flag(default: bool) -> KeySpec<bool> {
    KeySpec::new(Allowed::Flag, Value::Flag(default), |value| match value {
        Value::Flag(value) => Some(*value),
        _ => None,
    })
}

/// A key that is a whole number.
pub(crate) fn integer<T: TryFrom<i64> + 'static>(range: RangeInclusive<i64>, default: i64) -> KeySpec<T> {
    KeySpec::new(Allowed::Integer(*range.start(), *range.end()), Value::Integer(default), |value| match value {
        Value::Integer(value) => T::try_from(*value).ok(),
        _ => None,
    })
}

/// A key that is a number.
pub(crate) fn number(range: RangeInclusive<f64>, default: f64) -> KeySpec<f64> {
    KeySpec::new(Allowed::Number(*range.start(), *range.end()), Value::Number(default), number_of)
}

/// A key that is a number, or `"auto"` for `None`.
pub(crate) fn auto_or_number(range: RangeInclusive<f64>, default: Option<f64>) -> KeySpec<Option<f64>> {
    let allowed = Allowed::AutoOrNumber(*range.start(), *range.end());
    let default = default.map_or_else(|| Value::from("auto"), Value::Number);
    KeySpec::new(allowed, default, |value| Some(number_of(value)))
}

/// A key that is one of these words.
pub(crate) fn choice(words: &'static [&'static str], default: &str) -> KeySpec<String> {
    KeySpec::new(Allowed::OneOf(words), default, text_of)
}

/// A key that is one of the words of an enum, whose default variant is the key's default.
pub(crate) fn word<T: Words + Default>() -> KeySpec<T> {
    KeySpec::new(Allowed::OneOf(T::WORDS), T::default().word(), |value| T::from_word(&text_of(value)?))
}

/// A key that is any text.
pub(crate) fn text(default: &str) -> KeySpec<String> {
    KeySpec::new(Allowed::Text, default, text_of)
}

/// A key that is a list of texts.
pub(crate) fn list(default: &[&str]) -> KeySpec<Vec<String>> {
    list_of(&[], default)
}

/// A key that is a list of these words.
pub(crate) fn list_of(words: &'static [&'static str], default: &[&str]) -> KeySpec<Vec<String>> {
    let default = Value::List(default.iter().map(|&item| item.to_owned()).collect());
    KeySpec::new(Allowed::List(words), default, |value| match value {
        Value::List(items) => Some(items.clone()),
        _ => None,
    })
}

fn number_of(value: &Value) -> Option<f64> {
    if let Value::Number(value) = value { Some(*value) } else { None }
}

fn text_of(value: &Value) -> Option<String> {
    if let Value::Text(value) = value { Some(value.clone()) } else { None }
}
