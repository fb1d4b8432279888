//! A configuration key: its name, the values it allows, its default and its documentation.

use super::error::ConfigError;
use super::value::{Allowed, Value};

/// One configuration key.
#[derive(Clone, Debug)]
pub struct Key {
    /// Dotted name: the TOML table and the key in it.
    pub name: String,
    /// The values it allows.
    pub allowed: Allowed,
    /// Its value when nobody sets it.
    pub default: Value,
    /// Its meaning, in one line.
    pub doc: String,
}

impl Key {
    /// Returns the environment variable that sets it: `TAMIS_` and the name in capitals with underscores.
    pub fn variable(&self) -> String {
        format!("TAMIS_{}", self.name.to_ascii_uppercase().replace('.', "_"))
    }
}

/// Returns the error for a key or variable that does not exist, with the nearest of `known`.
pub(super) fn unknown<'a>(source_name: &str, key: &str, known: impl IntoIterator<Item = &'a str>) -> ConfigError {
    let nearest = super::error::nearest(key, known).map(str::to_owned);
    ConfigError::UnknownKey { source_name: source_name.to_owned(), key: key.to_owned(), nearest }
}

/// Groups keys by table, in the order in which tables and keys first appear, since TOML names a table once.
pub(super) fn by_table(keys: Vec<Key>) -> Vec<Key> {
    let mut tables: Vec<(String, Vec<Key>)> = Vec::new();
    for key in keys {
        let table = key.name.rsplit_once('.').map_or("", |(table, _)| table);
        match tables.iter_mut().find(|(name, _)| name == table) {
            Some((_, members)) => members.push(key),
            None => tables.push((table.to_owned(), vec![key])),
        }
    }
    tables.into_iter().flat_map(|(_, members)| members).collect()
}
