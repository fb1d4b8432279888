//! Hosts of addresses, so that a token only goes to the host it is for.

use std::fmt;
use std::net::IpAddr;

use ureq::http::Uri;

/// Scheme, name and port of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Host {
    pub scheme: String,
    pub name: String,
    pub port: u16,
}

impl Host {
    /// Returns the host of an address; `None` unless it begins with `http://` or `https://` and a name.
    pub fn from_uri(uri: &Uri) -> Option<Host> {
        let scheme = uri.scheme_str()?.to_ascii_lowercase();
        let default = match scheme.as_str() {
            "https" => 443,
            "http" => 80,
            _ => return None,
        };
        let name = uri.host()?.to_ascii_lowercase();
        if name.is_empty() {
            return None;
        }
        Some(Host { scheme, name, port: uri.port_u16().unwrap_or(default) })
    }

    /// Returns `true` if the host is this machine.
    pub fn is_loopback(&self) -> bool {
        let bare = self.name.trim_start_matches('[').trim_end_matches(']');
        bare == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

impl fmt::Display for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}://{}", self.scheme, self.name)?;
        match (self.scheme.as_str(), self.port) {
            ("https", 443) | ("http", 80) => Ok(()),
            (_, port) => write!(formatter, ":{port}"),
        }
    }
}

/// Returns `true` if an address names a user, and perhaps a password.
pub(crate) fn has_user(uri: &Uri) -> bool {
    uri.authority().is_some_and(|authority| authority.as_str().contains('@'))
}

/// Returns an address without user name, password, query and fragment, any of which may be a secret.
pub(crate) fn without_secrets(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    match url.split_once("://") {
        Some((scheme, rest)) => format!("{scheme}://{}", rest.rsplit('@').next().unwrap_or_default()),
        None => url.rsplit('@').next().unwrap_or_default().to_owned(),
    }
}
