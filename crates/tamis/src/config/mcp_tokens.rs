//! `[[mcp.token]]`: the tokens that open a server, and the rights of each.

use std::path::Path;

use serde::Deserialize;

use super::error::{ConfigError, Source};

/// A token and the rights of its holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpToken {
    /// Its name in the log.
    pub name: String,
    /// The SHA-256 of the token. The token itself is never stored.
    pub sha256: [u8; 32],
    /// The namespaces that it opens; `None`: all.
    pub namespaces: Option<Vec<String>>,
    /// True if its holder may write notes, where the server allows it.
    pub remember: bool,
    /// True if its holder may judge answers, where the server allows it.
    pub feedback: bool,
    /// True if its holder may have the tree read at once, where the server allows it.
    pub refresh: bool,
}

/// Takes the tokens out of a file. A project's file cannot set who may reach a server.
pub(crate) fn take(document: &mut toml::Table, path: &Path, source: &Source) -> Result<Vec<McpToken>, ConfigError> {
    let Some(toml::Value::Table(table)) = document.get_mut("mcp") else { return Ok(Vec::new()) };
    if matches!(source, Source::Project(_)) {
        let key = table.keys().next().map_or("mcp".to_owned(), |key| format!("mcp.{key}"));
        return Err(ConfigError::UsersOwn { path: path.to_owned(), key, user: None });
    }
    let Some(tokens) = table.remove("token") else { return Ok(Vec::new()) };
    let wrong = |key: String, value: String, allowed: &str| ConfigError::in_file(path, key, value, allowed);
    let toml::Value::Array(entries) = tokens else {
        return Err(wrong("mcp.token".into(), "…".into(), "a list of tables, [[mcp.token]]"));
    };
    let mut tokens: Vec<McpToken> = Vec::with_capacity(entries.len());
    for (position, entry) in entries.into_iter().enumerate() {
        let key = format!("mcp.token {}", position + 1);
        // The value is never shown, since somebody may have put a secret in place of its hash.
        let malformed = |error: toml::de::Error| ConfigError::of_entry(path.display().to_string(), key.clone(), &error);
        let entry: Entry = entry.try_into().map_err(malformed)?;
        let token = token(entry).map_err(|(field, allowed)| wrong(format!("{key}.{field}"), "…".into(), allowed))?;
        if tokens.iter().any(|other| other.name == token.name || other.sha256 == token.sha256) {
            return Err(wrong(key, format!("{:?}", token.name), "different from the tokens before it"));
        }
        tokens.push(token);
    }
    Ok(tokens)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    sha256: String,
    namespaces: Namespaces,
    #[serde(default)]
    remember: bool,
    #[serde(default)]
    feedback: bool,
    #[serde(default)]
    refresh: bool,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "namespaces must be \"all\" or a list of namespaces")]
enum Namespaces {
    Text(String),
    List(Vec<String>),
}

fn token(entry: Entry) -> Result<McpToken, (&'static str, &'static str)> {
    let Entry { name, sha256, namespaces, remember, feedback, refresh } = entry;
    if !is_token_name(&name) {
        return Err(("name", "1 to 64 letters, digits, - and _"));
    }
    let sha256 = from_hex(&sha256).ok_or(("sha256", "64 hexadecimal digits, as `tamis mcp token NAME` prints them"))?;
    let namespaces = match namespaces {
        Namespaces::Text(text) if text == "all" => None,
        Namespaces::List(list) if !list.is_empty() => Some(list),
        _ => return Err(("namespaces", "\"all\" or a list of at least one namespace")),
    };
    Ok(McpToken { name, sha256, namespaces, remember, feedback, refresh })
}

/// Returns `true` if a token may have this name.
pub fn is_token_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let digits = text.as_bytes();
    if digits.len() != 64 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}
