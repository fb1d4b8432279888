//! Applications built on the pipeline. They use the index, the search and the imports, which know nothing of them.

pub mod calibrate;
pub mod duplicates;
pub mod evaluate;
#[cfg(feature = "evidence")]
pub mod evidence;
pub mod feedback;
pub mod lists;
pub mod memory;
pub mod pack;
pub mod related;
mod stored_issue;
pub mod telemetry;
pub mod tree;
pub mod troubleshoot;

use crate::handle::Index;

impl Index {
    /// Adds notes, hides them from search, and finds them.
    pub fn notes(&self) -> memory::Notes<'_> {
        memory::Notes { index: self }
    }

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
    pub fn tree(&self) -> tree::Tree<'_> {
        tree::Tree { index: self }
    }

    /// Finds passages related to one: what is similar, what it uses, what uses it.
    pub fn related(&self) -> related::RelatedFinder<'_> {
        related::RelatedFinder { index: self }
    }

    /// Answers a problem from solved issues and the wiki.
    pub fn troubleshooting(&self) -> troubleshoot::Troubleshooter<'_> {
        troubleshoot::Troubleshooter { index: self }
    }

    /// Finds likely duplicates among the imported issues.
    pub fn duplicates(&self) -> duplicates::DuplicateFinder<'_> {
        duplicates::DuplicateFinder { index: self }
    }

    /// The evidence graph: import, export, search, SQL and views.
    #[cfg(feature = "evidence")]
    pub fn evidence(&self) -> evidence::EvidenceGraph<'_> {
        evidence::EvidenceGraph { index: self }
    }

    /// Recorded searches and the judgements of their results.
    pub fn feedback(&self) -> feedback::Feedback<'_> {
        feedback::Feedback { index: self }
    }

    /// Calibrates similarity thresholds and reports which ones hold.
    pub fn calibration(&self) -> calibrate::Calibrator<'_> {
        calibrate::Calibrator { index: self }
    }

    /// Summarizes past queries, and replays them with other cuts.
    pub fn statistics(&self) -> telemetry::Statistics<'_> {
        telemetry::Statistics { index: self }
    }
}
