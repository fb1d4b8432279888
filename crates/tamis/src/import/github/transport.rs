//! One request over HTTP. The only method is GET, and every address is on the API's host.

use super::Token;
use super::api::{Address, Api};
use crate::server_message::shortened;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use ureq::Agent;
use ureq::http::HeaderMap;

/// The largest answer read. A page has a hundred entries of at most 65,536 characters each.
const LARGEST: u64 = 64 << 20;

/// The version of the API that the client was written for.
const VERSION: &str = "2022-11-28";

/// Sends requests to one host.
#[derive(Debug)]
pub(super) struct Transport {
    agent: Agent,
    token: Option<Token>,
}

/// An answer, whatever its status.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

/// The server's validators of a page, with which it can later say that the page has not changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Validators {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) etag: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) last_modified: Option<String>,
}

impl Transport {
    pub(super) fn new(api: &Api, token: Option<Token>, timeout: Duration) -> Self {
        let config = Agent::config_builder()
            .timeout_global(Some(timeout))
            .http_status_as_error(false)
            // The client checks every redirect before it follows it.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .https_only(!api.is_loopback())
            .user_agent(concat!("tamis/", env!("CARGO_PKG_VERSION")));
        // Requests to this machine bypass the proxy, which would see the token.
        let config = if api.is_loopback() { config.proxy(None) } else { config };
        Transport { agent: config.build().new_agent(), token }
    }

    /// Sends a request. The error is the reason for a missing or partial answer.
    pub(super) fn get(&self, address: &Address, validators: Option<&Validators>) -> Result<Response, String> {
        let mut request = self
            .agent
            .get(address.as_str())
            .header("accept", "application/vnd.github+json")
            .header("x-github-api-version", VERSION);
        if let Some(token) = &self.token {
            request = request.header("authorization", token.authorization());
        }
        if let Some(Validators { etag, last_modified }) = validators {
            if let Some(etag) = etag {
                request = request.header("if-none-match", etag);
            } else if let Some(last_modified) = last_modified {
                request = request.header("if-modified-since", last_modified);
            }
        }
        let mut response = request.call().map_err(|error| self.broken(&error))?;
        let body = response.body_mut().with_config().limit(LARGEST).read_to_vec();
        Ok(Response {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            body: body.map_err(|error| self.broken(&error))?,
        })
    }

    /// Returns the reason for a missing answer.
    fn broken(&self, error: &ureq::Error) -> String {
        match error {
            ureq::Error::Timeout(phase) => format!("no answer in time ({phase})"),
            ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                "the connection was refused".to_owned()
            }
            ureq::Error::HostNotFound => "the host is not known; is there a connection to the internet?".to_owned(),
            ureq::Error::BodyExceedsLimit(_) => format!("the answer is larger than {} MB", LARGEST >> 20),
            other => self.redacted(&other.to_string()),
        }
    }

    /// Returns the server's own message with a separator in front: on one line, shortened, and without the token in case the
    /// server repeats it. Empty if there is none.
    pub(super) fn error_message(&self, response: &Response) -> String {
        let said = self.redacted(&response.message());
        if said.is_empty() { said } else { format!(": {said}") }
    }

    fn redacted(&self, message: &str) -> String {
        match &self.token {
            Some(token) => shortened(&token.taken_out_of(message)),
            None => shortened(message),
        }
    }

    /// Returns the environment variable of the token, if there is one.
    pub(super) fn token_variable(&self) -> Option<&str> {
        self.token.as_ref().map(Token::variable)
    }
}

impl Response {
    /// Returns a header as text.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim)
    }

    /// Returns a header as a whole number.
    pub(super) fn number(&self, name: &str) -> Option<i64> {
        self.header(name).and_then(|value| value.parse().ok())
    }

    /// Returns the message of an error answer; empty if it has none.
    pub(super) fn message(&self) -> String {
        #[derive(Deserialize)]
        struct Said {
            message: String,
        }
        serde_json::from_slice::<Said>(&self.body).map(|said| said.message).unwrap_or_default()
    }

    pub(super) fn validators(&self) -> Option<Validators> {
        let text = |name| self.header(name).map(str::to_owned);
        let validators = Validators { etag: text("etag"), last_modified: text("last-modified") };
        (validators != Validators::default()).then_some(validators)
    }
}
