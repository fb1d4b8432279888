//! A chat model behind an HTTP endpoint: one message in, one reply out.

use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use super::client::{Client, Deadline, Rejected};
use super::endpoint::{EndpointConfig, check};
use crate::EmbedError;

/// The largest answer that is read, in bytes.
const MAX_ANSWER: u64 = 64 << 20;

/// The settings of a chat model.
///
/// ```
/// use tamis_embed::ChatConfig;
///
/// let config = ChatConfig::new("http://localhost:11434/v1/chat/completions", "qwen2.5:7b");
/// assert_eq!(config.id(), "openai:qwen2.5:7b@localhost:11434");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ChatConfig {
    /// The endpoint for chat completions and the model there.
    pub endpoint: EndpointConfig,
    /// The most tokens of a reply, at least 1. 1024 by default, which leaves models that think aloud room for it.
    pub max_reply_tokens: u32,
}

impl ChatConfig {
    /// Names an endpoint and a model. Everything else gets the defaults documented on the fields.
    #[must_use]
    pub fn new(url: &str, model: &str) -> Self {
        Self { endpoint: EndpointConfig::new(url, model), max_reply_tokens: 1024 }
    }

    /// Returns the identifier that the model's replies are stored under: `openai:MODEL@HOST`.
    #[must_use]
    pub fn id(&self) -> String {
        self.endpoint.id("openai")
    }

    fn validate(&self) -> Result<(), EmbedError> {
        self.endpoint.validate()?;
        check(self.max_reply_tokens > 0, "max_reply_tokens", "0", "it must be at least 1")
    }
}

/// A reply of a chat model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatReply {
    /// Its text.
    pub text: String,
    /// True if the reply was cut off at the most tokens allowed.
    pub cut_off: bool,
    /// Tokens of the message, as the endpoint counted them.
    pub prompt_tokens: Option<u64>,
    /// Tokens of the reply, as the endpoint counted them.
    pub reply_tokens: Option<u64>,
}

/// A chat model behind an HTTP endpoint.
#[derive(Debug)]
pub struct Chat {
    config: ChatConfig,
    client: Client,
    /// Some models take the length of a reply under another name.
    renamed_limit: AtomicBool,
    /// Some models have one temperature only.
    fixed_temperature: AtomicBool,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: [Message<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    stream: bool,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

impl Chat {
    /// Checks the settings. Nothing is sent.
    ///
    /// # Errors
    /// A setting is out of range.
    pub fn new(config: ChatConfig) -> Result<Self, EmbedError> {
        config.validate()?;
        let client = Client::new(&config.endpoint, MAX_ANSWER);
        Ok(Chat { config, client, renamed_limit: AtomicBool::new(false), fixed_temperature: AtomicBool::new(false) })
    }

    /// Returns the settings.
    #[must_use]
    pub fn config(&self) -> &ChatConfig {
        &self.config
    }

    /// Returns the endpoint without secrets, for messages.
    #[must_use]
    pub fn url(&self) -> String {
        self.config.endpoint.shown()
    }

    /// Sends one message at temperature 0 and returns the reply.
    ///
    /// # Errors
    /// The endpoint cannot be reached, refuses the request, or answers with something else.
    pub fn ask(&self, message: &str) -> Result<ChatReply, EmbedError> {
        loop {
            let renamed = self.renamed_limit.load(Ordering::Relaxed);
            let fixed = self.fixed_temperature.load(Ordering::Relaxed);
            let limit = self.config.max_reply_tokens;
            let body = Body {
                model: &self.config.endpoint.model,
                messages: [Message { role: "user", content: message }],
                temperature: (!fixed).then_some(0.0),
                max_tokens: (!renamed).then_some(limit),
                max_completion_tokens: renamed.then_some(limit),
                stream: false,
            };
            let answer = self.client.send(Deadline::NONE, &body, parse);
            let Err(EmbedError::Refused { status: 400, reason, .. }) = &answer else { return answer };
            // A model that refuses a parameter names it. Each is changed once.
            if !renamed && reason.contains("max_completion_tokens") {
                self.renamed_limit.store(true, Ordering::Relaxed);
            } else if !fixed && reason.contains("temperature") {
                self.fixed_temperature.store(true, Ordering::Relaxed);
            } else {
                return answer;
            }
        }
    }
}

#[derive(Deserialize)]
struct Answer {
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Choice {
    message: Reply,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Reply {
    content: Option<String>,
}

#[derive(Deserialize)]
struct Usage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
}

fn parse(body: &[u8]) -> Result<ChatReply, Rejected> {
    let answer: Answer =
        serde_json::from_slice(body).map_err(|error| Rejected::unparsed(body, "a chat answer", &error))?;
    let choice = answer.choices.into_iter().next();
    let choice = choice.ok_or_else(|| Rejected::Wrong("it has no reply in choices".to_owned()))?;
    let (prompt_tokens, reply_tokens) =
        answer.usage.map_or((None, None), |usage| (usage.prompt_tokens, usage.completion_tokens));
    // A reply without text is a reply: the model refused, or thought until its tokens ran out.
    let text = choice.message.content.unwrap_or_default();
    Ok(ChatReply { text, cut_off: choice.finish_reason.as_deref() == Some("length"), prompt_tokens, reply_tokens })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_reply_comes_with_its_tokens_where_they_are_counted() {
        let body = r###"{"choices": [{"message": {"role": "assistant", "content": "##final score: 2"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 300, "completion_tokens": 9, "total_tokens": 309}}"###;
        let reply = parse(body.as_bytes()).unwrap();
        assert_eq!((reply.text.as_str(), reply.cut_off), ("##final score: 2", false));
        assert_eq!((reply.prompt_tokens, reply.reply_tokens), (Some(300), Some(9)));
        let bare = r#"{"choices": [{"message": {"content": null}, "finish_reason": "length"}]}"#;
        let expected = ChatReply { text: String::new(), cut_off: true, prompt_tokens: None, reply_tokens: None };
        assert_eq!(parse(bare.as_bytes()), Ok(expected));
    }

    #[test]
    fn unexpected_answers_are_described() {
        for (body, named) in [
            (r#"{"choices": []}"#, "no reply in choices"),
            (r#"{"data": []}"#, "missing field `choices`"),
            ("<html>", "not a chat answer"),
        ] {
            assert!(matches!(parse(body.as_bytes()), Err(Rejected::Wrong(reason)) if reason.contains(named)), "{body}");
        }
        assert!(matches!(parse(br#"{"choices": [{"#), Err(Rejected::Truncated(_))));
    }

    #[test]
    fn settings_out_of_range_are_named_and_keys_are_not_printed() {
        let refused = |change: fn(&mut ChatConfig)| {
            let mut config = ChatConfig::new("http://127.0.0.1:9/v1/chat/completions", "m");
            change(&mut config);
            match Chat::new(config).unwrap_err() {
                EmbedError::Setting { setting, .. } => setting,
                other => panic!("{other}"),
            }
        };
        assert_eq!(refused(|config| config.endpoint.url = "localhost:1".to_owned()), "url");
        assert_eq!(refused(|config| config.endpoint.model.clear()), "model");
        assert_eq!(refused(|config| config.endpoint.timeout = Duration::ZERO), "timeout");
        assert_eq!(refused(|config| config.max_reply_tokens = 0), "max_reply_tokens");
        assert_eq!(refused(|config| config.endpoint.requests_per_minute = Some(0)), "requests_per_minute");
        let mut config = ChatConfig::new("https://me:pass@api.example.org/v1/chat/completions?key=k", "m");
        config.endpoint.api_key = Some("sesame".to_owned());
        let shown = format!("{config:?} {}", config.id());
        assert!(!["sesame", "pass", "key=k"].iter().any(|secret| shown.contains(secret)), "{shown}");
    }

    proptest! {
        #[test]
        fn no_body_makes_it_panic(body in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = parse(&body);
        }
    }
}
