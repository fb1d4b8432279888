//! One request to the hub, with its redirects. The token stays with the hub's own host.

use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use ureq::http::{HeaderMap, Response, Uri};
use ureq::{Agent, Body};

use super::add::Sum;
use super::{HubToken, ModelName};
use crate::error::HubError;
use crate::server_message::shortened;
use crate::url_host::{Host, has_user, without_secrets};

/// The hub that is asked unless `HF_ENDPOINT` names another.
pub const HUB: &str = "https://huggingface.co";

/// The environment variable that names another hub.
const VARIABLE: &str = "HF_ENDPOINT";

/// The most redirects in a row.
const REDIRECTS: u32 = 5;

/// The longest waits for a connection, for the head of an answer, and for the next bytes of a file.
const CONNECT: Duration = Duration::from_secs(30);
const ANSWER: Duration = Duration::from_secs(60);
const READ: Duration = Duration::from_secs(60);

/// The largest error answer that is read.
const LARGEST_MESSAGE: u64 = 1 << 16;

/// Characters of a file's name that stand in an address as they are.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The hub to ask, and the token for it.
#[derive(Clone, Debug)]
pub struct HubAccess {
    /// Its address.
    pub endpoint: String,
    /// The token, for models that not everybody may read.
    pub token: Option<HubToken>,
}

impl HubAccess {
    /// Reads `HF_ENDPOINT` and `HF_TOKEN` through `variable`.
    ///
    /// # Errors
    /// The token holds characters that no token has.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Self, HubError> {
        let endpoint = variable(VARIABLE).filter(|endpoint| !endpoint.trim().is_empty());
        let endpoint = endpoint.unwrap_or_else(|| HUB.to_owned());
        Ok(HubAccess { endpoint, token: HubToken::from_environment(variable)? })
    }
}

/// Sends requests to one hub.
#[derive(Debug)]
pub(crate) struct Transport {
    agent: Agent,
    host: Host,
    /// The address in front of every path, without a slash at its end.
    root: String,
    token: Option<HubToken>,
}

/// The hub's own answer about a file, before a redirect leads to the host that keeps it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    pub commit: Option<String>,
    pub sum: Option<Sum>,
    pub code: Option<String>,
}

/// A request without a usable answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It may succeed later, and not before the time that the server asks for.
    Passing { reason: String, wait: Option<Duration> },
    /// It would fail again.
    Lasting(HubError),
}

impl From<HubError> for Failure {
    fn from(error: HubError) -> Self {
        Failure::Lasting(error)
    }
}

impl Failure {
    pub fn passing(reason: impl Into<String>) -> Self {
        Failure::Passing { reason: reason.into(), wait: None }
    }
}

impl Transport {
    /// Parses the address of the hub, which begins with `https://`, or with `http://` on this machine.
    pub fn new(access: &HubAccess) -> Result<Self, HubError> {
        let given = access.endpoint.trim();
        let wrong = |reason| HubError::Endpoint { given: without_secrets(given), reason };
        let uri: Uri = given.parse().map_err(|_| wrong("it is no address"))?;
        if has_user(&uri) {
            return Err(wrong("a name or password in it would be printed; the token comes from HF_TOKEN"));
        }
        if uri.query().is_some() || given.contains('#') {
            return Err(wrong("it has to end before `?` or `#`"));
        }
        let host = Host::from_uri(&uri).ok_or_else(|| wrong("it has to begin with https:// and a host"))?;
        if host.scheme != "https" && !host.is_loopback() {
            return Err(wrong("it has to begin with https://"));
        }
        let config = Agent::config_builder()
            .timeout_connect(Some(CONNECT))
            .timeout_recv_response(Some(ANSWER))
            .timeout_per_read(Some(READ))
            .http_status_as_error(false)
            // Each redirect is checked before it is followed.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .https_only(!host.is_loopback())
            .user_agent(concat!("tamis/", env!("CARGO_PKG_VERSION")));
        // Requests to this machine bypass the proxy, which would see the token.
        let config = if host.is_loopback() { config.proxy(None) } else { config };
        let root = format!("{host}{}", uri.path().trim_end_matches('/'));
        Ok(Transport { agent: config.build().new_agent(), host, root, token: access.token.clone() })
    }

    /// Returns the address of the hub.
    pub fn root(&self) -> &str {
        &self.root
    }

    pub fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// Returns the address of the list of a model's files.
    pub fn listing(&self, name: &ModelName) -> String {
        let revision = name.revision().unwrap_or("main");
        format!("{}/api/models/{}/revision/{}?blobs=true", self.root, name.repository(), quoted(revision))
    }

    /// Returns the address of a file.
    pub fn file(&self, name: &ModelName, commit: &str, path: &str) -> String {
        let path: Vec<String> = path.split('/').map(quoted).collect();
        format!("{}/{}/resolve/{commit}/{}", self.root, name.repository(), path.join("/"))
    }

    /// Sends a request and follows its redirects. Returns the first other answer, with what the hub itself said on the way.
    pub fn get(&self, asked: &str, from: Option<u64>) -> Result<(Response<Body>, Said), Failure> {
        let (mut address, mut said) = (asked.to_owned(), Said::default());
        for _ in 0..=REDIRECTS {
            let is_hub = address.parse().ok().as_ref().and_then(Host::from_uri).is_some_and(|host| host == self.host);
            let mut request = self.agent.get(&address).header("accept-encoding", "identity");
            if let (true, Some(token)) = (is_hub, &self.token) {
                request = request.header("authorization", token.authorization());
            }
            if let Some(from) = from {
                request = request.header("range", format!("bytes={from}-"));
            }
            let response = request.call().map_err(|error| self.broken(asked, &error))?;
            if is_hub {
                said.hear(response.headers());
            }
            if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
                return Ok((response, said));
            }
            address = self.target(asked, &address, response.headers())?;
        }
        let reason = format!("redirected more than {REDIRECTS} times");
        Err(HubError::Answer { address: without_secrets(asked), reason }.into())
    }

    /// Returns the address that a redirect names. Files may be kept by another host, but nothing that began on the network with
    /// TLS goes on without it or ends on this machine.
    fn target(&self, asked: &str, from: &str, headers: &HeaderMap) -> Result<String, HubError> {
        let named = text(headers, "location").unwrap_or_default();
        let refused = |reason| HubError::Redirect {
            asked: without_secrets(asked),
            named: format!("{:?}", without_secrets(named)),
            reason,
        };
        let current = from.parse().ok().as_ref().and_then(Host::from_uri).ok_or_else(|| refused("no address"))?;
        if named.starts_with('/') && !named.starts_with("//") {
            return Ok(format!("{current}{named}"));
        }
        let uri: Uri = named.parse().map_err(|_| refused("it is no address"))?;
        let host = Host::from_uri(&uri).ok_or_else(|| refused("it does not begin with https:// and a host"))?;
        if has_user(&uri) {
            return Err(refused("it names a user"));
        }
        if !self.host.is_loopback() && (host.scheme != "https" || host.is_loopback()) {
            return Err(refused("it does not begin with https:// and another machine"));
        }
        Ok(named.to_owned())
    }

    /// Returns the reason for a missing answer.
    pub fn broken(&self, asked: &str, error: &ureq::Error) -> Failure {
        match error {
            ureq::Error::Timeout(phase) => Failure::passing(format!("no answer in time ({phase})")),
            ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                Failure::passing("the connection was refused; is there a connection to the network?")
            }
            ureq::Error::HostNotFound => {
                Failure::passing("the host is not known; is there a connection to the network?")
            }
            ureq::Error::Io(_) | ureq::Error::ConnectionFailed | ureq::Error::ConnectProxyFailed(_) => {
                Failure::passing(self.redacted(&error.to_string()))
            }
            other => {
                let reason = self.redacted(&other.to_string());
                Failure::Lasting(HubError::Answer { address: without_secrets(asked), reason })
            }
        }
    }

    /// Returns the failure that an answer without a file stands for. `None` for an answer with one.
    pub fn refusal(
        &self,
        name: &ModelName,
        asked: &str,
        response: &mut Response<Body>,
        said: &Said,
    ) -> Option<Failure> {
        let status = response.status().as_u16();
        let retry = || text(response.headers(), "retry-after")?.parse().ok().map(Duration::from_secs);
        match status {
            200 | 206 => return None,
            408 | 429 | 500.. => {
                return Some(Failure::Passing { reason: format!("status {status}"), wait: retry() });
            }
            _ => {}
        }
        let said = said.code.as_deref().unwrap_or_default().to_owned();
        let message = self.message(response);
        let missing = |reason: String| {
            let (model, hub) = (name.to_string(), self.root.clone());
            Failure::Lasting(HubError::NotFound { model, hub, status, reason })
        };
        let named = name.revision().unwrap_or("main");
        Some(match status {
            403 if said == "GatedRepo" => missing(format!(
                "its owner asks for consent to its terms; give it at {}/{} and set HF_TOKEN",
                self.root,
                name.repository()
            )),
            404 if said == "RevisionNotFound" => missing(format!("it has no revision {named}")),
            401 | 403 if self.has_token() => {
                missing("there is no such model, or the token of HF_TOKEN is not valid for it".to_owned())
            }
            401 | 403 => missing(
                "there is no such model, or it is not public; check the name, or set HF_TOKEN to a token that may read it"
                    .to_owned(),
            ),
            404 => missing("there is no such model or revision; check the name".to_owned()),
            _ => HubError::Refused { address: without_secrets(asked), status, said: message }.into(),
        })
    }

    /// Returns the server's own message with a separator in front: on one line, shortened, and without the token in case the
    /// server repeats it. Empty if there is none.
    fn message(&self, response: &mut Response<Body>) -> String {
        #[derive(Deserialize)]
        struct Message {
            error: String,
        }
        let body = response.body_mut().with_config().limit(LARGEST_MESSAGE).read_to_vec().unwrap_or_default();
        let message = serde_json::from_slice::<Message>(&body).map(|message| message.error).unwrap_or_default();
        let message = self.redacted(&message);
        if message.is_empty() { message } else { format!(": {message}") }
    }

    fn redacted(&self, message: &str) -> String {
        match &self.token {
            Some(token) => shortened(&token.taken_out_of(message)),
            None => shortened(message),
        }
    }
}

impl Said {
    fn hear(&mut self, headers: &HeaderMap) {
        let commit = text(headers, "x-repo-commit").map(str::to_ascii_lowercase);
        self.commit = commit.or(self.commit.take());
        self.code = text(headers, "x-error-code").map(str::to_owned).or(self.code.take());
        // A large file's own tag names the pointer to it.
        let sum = text(headers, "x-linked-etag").or_else(|| text(headers, "etag"));
        self.sum = sum.and_then(Sum::parse).or(self.sum.take());
    }
}

/// Returns a header as text.
pub(crate) fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim)
}

fn quoted(part: &str) -> String {
    utf8_percent_encode(part, PLAIN).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transport(endpoint: &str) -> Result<Transport, HubError> {
        Transport::new(&HubAccess { endpoint: endpoint.to_owned(), token: None })
    }

    #[test]
    fn addresses_are_quoted_and_a_hub_is_reached_by_tls_or_here() {
        let hub = transport("https://hub.example.org/mirror/").expect("valid");
        let name: ModelName = "a/b@refs/pr/1".parse().expect("a name");
        let base = "https://hub.example.org/mirror";
        assert_eq!(hub.listing(&name), format!("{base}/api/models/a/b/revision/refs%2Fpr%2F1?blobs=true"));
        assert_eq!(hub.file(&name, "0a", "x y/ü?#.json"), format!("{base}/a/b/resolve/0a/x%20y/%C3%BC%3F%23.json"));

        for endpoint in [HUB, "http://127.0.0.1:8080", "http://localhost:1/x", "http://[::1]:1"] {
            assert!(transport(endpoint).is_ok(), "{endpoint}");
        }
        for (endpoint, said) in [
            ("http://hub.example.org", "https://"),
            ("http://127.0.0.1.example.org", "https://"),
            ("hub.example.org", "https://"),
            ("https://me:sesame@hub.example.org", "HF_TOKEN"),
            ("https://hub.example.org?token=sesame", "`?`"),
            ("not an address", "no address"),
        ] {
            let error = transport(endpoint).expect_err(endpoint).to_string();
            assert!(error.contains(said) && !error.contains("sesame"), "{endpoint}: {error}");
        }
    }

    #[test]
    fn trap_redirects_stay_on_tls_and_off_this_machine() {
        let hub = transport(HUB).expect("valid");
        let from = format!("{HUB}/a/b/resolve/0a/x");
        let target = |location: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("location", location.parse().expect("a header"));
            hub.target(&from, &from, &headers)
        };
        assert_eq!(target("/api/x?y=1").expect("followed"), format!("{HUB}/api/x?y=1"));
        assert_eq!(target("https://cdn.example.org/x?s=1").expect("followed"), "https://cdn.example.org/x?s=1");
        for location in [
            "http://cdn.example.org/x", "https://localhost/x", "https://127.0.0.1/x",
            "https://me:sesame@cdn.example.org/x", "file:///etc/passwd", "//cdn.example.org/x", "x", "",
        ] {
            let error = target(location).expect_err(location).to_string();
            assert!(!error.contains("sesame"), "{error}");
        }
    }
}
