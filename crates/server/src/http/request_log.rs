//! One log line for each request: the tool, the token and the outcome. Arguments are left out unless the user asks for them.

use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::time::Instant;

/// Most bytes of a logged name.
const MAX_NAME: usize = 64;

/// Most bytes of logged arguments.
const MAX_ARGUMENTS: usize = 2000;

/// The log line of a request. It is written when this is dropped: when the answer has been sent, or the client has left.
#[derive(Debug)]
pub(super) struct RequestLog {
    started: Instant,
    http: String,
    path: &'static str,
    method: String,
    tool: String,
    arguments: Option<String>,
    pub token: Option<String>,
    pub status: u16,
}

/// The logged part of a message.
#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<Params<'a>>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
}

/// The logged part of a message when arguments are logged too.
#[derive(Deserialize)]
struct WithArguments {
    params: Arguments,
}

#[derive(Deserialize)]
struct Arguments {
    arguments: Value,
}

impl RequestLog {
    pub fn new(http: &str, path: &'static str) -> RequestLog {
        RequestLog {
            started: Instant::now(),
            http: start(http, MAX_NAME).to_owned(),
            path,
            method: String::new(),
            tool: String::new(),
            arguments: None,
            token: None,
            status: 0,
        }
    }

    /// Notes the method and the tool that a message calls.
    pub fn message(&mut self, body: &[u8], with_arguments: bool) {
        if !tracing::enabled!(tracing::Level::INFO) {
            return;
        }
        let Ok(message) = serde_json::from_slice::<Message<'_>>(body) else { return };
        self.method = message.method.map(|method| start(&method, MAX_NAME).to_owned()).unwrap_or_default();
        let Some(params) = message.params else { return };
        if self.method == "tools/call" || self.method == "prompts/get" {
            self.tool = params.name.map(|name| start(&name, MAX_NAME).to_owned()).unwrap_or_default();
        }
        if with_arguments {
            let message = serde_json::from_slice::<WithArguments>(body).ok();
            self.arguments =
                message.map(|message| start(&message.params.arguments.to_string(), MAX_ARGUMENTS).to_owned());
        }
    }

    /// Notes the route and the operation of the API, with its parameters if they are logged.
    pub fn operation(&mut self, path: &'static str, name: &str, parameters: Option<String>) {
        self.path = path;
        self.tool = name.to_owned();
        self.arguments = parameters.map(|parameters| start(&parameters, MAX_ARGUMENTS).to_owned());
    }

    /// The route, for the metrics.
    pub fn path(&self) -> &'static str {
        self.path
    }

    /// The time since the request arrived.
    pub fn elapsed(&self) -> std::time::Duration {
        self.started.elapsed()
    }
}

/// The first bytes of a text, in whole characters.
fn start(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most.min(text.len()))]
}

impl Drop for RequestLog {
    fn drop(&mut self) {
        let ms = (self.started.elapsed().as_secs_f64() * 1e4).round() / 10.0;
        // Text from clients is written with `?`, which escapes characters that could end the line or control a terminal.
        tracing::info!(
            target: "tamis::http",
            http = ?self.http,
            path = self.path,
            method = ?self.method,
            tool = ?self.tool,
            token = self.token.as_deref().unwrap_or("-"),
            status = self.status,
            ms,
            arguments = self.arguments.as_ref().map(tracing::field::debug),
            "request"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_in_whole_characters() {
        assert_eq!(start("abc", 64), "abc");
        assert_eq!(start("a\u{20ac}\u{20ac}", 3), "a");
        assert_eq!(start("a\u{20ac}\u{20ac}", 4), "a\u{20ac}");
    }
}
