//! Errors of a configuration, and the origins of its values.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use thiserror::Error;

/// The origin of a value, weakest first.
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

/// An invalid configuration. Each variant names the place, the value and the values that are allowed.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file exists but cannot be read.
    #[error("{}: cannot be read: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
    /// The file does not parse as TOML.
    #[error("{}: not valid TOML: {message}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The parser's message with line and column.
        message: String,
    },
    /// The key does not exist.
    #[error("{source_name}: {key}: no such key{}; `tamis config` lists them all", suggestion(.nearest))]
    UnknownKey {
        /// The file or variable.
        source_name: String,
        /// The key.
        key: String,
        /// The nearest key that exists.
        nearest: Option<String>,
    },
    /// The key does not allow the value.
    #[error("{source_name}: {key} = {value}: must be {allowed}")]
    NotAllowed {
        /// The file or variable.
        source_name: String,
        /// The key.
        key: String,
        /// The value found.
        value: String,
        /// The values that are allowed.
        allowed: String,
    },
    /// The entry lacks a field, has an unknown one, or one of another type.
    #[error("{source_name}: {key}: {reason}")]
    Malformed {
        /// The file.
        source_name: String,
        /// The entry.
        key: String,
        /// The reason, as a sentence.
        reason: String,
    },
    /// A checked-in configuration sends text away without the user's consent.
    #[error("{}: model {model:?} sends text to {url}; read the file and run `tamis trust` to allow it", path.display())]
    Untrusted {
        /// The project's configuration file.
        path: PathBuf,
        /// The model's name.
        model: String,
        /// The address that would receive the text.
        url: String,
    },
    /// A checked-in configuration names a directory outside the project without the user's consent.
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
    /// A checked-in configuration names namespaces of a database that others use, without the user's consent.
    #[error(
        "{}: {key}: names a namespace of a database that others use; read the file and run `tamis trust` to allow it",
        path.display()
    )]
    UntrustedNamespace {
        /// The project's configuration file.
        path: PathBuf,
        /// The key.
        key: String,
    },
    /// A checked-in configuration sets access to a server or a database, or the form of links, which only the user may set.
    #[error(
        "{}: {key}: a project's file cannot set this, because it decides who reaches a server, where texts are sent or what a link opens; move it to the user's configuration, {}",
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

impl ConfigError {
    /// Creates the error for a value in a file that its key does not allow.
    pub(crate) fn in_file(file: &Path, key: impl Into<String>, value: impl Into<String>, allowed: &str) -> Self {
        ConfigError::NotAllowed {
            source_name: file.display().to_string(),
            key: key.into(),
            value: value.into(),
            allowed: allowed.to_owned(),
        }
    }

    /// Creates the error for a table that does not have the fields of its entry.
    pub(crate) fn of_entry(source_name: String, key: String, error: &toml::de::Error) -> Self {
        ConfigError::Malformed { source_name, key, reason: reason(error.message()) }
    }
}

/// The reason of a parser, as a sentence of ours.
fn reason(message: &str) -> String {
    let named = |start: &str| message.strip_prefix(start)?.split_once('`');
    let listed = |rest: &str| {
        rest.split_once("expected ").map_or("", |(_, names)| names).trim_start_matches("one of ").replace('`', "")
    };
    if let Some((field, rest)) = named("unknown field `") {
        return no_such_key(field, &listed(rest));
    }
    if let Some((field, _)) = named("missing field `") {
        return format!("{field} is missing");
    }
    if let Some((value, rest)) = named("unknown variant `") {
        return format!("{value:?} is none of {}", listed(rest));
    }
    let Some((found, wanted)) = message.strip_prefix("invalid type: ").and_then(|rest| rest.split_once(", expected "))
    else {
        return message.to_owned();
    };
    format!("the {} must be {}", found.replace('`', ""), wanted.replace("variant identifier", "a name"))
}

/// The reason to refuse an entry with an unknown key. `known` are its keys, separated by commas.
pub(crate) fn no_such_key(key: &str, known: &str) -> String {
    let near = suggestion(&nearest(key, known.split(", ")).map(str::to_owned));
    format!("it has no key {key}{near}; its keys are {known}")
}

/// Returns the name among `known` that is nearest to `name`, if any is near.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (strsim::normalized_damerau_levenshtein(name, candidate), candidate))
        .filter(|(similarity, _)| *similarity >= 0.6)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!(" (did you mean {name}?)")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_for_refusing_an_entry_is_a_sentence() {
        for (message, expected) in [
            ("missing field `url`", "url is missing"),
            (
                "unknown field `ur`, expected one of `url`, `at`",
                "it has no key ur (did you mean url?); its keys are url, at",
            ),
            ("unknown field `x`, expected `url`", "it has no key x; its keys are url"),
            ("unknown variant `nope`, expected one of `openai`, `hub`", "\"nope\" is none of openai, hub"),
            ("invalid type: integer `5`, expected a string", "the integer 5 must be a string"),
            ("something else", "something else"),
        ] {
            assert_eq!(reason(message), expected);
        }
    }
}
