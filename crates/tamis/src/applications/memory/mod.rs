//! Notes, added and hidden one by one: Markdown files that people can read and edit as well.
//!
//! An entry is an item of a list or a paragraph in a file of the collection `notes`. [`Notes::remember`] appends one, and
//! [`Notes::forget`] marks it so that searches skip it. A search of notes and conversations starts from
//! [`SearchRequest::memory`](crate::SearchRequest::memory); [`Notes::with_turns`] adds the turns around a hit.
//!
//! `item` turns a text into an item that its own content cannot end, `outline` and `edit` find its position and change
//! a note's text, and `note_file` decides which files may be written.

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
