//! One line of the log for each request: what was asked of what tool by whom, and how it ended. What was said is left out
//! unless that is asked for.

use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::time::Instant;

/// Most bytes of a name or of arguments that are taken down.
const NAME: usize = 64;
const ARGUMENTS: usize = 2000;

/// The line of a request, written when this is dropped: when the whole answer is sent, or nobody wants the rest.
#[derive(Debug)]
pub(super) struct Record {
    started: Instant,
    http: String,
    path: &'static str,
    method: String,
    tool: String,
    arguments: Option<String>,
    pub token: Option<String>,
    pub status: u16,
}

/// What is looked at of a message.
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

/// What is looked at where arguments are wanted as well.
#[derive(Deserialize)]
struct Spoken {
    params: Said,
}

#[derive(Deserialize)]
struct Said {
    arguments: Value,
}

impl Record {
    pub fn new(http: &str, path: &'static str) -> Record {
        Record {
            started: Instant::now(),
            http: start(http, NAME).to_owned(),
            path,
            method: String::new(),
            tool: String::new(),
            arguments: None,
            token: None,
            status: 0,
        }
    }

    /// Takes down what a message calls.
    pub fn message(&mut self, body: &[u8], with_arguments: bool) {
        if !tracing::enabled!(tracing::Level::INFO) {
            return;
        }
        let Ok(message) = serde_json::from_slice::<Message<'_>>(body) else { return };
        self.method = message.method.map(|method| start(&method, NAME).to_owned()).unwrap_or_default();
        let Some(params) = message.params else { return };
        if self.method == "tools/call" || self.method == "prompts/get" {
            self.tool = params.name.map(|name| start(&name, NAME).to_owned()).unwrap_or_default();
        }
        if with_arguments {
            let spoken = serde_json::from_slice::<Spoken>(body).ok();
            self.arguments = spoken.map(|spoken| start(&spoken.params.arguments.to_string(), ARGUMENTS).to_owned());
        }
    }
}

/// The first bytes of a text, in whole characters.
fn start(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most.min(text.len()))]
}

impl Drop for Record {
    fn drop(&mut self) {
        let ms = (self.started.elapsed().as_secs_f64() * 1e4).round() / 10.0;
        // Texts of others are written with `?`, which escapes what could end the line or steer a terminal.
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
