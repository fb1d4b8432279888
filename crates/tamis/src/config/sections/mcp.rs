//! `[mcp]`: access to a server over HTTP.

use std::time::Duration;

use crate::config::declare::{Entry, integer, list, section};
use crate::config::error::ConfigError;
use crate::config::mcp_tokens::McpToken;

section! {
    /// Access to a server over HTTP. Only the user's own configuration can set it.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct McpConfig {
        /// Host names in clients' addresses that a server over HTTP accepts besides its own; user's configuration only.
        pub allowed_hosts: Vec<String> = "mcp.allowed_hosts",
            list(&[]).check(each(is_host, "names of hosts, without scheme, port and path"));
        /// Origins such as https://app.example.com whose pages may call a server over HTTP, besides its own; user's
        /// configuration only.
        pub allowed_origins: Vec<String> = "mcp.allowed_origins",
            list(&[]).check(each(is_origin, "origins such as https://app.example.com:8443, without a path"));
        /// Most HTTP requests a minute of each token, or of each address without one; 0: unlimited; user's configuration
        /// only.
        pub requests_per_minute: Option<u32> = "mcp.requests_per_minute",
            integer(0..=1_000_000, 1200).map(|requests: u32| (requests > 0).then_some(requests));
        /// Most HTTP connections at a time; user's configuration only.
        pub max_connections: usize = "mcp.max_connections", integer(1..=100_000, 512);
        /// Longest time that an HTTP request may take, in seconds; user's configuration only.
        pub request_timeout: Duration = "mcp.request_timeout_seconds", integer(1..=3600, 60).map(Duration::from_secs);
        /// `[[mcp.token]]`.
        pub tokens: Vec<McpToken> => |settings| Ok(settings.tokens.clone());
    }
}

/// Refuses a list with an invalid entry.
fn each(
    is_right: fn(&str) -> bool,
    allowed: &'static str,
) -> impl Fn(&Entry<'_>, Vec<String>) -> Result<Vec<String>, ConfigError> {
    move |entry, list| match list.iter().find(|item| !is_right(item)) {
        None => Ok(list),
        Some(wrong) => Err(entry.refuse(wrong.as_str(), allowed)),
    }
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

#[cfg(test)]
mod tests {
    use crate::config::tests::given;

    #[test]
    fn a_users_tokens_are_read_with_what_they_open() {
        let hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
        let text = format!(
            "[[mcp.token]]\nname = \"ci\"\nsha256 = \"{hash}\"\nnamespaces = [\"a\", \"b\"]\nremember = true\n\n\
             [mcp]\nrequests_per_minute = 0\n"
        );
        let mcp = given(&text, "", &[]).expect("allowed").mcp;
        assert_eq!(mcp.requests_per_minute, None);
        let [token] = mcp.tokens.as_slice() else { panic!("{:?}", mcp.tokens) };
        assert_eq!((token.name.as_str(), token.sha256[0], token.remember, token.feedback), ("ci", 0x9f, true, false));
        assert_eq!(token.namespaces.as_deref(), Some(&["a".to_owned(), "b".to_owned()][..]));
        let all = text.replace("[\"a\", \"b\"]", "\"all\"");
        assert_eq!(given(&all, "", &[]).expect("allowed").mcp.tokens[0].namespaces, None);
    }
}
