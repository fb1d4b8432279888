//! `remember`: a note for later.

use crate::agent_messages::for_agent;
use crate::caller::Caller;
use crate::lanes::Lane;
use crate::reply::{Refused, Reply};
use crate::text::{clean, name};
use crate::tool::{Call, Effect, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamis::memory::RememberRequest;

pub(crate) struct Remember;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The note, in words that make sense without this conversation.
    #[schemars(length(min = 1))]
    text: String,
    /// Topic of the note, used as the heading above it (default: none).
    #[schemars(length(min = 1, max = 100))]
    topic: Option<String>,
    /// Repository (default: this one, or the only one).
    namespace: Option<String>,
}

/// Location of a note.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Noted {
    /// Repository or project of the note.
    namespace: String,
    /// Path of the file.
    path: String,
    /// First line, from 1.
    start_line: u32,
    /// Last line, included.
    end_line: u32,
    /// The reason memory_search cannot find it yet; absent when it can.
    not_indexed: Option<String>,
}

impl Tool for Remember {
    const NAME: &'static str = "remember";
    const TITLE: &'static str = "Remember";
    const DESCRIPTION: &'static str = "Write a note that memory_search can find from now on: a decision and its reason, a preference, \
        a lesson. Note only what is worth finding again. The note is added to the notes of the day; nothing else changes.";
    const EFFECT: Effect = Effect::Adds;
    const LANE: Lane = Lane::Slow;
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
            not_indexed: noted.not_indexed.map(|reason| for_agent(&name(&reason))),
        };
        let Noted { path, start_line, end_line, .. } = &answer;
        let found = match &answer.not_indexed {
            Some(reason) => format!("It cannot be found yet: {reason}.\n"),
            None => String::new(),
        };
        let text = format!("Noted in {path}:{start_line}-{end_line}.\n{found}");
        Ok(Reply::new(answer, text))
    }
}

/// The namespace of the note, chosen among those that the caller may read, so that no message mentions another.
pub(crate) fn namespace(call: &Call<'_>, wanted: Option<String>) -> Result<Option<String>, Refused> {
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
            let what = if names.is_empty() {
                "a namespace with notes; you may write to none".to_owned()
            } else {
                names.join(", ")
            };
            Err(Refused::argument("namespace", named, format!("one of {what}")))
        }
    }
}
