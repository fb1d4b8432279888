//! A note for later.

use tamis::Error;
use tamis::memory::{RememberRequest, Remembered};

use crate::api::Verbs;
use crate::call_queue::Lane;
use crate::caller::Caller;
use crate::operation::{Call, Effect, Failure, Nothing, Operation, Route, Tool};
use crate::refusal_text::for_agent;
use crate::untrusted_text::{FIXED_MAX_CHARS, clean, name};

pub(crate) struct Remember;

impl Operation for Remember {
    const NAME: &'static str = "remember";
    const LANE: Lane = Lane::Slow;
    type Request = RememberRequest;
    type Answer = Remembered;

    fn is_for(caller: &Caller) -> bool {
        caller.may_remember
    }

    fn call(call: &Call<'_>, request: RememberRequest) -> Result<Remembered, Failure> {
        let namespace = namespace(call, request.namespace)?;
        Ok(call.index.notes().remember(&RememberRequest { namespace, ..request }, call.observer)?)
    }
}

impl Route for Remember {
    const PATH: &'static str = "/v1/remember";
    const VERBS: Verbs = Verbs::Post;
    const SUMMARY: &'static str = "Add a note to the notes of the day";
    const DESCRIPTION: &'static str = "As `tamis remember --json`.";
    const NEEDS: &'static str = "adding notes is off: the server needs --allow-remember, and a token remember = true";
}

impl Tool for Remember {
    const TITLE: &'static str = "Remember";
    const DESCRIPTION: &'static str = "Write a note that memory_search can find from now on: a decision and its reason, a preference, \
        a lesson. Note only what is worth finding again. The note is added to the notes of the day; nothing else changes.";
    const EFFECT: Effect = Effect::Adds;
    const MAX_CHARS: usize = FIXED_MAX_CHARS;
    type Options = Nothing;

    fn text(_: &Call<'_>, noted: &Remembered, _: &Nothing) -> String {
        let Remembered { path, start_line, end_line, not_indexed, .. } = noted;
        let found =
            not_indexed.as_ref().map(|reason| format!("It cannot be found yet: {}.\n", for_agent(&name(reason))));
        format!("Noted in {}:{start_line}-{end_line}.\n{}", clean(path), found.unwrap_or_default())
    }
}

/// The namespace of the note, chosen among those that the caller may read, so that no message mentions another.
fn namespace(call: &Call<'_>, wanted: Option<String>) -> Result<Option<String>, Error> {
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
            Err(Error::Argument { name: "namespace", value: format!("{named:?}"), allowed: format!("one of {what}") })
        }
    }
}
