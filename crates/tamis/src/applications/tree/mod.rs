//! The files of the indexed tree: exact text in them ([`Tree::grep`]), their names ([`Tree::files`]) and their symbols
//! ([`Tree::outline`]).
//!
//! All three look at the files that the index knows, so that an ignored, generated or secret file is found by none of them.
//! `listing` makes that list. `grep` reads the files as they are on the disk; `files` and `outline` answer from the index.

mod files;
mod grep;
mod listing;
mod outline;

pub use files::{FileEntry, FilesAnswer, FilesRequest};
pub use grep::{GrepAnswer, GrepFile, GrepLine, GrepRequest, MOST_LISTED};
pub use outline::{FileOutline, OutlineAnswer, OutlineEntry, OutlineRequest};

use crate::handle::Index;

/// The files of the indexed tree. From [`Index::tree`].
#[derive(Clone, Copy)]
pub struct Tree<'a> {
    index: &'a Index,
}

impl Index {
    /// Returns the files of the indexed tree: their text, names and symbols.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let directory = tempfile::tempdir()?;
    /// # std::fs::write(directory.path().join("door.rs"), "/// Opens it.\npub fn open() {}\n\npub fn close() {}\n")?;
    /// # let index = tamis::Index::builder(directory.path()).set("index.models", "static").open()?;
    /// # index.refresh()?;
    /// use tamis::tree::{GrepRequest, OutlineRequest};
    ///
    /// let found = index.tree().grep(&GrepRequest::new(r"pub fn \w+"), &())?;
    /// assert_eq!((found.matches, found.files), (2, 1));
    /// assert_eq!(found.results[0].hits[0].line, 2);
    ///
    /// let outline = index.tree().outline(&OutlineRequest::new("door.rs"))?;
    /// assert_eq!(outline.files[0].entries[0].signature, "pub fn open()");
    /// # Ok(())
    /// # }
    /// ```
    pub fn tree(&self) -> Tree<'_> {
        Tree { index: self }
    }
}
