//! Which files are notes and which are pages of a wiki, how notes are divided, and where new ones are written.

use super::keys::Key;
use super::layers::{ConfigError, Setting};
use super::value::{Allowed, Value};
use super::{Read, Source};
use ignore::gitignore::GitignoreBuilder;
use std::collections::BTreeMap;

/// Where notes are written and how long one may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteConfig {
    /// The directory of dated notes, from the root of a source, with forward slashes; empty: the root itself.
    pub directory: String,
    /// Longest text of one note, in characters.
    pub max_characters: usize,
}

/// Globs that are checked when they are read.
const GLOBS: [&str; 2] = ["index.notes", "index.wiki"];

pub(super) fn all() -> Vec<Key> {
    let mut keys = Vec::new();
    let mut key = |name: &str, allowed, default, doc: &str| {
        keys.push(Key { name: name.to_owned(), allowed, default, doc: doc.to_owned() });
    };
    let list = |values: &[&str]| Value::List(values.iter().map(|&value| value.to_owned()).collect());
    key(
        "index.notes",
        Allowed::List(&[]),
        list(&["MEMORY.md", "/memory/"]),
        "globs of files that are notes, as in .gitignore; what is in memory.directory is in any case",
    );
    key(
        "index.wiki",
        Allowed::List(&[]),
        list(&["*.wiki/"]),
        "globs of files that are pages of a wiki; what is in a source called *.wiki is in any case",
    );
    key("index.note_tokens", Allowed::Integer(50, 4000), Value::Integer(400), "longer passages of notes are split");
    key(
        "index.note_overlap_tokens",
        Allowed::Integer(0, 1000),
        Value::Integer(80),
        "tokens that two neighbouring passages of a note share, in whole lines; at most a quarter of a passage",
    );
    key(
        "memory.directory",
        Allowed::Text,
        Value::Text("memory".to_owned()),
        "directory of dated notes, from the root; `.`: the root itself",
    );
    key(
        "memory.max_characters",
        Allowed::Integer(100, 1_000_000),
        Value::Integer(10_000),
        "longest text that is taken as one note",
    );
    keys
}

/// # Errors
/// A glob that is none, or a directory of notes outside the root or hidden.
pub(super) fn notes(read: &Read<'_>) -> Result<NoteConfig, ConfigError> {
    for key in GLOBS {
        let mut builder = GitignoreBuilder::new("");
        for glob in read.list(key) {
            if let Err(error) = builder.add_line(None, &glob) {
                return Err(wrong(read.0, key, &glob, format!("globs as in .gitignore ({error})")));
            }
        }
    }
    let written = read.text("memory.directory");
    let directory = written.strip_suffix('/').unwrap_or(written);
    let of_root = directory == ".";
    let odd = |part: &str| {
        part.is_empty() || part.starts_with('.') || part.contains(['\\', ':']) || part.chars().any(char::is_control)
    };
    if !of_root && directory.split('/').any(odd) {
        let allowed =
            "a directory under the root, such as memory or notes/daily, none of it hidden; . for the root itself";
        return Err(wrong(read.0, "memory.directory", written, allowed.into()));
    }
    let directory = if of_root { "" } else { directory };
    Ok(NoteConfig { directory: directory.to_owned(), max_characters: read.count("memory.max_characters") })
}

fn wrong(settings: &BTreeMap<String, Setting>, key: &str, value: &str, allowed: String) -> ConfigError {
    let source_name = settings.get(key).map_or(Source::BuiltIn, |setting| setting.source.clone()).to_string();
    ConfigError::NotAllowed { source_name, key: key.to_owned(), value: format!("{value:?}"), allowed }
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, Origins};

    fn with(key: &str, value: &str) -> Result<Config, String> {
        let flags = vec![(key.to_owned(), value.to_owned(), "test".to_owned())];
        Config::load(&Origins { flags, ..Origins::default() }, None).map_err(|error| error.to_string())
    }

    #[test]
    fn the_directory_of_notes_stays_under_the_root() {
        for (written, meant) in [("memory", "memory"), ("notes/daily/", "notes/daily"), (".", ""), ("./", "")] {
            assert_eq!(with("memory.directory", written).expect(written).notes.directory, meant);
        }
        for wrong in ["", "/", "/etc", "..", "a/../b", "a/..", ".git", "a/.hidden", "a//b", "c:\\x", "a\nb"] {
            let error = with("memory.directory", wrong).expect_err(wrong);
            assert!(error.contains("memory.directory") && error.contains("under the root"), "{error}");
        }
    }

    #[test]
    fn globs_are_checked_where_they_are_read() {
        for key in ["index.notes", "index.wiki"] {
            assert!(with(key, "*.md,/pages/").is_ok());
            let error = with(key, "a{b").expect_err("no glob");
            assert!(error.contains(key) && error.contains("a{b"), "{error}");
        }
    }
}
