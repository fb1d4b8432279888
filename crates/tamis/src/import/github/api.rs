//! Addresses of one API. The client accepts no others.
//!
//! The token goes with every request, so an [`Address`] is only created here, and only for the host that the user named.
//! Addresses from the server (a `Link`, a redirect) follow the same rule.

use super::Repository;
use crate::error::GithubError;
use crate::host::{Host, has_user, without_secrets};
use std::fmt;
use ureq::http::Uri;

/// The root of GitHub's own API.
pub const GITHUB_API: &str = "https://api.github.com";

/// The root of an API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Api {
    /// Scheme, host and port.
    host: Host,
    /// The path in front of every address, without a slash at its end.
    path: String,
}

/// An address at the host of the API.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Address(String);

impl Api {
    /// Parses the root of an API, which begins with `https://`, or with `http://` on this machine.
    pub(super) fn at(url: &str) -> Result<Self, GithubError> {
        let wrong = |reason: &str| GithubError::ApiUrl { given: without_secrets(url), reason: reason.to_owned() };
        let uri: Uri = url.trim().parse().map_err(|_| wrong("it is no address"))?;
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(wrong("a name or password in it would be printed; the token comes from the environment"));
        }
        if uri.query().is_some() || url.contains('#') {
            return Err(wrong("it is the root of the API, without `?` or `#`"));
        }
        let host = Host::from_uri(&uri).ok_or_else(|| wrong("it has to begin with https:// and a host"))?;
        if host.scheme != "https" && !host.is_loopback() {
            return Err(wrong("it has to begin with https://, since the token goes there"));
        }
        Ok(Api { host, path: uri.path().trim_end_matches('/').to_owned() })
    }

    /// Returns `true` if the API is on this machine.
    pub(super) fn is_loopback(&self) -> bool {
        self.host.is_loopback()
    }

    /// Returns the host's name unless it is GitHub's own or this machine, which stands for GitHub.
    pub(super) fn other_host(&self) -> Option<&str> {
        (self.host.name != "api.github.com" && !self.is_loopback()).then_some(self.host.name.as_str())
    }

    /// Returns the root of a repository.
    pub(super) fn repository(&self, repository: &Repository) -> Address {
        Address(format!("{}{}/repos/{repository}", self.host, self.path))
    }

    /// Returns an address that the server named in its answer to a request of `from`. It has to be at the same host.
    pub(super) fn named(&self, address: &str, from: &Address) -> Result<Address, GithubError> {
        // A path alone stays on the same host; `//other/path` does not.
        if address.starts_with('/') && !address.starts_with("//") {
            return Ok(Address(format!("{}{address}", self.host)));
        }
        let uri: Option<Uri> = address.parse().ok();
        let elsewhere = uri.as_ref().and_then(Host::from_uri).filter(|host| *host != self.host);
        match uri {
            Some(uri) if Host::from_uri(&uri).is_some() && elsewhere.is_none() && !has_user(&uri) => {
                let path = uri.path_and_query().map_or("/", |path| path.as_str());
                Ok(Address(format!("{}{path}", self.host)))
            }
            _ => Err(GithubError::OtherHost {
                asked: from.to_string(),
                named: elsewhere.map_or_else(|| without_secrets(address), |host| host.to_string()),
            }),
        }
    }
}

impl Address {
    /// Returns the address for the request line.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the address of a path, with or without a query, below this one.
    pub(super) fn below(&self, path: &str) -> Address {
        Address(format!("{}/{path}", self.0))
    }

    /// Returns the address without `suffix` and everything after it; `None` if it lacks `suffix`.
    pub(super) fn before(&self, suffix: &str) -> Option<Address> {
        self.0.split_once(suffix).map(|(before, _)| Address(before.to_owned()))
    }
}

impl fmt::Display for Address {
    /// Prints the address without its query, which is fit for messages.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0.split('?').next().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cargo(api: &Api) -> Address {
        api.repository(&"rust-lang/cargo".parse().expect("a repository"))
    }

    #[test]
    fn the_root_may_have_a_path_and_must_be_safe() {
        let address = |url: &str| cargo(&Api::at(url).expect(url)).as_str().to_owned();
        assert_eq!(address(GITHUB_API), "https://api.github.com/repos/rust-lang/cargo");
        assert_eq!(address("https://git.example.org/api/v3/"), "https://git.example.org/api/v3/repos/rust-lang/cargo");
        assert_eq!(address("http://127.0.0.1:8080"), "http://127.0.0.1:8080/repos/rust-lang/cargo");
        assert_eq!(address("http://[::1]:8080"), "http://[::1]:8080/repos/rust-lang/cargo");
        for (url, said) in [
            ("http://api.github.com", "https://"),
            ("http://127.0.0.1.example.org", "https://"),
            ("http://localhost.example.org", "https://"),
            ("ftp://api.github.com", "https://"),
            ("api.github.com", "https://"),
            ("https://me:sesame@api.github.com", "environment"),
            ("https://api.github.com?token=sesame", "root"),
            ("https://api.github.com/#sesame", "root"),
            ("not an address", "no address"),
        ] {
            let error = Api::at(url).expect_err(url).to_string();
            assert!(error.contains(said) && !error.contains("sesame"), "{url}: {error}");
        }

        let other = |url: &str| Api::at(url).expect(url).other_host().map(str::to_owned);
        assert_eq!(other("https://git.example.org/api/v3").as_deref(), Some("git.example.org"));
        assert_eq!(other(GITHUB_API), None);
        assert_eq!(other("http://localhost:1"), None);
    }

    #[test]
    fn trap_what_the_server_names_is_followed_at_the_same_host_alone() {
        let api = Api::at("https://api.github.com").expect("valid");
        let from = cargo(&api);
        for same in ["https://api.github.com/r?page=2", "https://API.github.com:443/r?page=2", "/r?page=2"] {
            assert_eq!(api.named(same, &from).expect(same).as_str(), "https://api.github.com/r?page=2");
        }
        for other in [
            "https://evil.example/r?page=2", "http://api.github.com/r?page=2", "https://api.github.com:8443/r",
            "//evil.example/r", "https://api.github.com@evil.example/r", "https://evil.example@api.github.com/r",
            "https://api.github.com.evil.example/r", "r?page=2", "",
        ] {
            let error = api.named(other, &from).expect_err(other);
            assert!(matches!(error, GithubError::OtherHost { .. }), "{other}: {error}");
        }
    }
}
