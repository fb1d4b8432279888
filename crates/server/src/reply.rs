//! The result of a tool: an answer as data and as a short text, or the reason for refusing the call.

use crate::agent_messages;
use serde::Serialize;

/// An answer and its text.
#[derive(Debug)]
pub(crate) struct Reply<A> {
    pub answer: A,
    pub text: String,
}

impl<A: Serialize> Reply<A> {
    pub fn new(answer: A, text: impl Into<String>) -> Self {
        Reply { answer, text: text.into() }
    }
}

/// The reason for refusing a call, and how to correct it.
#[derive(Debug)]
pub(crate) struct Refused(pub String);

impl From<tamis::Error> for Refused {
    fn from(error: tamis::Error) -> Self {
        Refused(agent_messages::for_error(&error))
    }
}

impl Refused {
    /// Refuses the value of an argument.
    pub fn argument(name: &str, value: impl std::fmt::Debug, allowed: impl std::fmt::Display) -> Self {
        Refused(format!("{name} = {value:?}: must be {allowed}"))
    }
}
