//! What a tool gives back: an answer as data, and a short text for a context.

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
