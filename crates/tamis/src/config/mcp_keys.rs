//! `[mcp]` and `[[mcp.token]]`: who may reach a server, as whom, and how often.

use super::Read;
use super::keys::Key;
use super::layers::{ConfigError, Setting, Source};
use super::value::{Allowed, Value};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// What `[mcp]` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpConfig {
    /// Names besides its own that a server over HTTP is called by.
    pub allowed_hosts: Vec<String>,
    /// Origins besides its own whose pages may ask.
    pub allowed_origins: Vec<String>,
    /// Most requests a minute of one token, or of one address without; `None`: any number.
    pub requests_per_minute: Option<u32>,
    /// Most connections at a time.
    pub max_connections: usize,
    /// How long a request may take.
    pub request_timeout: Duration,
    /// `[[mcp.token]]`.
    pub tokens: Vec<McpToken>,
}

/// A token and what the one that holds it may read and do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpToken {
    /// What it is called in the log.
    pub name: String,
    /// The SHA-256 of the token, which itself stands nowhere.
    pub sha256: [u8; 32],
    /// The namespaces that it opens; `None`: all.
    pub namespaces: Option<Vec<String>>,
    /// Whether it may write notes, where the server lets anybody.
    pub remember: bool,
    /// Whether it may judge answers, where the server lets anybody.
    pub feedback: bool,
}

const TABLE: &str = "mcp";

pub(super) fn all() -> Vec<Key> {
    let key = |name: &str, allowed, default, doc: &str| Key {
        name: format!("{TABLE}.{name}"),
        allowed,
        default,
        doc: doc.to_owned(),
    };
    let user = "in the user's configuration only";
    vec![
        key(
            "allowed_hosts",
            Allowed::List(&[]),
            Value::List(Vec::new()),
            &format!(
                "names besides its own that a server over HTTP is called by, as in its clients' addresses; {user}"
            ),
        ),
        key(
            "allowed_origins",
            Allowed::List(&[]),
            Value::List(Vec::new()),
            &format!(
                "origins such as https://app.example.com whose pages may ask a server over HTTP, besides its own; {user}"
            ),
        ),
        key(
            "requests_per_minute",
            Allowed::Integer(0, 1_000_000),
            Value::Integer(1200),
            &format!(
                "most requests over HTTP a minute of each token, or of each address without; 0: any number; {user}"
            ),
        ),
        key(
            "max_connections",
            Allowed::Integer(1, 100_000),
            Value::Integer(512),
            &format!("most connections over HTTP at a time; {user}"),
        ),
        key(
            "request_timeout_seconds",
            Allowed::Integer(1, 3600),
            Value::Integer(60),
            &format!("how long a request over HTTP may take; {user}"),
        ),
    ]
}

pub(super) fn mcp(
    read: &Read<'_>,
    values: &BTreeMap<String, Setting>,
    tokens: Vec<McpToken>,
) -> Result<McpConfig, ConfigError> {
    let list = |name: &str, allowed: &str, is_right: fn(&str) -> bool| {
        let key = format!("{TABLE}.{name}");
        let list = read.list(&key);
        match list.iter().find(|entry| !is_right(entry)) {
            None => Ok(list),
            Some(wrong) => Err(ConfigError::NotAllowed {
                source_name: values[&key].source.to_string(),
                key,
                value: format!("{wrong:?}"),
                allowed: allowed.to_owned(),
            }),
        }
    };
    let requests = read.count("mcp.requests_per_minute");
    Ok(McpConfig {
        allowed_hosts: list("allowed_hosts", "names of hosts, without scheme, port and path", is_host)?,
        allowed_origins: list(
            "allowed_origins",
            "origins such as https://app.example.com:8443, without a path",
            is_origin,
        )?,
        requests_per_minute: u32::try_from(requests).ok().filter(|&requests| requests > 0),
        max_connections: read.count("mcp.max_connections"),
        request_timeout: Duration::from_secs(read.count("mcp.request_timeout_seconds") as u64),
        tokens,
    })
}

fn is_host(text: &str) -> bool {
    let plain = |character: char| character.is_ascii_alphanumeric() || "-._[]:".contains(character);
    let is_address = text.trim_matches(['[', ']']).parse::<std::net::Ipv6Addr>().is_ok();
    !text.is_empty() && text.chars().all(plain) && (is_address || !text.contains(['[', ']', ':']))
}

fn is_origin(text: &str) -> bool {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(['/', '@', '?', '#', '*', ' ']))
}

/// Takes the tokens out of a file. A project's file has no say in who reaches a server.
pub(super) fn take(document: &mut toml::Table, path: &Path, source: &Source) -> Result<Vec<McpToken>, ConfigError> {
    let Some(toml::Value::Table(table)) = document.get_mut(TABLE) else { return Ok(Vec::new()) };
    if matches!(source, Source::Project(_)) {
        let key = table.keys().next().map_or(TABLE.to_owned(), |key| format!("{TABLE}.{key}"));
        return Err(ConfigError::UsersOwn { path: path.to_owned(), key, user: None });
    }
    let Some(tokens) = table.remove("token") else { return Ok(Vec::new()) };
    let wrong = |key: String, value: String, allowed: &str| ConfigError::NotAllowed {
        source_name: path.display().to_string(),
        key,
        value,
        allowed: allowed.to_owned(),
    };
    let toml::Value::Array(entries) = tokens else {
        return Err(wrong("mcp.token".into(), "…".into(), "a list of tables, [[mcp.token]]"));
    };
    let mut tokens: Vec<McpToken> = Vec::with_capacity(entries.len());
    for (position, entry) in entries.into_iter().enumerate() {
        let key = format!("mcp.token {}", position + 1);
        // The value can hold a secret that somebody took for a hash: it is never shown.
        let entry: Entry = entry
            .try_into()
            .map_err(|error: toml::de::Error| wrong(key.clone(), "…".into(), &format!("whole: {}", error.message())))?;
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
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "namespaces must be \"all\" or a list of namespaces")]
enum Namespaces {
    Text(String),
    List(Vec<String>),
}

fn token(entry: Entry) -> Result<McpToken, (&'static str, &'static str)> {
    let Entry { name, sha256, namespaces, remember, feedback } = entry;
    if !is_token_name(&name) {
        return Err(("name", "1 to 64 letters, digits, - and _"));
    }
    let sha256 = from_hex(&sha256).ok_or(("sha256", "64 hexadecimal digits, as `tamis mcp token NAME` prints them"))?;
    let namespaces = match namespaces {
        Namespaces::Text(text) if text == "all" => None,
        Namespaces::List(list) if !list.is_empty() => Some(list),
        _ => return Err(("namespaces", "\"all\" or a list of at least one namespace")),
    };
    Ok(McpToken { name, sha256, namespaces, remember, feedback })
}

/// Whether a token can be called so.
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

#[cfg(test)]
mod tests {
    use crate::config::{Config, Origins};
    use std::path::PathBuf;

    const HASH: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

    fn with(user: Option<&str>, project: Option<&str>) -> Result<Config, String> {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = |name: &str, text: Option<&str>| -> Option<PathBuf> {
            let path = directory.path().join(name);
            std::fs::write(&path, text?).expect("written");
            Some(path)
        };
        let origins =
            Origins { user: file("user.toml", user), project: file("project.toml", project), ..Origins::default() };
        Config::load(&origins, None).map_err(|error| error.to_string())
    }

    #[test]
    fn a_users_tokens_are_read_with_what_they_open() {
        let text = format!(
            "[[mcp.token]]\nname = \"ci\"\nsha256 = \"{HASH}\"\nnamespaces = [\"a\", \"b\"]\nremember = true\n\n\
             [mcp]\nrequests_per_minute = 0\n"
        );
        let mcp = with(Some(&text), None).expect("allowed").mcp;
        assert_eq!(mcp.requests_per_minute, None);
        let [token] = mcp.tokens.as_slice() else { panic!("{:?}", mcp.tokens) };
        assert_eq!((token.name.as_str(), token.sha256[0], token.remember, token.feedback), ("ci", 0x9f, true, false));
        assert_eq!(token.namespaces.as_deref(), Some(&["a".to_owned(), "b".to_owned()][..]));
        let all = text.replace("[\"a\", \"b\"]", "\"all\"");
        assert_eq!(with(Some(&all), None).expect("allowed").mcp.tokens[0].namespaces, None);
    }

    #[test]
    fn a_checked_in_file_has_no_say_in_who_reaches_a_server() {
        for text in [
            format!("[[mcp.token]]\nname = \"ci\"\nsha256 = \"{HASH}\"\nnamespaces = \"all\"\n"),
            "[mcp]\nallowed_hosts = [\"evil.example\"]\n".to_owned(),
            "[mcp]\nrequests_per_minute = 0\n".to_owned(),
        ] {
            let error = with(None, Some(&text)).expect_err("refused");
            assert!(error.contains("mcp.") && error.contains("user's configuration"), "{error}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_token_is_said_without_showing_it() {
        let whole = |name: &str, hash: &str, rest: &str| {
            format!("[[mcp.token]]\nname = \"{name}\"\nsha256 = \"{hash}\"\n{rest}\n")
        };
        for (text, says) in [
            (whole("a b", HASH, "namespaces = \"all\""), "name"),
            (whole("a", "hunter2-hunter2-hunter2", "namespaces = \"all\""), "hexadecimal"),
            (whole("a", HASH, ""), "namespaces"),
            (whole("a", HASH, "namespaces = []"), "namespaces"),
            (whole("a", HASH, "namespaces = \"some\""), "namespaces"),
            (whole("a", HASH, "namespaces = \"all\"\ntoken = \"hunter2-hunter2\""), "token"),
            (whole("a", HASH, "namespaces = \"all\"").repeat(2), "different"),
            ("[mcp]\ntoken = \"hunter2-hunter2\"\n".to_owned(), "[[mcp.token]]"),
            ("[mcp]\nallowed_hosts = [\"http://a\"]\n".to_owned(), "names of hosts"),
            ("[mcp]\nallowed_hosts = [\"a:80\"]\n".to_owned(), "names of hosts"),
            ("[mcp]\nallowed_origins = [\"null\"]\n".to_owned(), "origins"),
            ("[mcp]\nallowed_origins = [\"https://*\"]\n".to_owned(), "origins"),
            ("[mcp]\nmax_conections = 3\n".to_owned(), "max_connections"),
        ] {
            let error = with(Some(&text), None).expect_err(&text);
            assert!(error.contains(says) && !error.contains("hunter2"), "{error}");
        }
    }
}
