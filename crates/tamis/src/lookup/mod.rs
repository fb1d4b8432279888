//! Looks up a user's target: a passage, a document, some lines, or the reason why a file is not in the index.

mod excerpt;
mod left_out;

pub use excerpt::{Excerpt, GetRequest};
pub(crate) use excerpt::{Named, by_line, whole_text};
pub(crate) use left_out::reason;
