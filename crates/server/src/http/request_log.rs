//! One log line for each request: the tool, the token and the outcome. Arguments are left out unless the user asks for them.

use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Most bytes of a logged name.
const MAX_NAME: usize = 64;

/// Most bytes of logged arguments.
const MAX_ARGUMENTS: usize = 2000;

/// The log line of a request. It is written when this is dropped: when the answer has been sent, or the client has left.
#[derive(Debug)]
pub(super) struct RequestLog {
    started: Instant,
    http: String,
    path: String,
    call: LoggedCall,
    pub status: u16,
}

/// What the log says of the call inside a request. Whoever reads the call notes it here.
#[derive(Clone, Debug, Default)]
pub(super) struct LoggedCall(Arc<Mutex<CallDetails>>);

#[derive(Debug, Default)]
struct CallDetails {
    method: String,
    tool: String,
    arguments: Option<String>,
    token: Option<String>,
}

impl RequestLog {
    /// The line of a request, by its method and its route.
    pub fn new(http: &str, path: &str, call: LoggedCall) -> RequestLog {
        let http = start(http, MAX_NAME).to_owned();
        RequestLog { started: Instant::now(), http, path: path.to_owned(), call, status: 0 }
    }

    /// The time since the request arrived.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

impl LoggedCall {
    fn details(&self) -> MutexGuard<'_, CallDetails> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the name of the caller's token.
    pub fn token(&self, name: Option<&str>) {
        self.details().token = name.map(str::to_owned);
    }

    /// Notes the method and the tool that a message calls.
    pub fn message(&self, body: &[u8], with_arguments: bool) {
        if !tracing::enabled!(tracing::Level::INFO) {
            return;
        }
        let Ok(message) = serde_json::from_slice::<Value>(body) else { return };
        let (called, params) = (&message["method"], &message["params"]);
        let name = |value: &Value| start(value.as_str().unwrap_or_default(), MAX_NAME).to_owned();
        let mut details = self.details();
        details.method = name(called);
        if called == "tools/call" || called == "prompts/get" {
            details.tool = name(&params["name"]);
        }
        if with_arguments {
            let arguments = params.get("arguments").map(Value::to_string);
            details.arguments = arguments.map(|arguments| start(&arguments, MAX_ARGUMENTS).to_owned());
        }
    }

    /// Notes the operation of the API.
    pub fn operation(&self, name: &str) {
        name.clone_into(&mut self.details().tool);
    }

    /// Notes the parameters of an operation.
    pub fn parameters(&self, parameters: &str) {
        self.details().arguments = Some(start(parameters, MAX_ARGUMENTS).to_owned());
    }
}

/// The first bytes of a text, in whole characters.
fn start(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most.min(text.len()))]
}

impl Drop for RequestLog {
    fn drop(&mut self) {
        let call = self.call.details();
        let ms = (self.started.elapsed().as_secs_f64() * 1e4).round() / 10.0;
        // Text from clients is written with `?`, which escapes characters that could end the line or control a terminal.
        tracing::info!(
            target: "tamis::http",
            http = ?self.http,
            path = self.path,
            method = ?call.method,
            tool = ?call.tool,
            token = call.token.as_deref().unwrap_or("-"),
            status = self.status,
            ms,
            arguments = call.arguments.as_ref().map(tracing::field::debug),
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
