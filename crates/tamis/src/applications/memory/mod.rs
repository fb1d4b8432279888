//! Notes that are added and forgotten one by one: Markdown files that people can read and change as well.
//!
//! An entry is an item of a list or a paragraph of a file of the collection `notes`. [`Index::remember`] appends one,
//! [`Index::forget`] marks it so that it is found no more. Recalling is a search of notes and conversations
//! ([`SearchRequest::memory`]); [`Notes::with_turns`] adds what was said around a turn.
//!
//! `item` makes a text an item that nothing in it can end, `outline` and `edit` find its place and change a note's text,
//! `file` writes that as a whole or not at all, and `note_file` says which files may be written.
//!
//! [`Index::remember`]: crate::Index::remember
//! [`Index::forget`]: crate::Index::forget
//! [`Notes::with_turns`]: crate::Index::with_turns
//! [`SearchRequest::memory`]: crate::SearchRequest::memory

mod context;
mod edit;
mod forget;
mod item;
mod note_file;
mod outline;
mod remember;

pub use forget::{ForgetAction, Forgotten, Meant, NoteEntry};
pub use remember::{RememberRequest, Remembered};

use crate::handle::Index;

/// The notes of an index, added and hidden one by one. From [`Index::notes`].
#[derive(Clone, Copy)]
pub struct Notes<'a> {
    index: &'a Index,
}

impl Index {
    /// Adds notes, hides them from search, and finds them.
    pub fn notes(&self) -> Notes<'_> {
        Notes { index: self }
    }
}
