//! `remember`: a note for later.

use crate::advice::addressed;
use crate::caller::Caller;
use crate::reply::{Refused, Reply};
use crate::text::{clean, name};
use crate::tool::{Call, Effect, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamis::memory::RememberRequest;

pub(crate) struct Remember;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The note, in words that will be understood without this conversation.
    #[schemars(length(min = 1))]
    text: String,
    /// What it is about: the heading that it stands under (default: none).
    #[schemars(length(min = 1, max = 100))]
    topic: Option<String>,
    /// The repository or project whose note it is, by name (default: the one here, or the only one).
    namespace: Option<String>,
}

/// Where a note stands.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Noted {
    /// The repository or project whose note it is.
    namespace: String,
    /// The file.
    path: String,
    /// First line, from 1.
    start_line: u32,
    /// Last line, included.
    end_line: u32,
    /// Why memory_search does not find it yet; absent where it does.
    not_indexed: Option<String>,
}

impl Tool for Remember {
    const NAME: &'static str = "remember";
    const TITLE: &'static str = "Remember";
    const DESCRIPTION: &'static str = "Write a note that memory_search finds from then on: a decision and why, a preference, what \
        was learnt. Only what is worth finding again; it is added to the notes of the day, and nothing else is changed.";
    const EFFECT: Effect = Effect::Adds;
    type Arguments = Arguments;
    type Answer = Noted;

    fn is_for(caller: &Caller) -> bool {
        caller.may_remember
    }

    fn call(call: &Call<'_>, arguments: Arguments) -> Result<Reply<Noted>, Refused> {
        let namespace = namespace(call, arguments.namespace)?;
        let request = RememberRequest { text: arguments.text, topic: arguments.topic, namespace, ..Default::default() };
        let noted = call.index.notes().remember(&request, call.observer)?;
        let answer = Noted {
            namespace: noted.namespace,
            path: clean(&noted.path),
            start_line: noted.start_line,
            end_line: noted.end_line,
            not_indexed: noted.not_indexed.map(|reason| addressed(&name(&reason))),
        };
        let Noted { path, start_line, end_line, .. } = &answer;
        let found = match &answer.not_indexed {
            Some(reason) => format!("It is not found yet: {reason}.\n"),
            None => String::new(),
        };
        let text = format!("Noted in {path}:{start_line}-{end_line}.\n{found}");
        Ok(Reply::new(answer, text))
    }
}

/// The namespace whose note it is, as far as the caller may know of it: what the library would say of others is never asked.
fn namespace(call: &Call<'_>, wanted: Option<String>) -> Result<Option<String>, Refused> {
    if call.caller.namespaces.is_none() {
        return Ok(wanted);
    }
    let sources = call.index.sources();
    let mut allowed = sources.iter().map(|source| &source.namespace).filter(|name| call.may_read(name));
    let own = call.index.own_namespace().filter(|own| call.may_read(own));
    match wanted.as_deref().or(own) {
        Some(name) if allowed.clone().any(|one| one == name) => Ok(Some(name.to_owned())),
        None if allowed.clone().count() == 1 => Ok(allowed.next().cloned()),
        other => {
            let names: Vec<&str> = allowed.map(String::as_str).collect();
            let named = other.unwrap_or("none");
            let what =
                if names.is_empty() { "one with notes; you may write none".to_owned() } else { names.join(", ") };
            Err(Refused::argument("namespace", named, format!("one of {what}")))
        }
    }
}
