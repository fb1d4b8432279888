//! What a tool gives back: an answer as data, and a short text for a context; or why the call was refused.

use crate::advice;
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

/// Why a call was refused, and how to call instead.
#[derive(Debug)]
pub(crate) struct Refused(pub String);

impl From<tamis::Error> for Refused {
    fn from(error: tamis::Error) -> Self {
        Refused(advice::of(&error))
    }
}

impl Refused {
    /// A value that is not allowed, in the words of all such messages.
    pub fn argument(name: &str, value: impl std::fmt::Debug, allowed: impl std::fmt::Display) -> Self {
        Refused(format!("{name} = {value:?}: must be {allowed}"))
    }
}
