//! `[store]`: the database that holds the index, where that is not the directory of the tree.

use crate::config::declare::{Entry, section, text};
use crate::config::error::{ConfigError, Source};

section! {
    /// The database that holds the index.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct StoreConfig {
        /// PostgreSQL database that holds the index, postgres://USER@HOST/DATABASE; empty: the index directory.
        pub url: Option<String> = "store.url", text("").check(url);
        /// Name of this tree in that database; empty: the name of its directory.
        pub namespace: Option<String> = "store.namespace", text("").check(namespace);
    }
}

/// Longest name of a namespace.
const LONGEST_NAME: usize = 200;

fn url(entry: &Entry<'_>, url: String) -> Result<Option<String>, ConfigError> {
    if url.is_empty() {
        return Ok(None);
    }
    // A tree that somebody else wrote must not have its reader's texts sent to a server of theirs.
    if let Source::Project(path) = &entry.setting.source {
        let user = None;
        return Err(ConfigError::UsersOwn { path: path.clone(), key: "store.url".to_owned(), user });
    }
    if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
        // The value can hold a password, so it is not repeated.
        return Err(entry.refuse("…", "postgres://USER@HOST:PORT/DATABASE, or empty"));
    }
    Ok(Some(url))
}

fn namespace(entry: &Entry<'_>, name: String) -> Result<Option<String>, ConfigError> {
    let is_name = name.len() <= LONGEST_NAME && !name.contains(',') && !name.chars().any(char::is_control);
    // In a database, the name says whose files an index run replaces.
    if let Source::Project(path) = &entry.setting.source
        && !name.is_empty()
        && entry.settings.names_database()
        && !entry.settings.trusts_project()
    {
        return Err(ConfigError::UntrustedNamespace { path: path.clone(), key: "store.namespace".to_owned() });
    }
    match name.is_empty() {
        true => Ok(None),
        false if is_name => Ok(Some(name)),
        false => Err(entry.refuse(name.as_str(), format!("a name of at most {LONGEST_NAME} bytes without commas"))),
    }
}

/// An address with dots in place of its password.
pub(crate) fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return "…".to_owned() };
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let authority = match authority.rsplit_once('@') {
        Some((credentials, host)) => match credentials.split_once(':') {
            Some((user, _)) => format!("{user}:…@{host}"),
            None => authority.to_owned(),
        },
        None => authority.to_owned(),
    };
    // The password can be a parameter as well.
    let path = match path.split_once('?') {
        Some((path, parameters)) if parameters.contains("password") => format!("{path}?…"),
        _ => path.to_owned(),
    };
    format!("{scheme}://{authority}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::{flags, given};

    #[test]
    fn only_the_user_names_a_database_and_its_password_is_not_shown() {
        let named = given("[store]\nurl = \"postgres://ada@db.example/tamis\"\n", "", &[]).expect("the user's own");
        assert_eq!(named.store.url.as_deref(), Some("postgres://ada@db.example/tamis"));
        assert_eq!(flags(&[("store.url", "")]).expect("none").store.url, None);
        for (url, shown) in [
            ("postgres://ada:se:cr@et@db/x", "postgres://ada:…@db/x"),
            ("postgres://ada:secret@one:1,two:2/x", "postgres://ada:…@one:1,two:2/x"),
            ("postgres://ada@db/x?sslmode=require", "postgres://ada@db/x?sslmode=require"),
            ("postgres://db/x?user=ada&password=secret", "postgres://db/x?…"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }
}
