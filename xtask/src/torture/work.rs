//! The pieces of work that rounds disturb, and their results without disturbance.

use super::fixture::{self, Base, Import};
use super::random::Random;
use super::sandbox::{Ended, Sandbox, size_of};
use super::snapshot::{Snapshot, search_results};
use anyhow::{Result, ensure};
use std::fs;
use std::time::Duration;

/// One command that changes an index, or reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Work {
    /// Brings the index up to date after changes of the tree.
    Index,
    /// Makes the index.
    IndexNew,
    /// Imports a newer version.
    Import(Import),
    /// Removes an import.
    Remove(Import),
    /// Adds a note.
    Remember,
    /// Judges three results.
    Feedback,
    /// Deletes recorded searches, except those with judgements.
    Purge,
    /// Answers a question.
    Search,
}

impl Work {
    /// Work that changes something, for rounds that kill it.
    pub const CHANGING: [Work; 11] = [
        Work::Index,
        Work::Index,
        Work::Index,
        Work::IndexNew,
        Work::Import(Import::Issues),
        Work::Import(Import::Conversations),
        Work::Import(Import::Evidence),
        Work::Remove(Import::Evidence),
        Work::Remember,
        Work::Feedback,
        Work::Purge,
    ];

    /// Picks any work.
    pub fn any(random: &mut Random) -> Work {
        match random.below(10) {
            0 => Work::Search,
            _ => *random.pick(&Work::CHANGING),
        }
    }

    /// Brings the sandbox to the state in which the work begins.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn prepare(self, sandbox: &Sandbox, variant: u64) -> Result<()> {
        match self {
            Work::Index => fixture::change(sandbox, variant),
            Work::IndexNew => {
                fs::remove_dir_all(sandbox.index())?;
                fixture::change(sandbox, variant)
            }
            Work::Import(what) => what.write(sandbox, variant + 1).map(drop),
            Work::Remove(_) | Work::Remember | Work::Feedback | Work::Purge | Work::Search => Ok(()),
        }
    }

    /// Returns the command line.
    pub fn arguments(self, base: &Base) -> Vec<String> {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        match self {
            Work::Index | Work::IndexNew => words(&["index", "-v"]),
            Work::Import(what) => {
                words(&["import", what.name(), "--origin", what.name(), &format!("../{}.jsonl", what.name())])
            }
            Work::Remove(what) => words(&["import", "--remove", what.name()]),
            Work::Remember => words(&["remember", &note()]),
            Work::Feedback => words(&["feedback", &base.query_id, "2", "3", "4", "--relevant"]),
            Work::Purge => words(&["stats", "--purge"]),
            Work::Search => words(&["search", "--json", fixture::KEPT_WORD]),
        }
    }

    /// Returns true when the same command again changes nothing, so that every history ends in the same state.
    pub fn is_repeatable(self) -> bool {
        !matches!(self, Work::Remember | Work::Feedback)
    }

    /// Returns true when the command reported success.
    pub fn is_acknowledged(self, ended: &Ended) -> bool {
        match self {
            // It says first what will go.
            Work::Remove(_) => ended.code() == Some(0) || ended.out.contains("from the index"),
            _ => ended.code() == Some(0) || !ended.out.trim().is_empty(),
        }
    }

    /// Returns true when the same command again did its work, or reported by its code that nothing was left to do.
    pub fn is_done_again(self, ended: &Ended) -> bool {
        match self {
            Work::Purge => matches!(ended.code(), Some(0 | 1)),
            // The import may be gone already.
            Work::Remove(_) => ended.code() == Some(0) || ended.err.contains("must be an origin of this index"),
            _ => ended.code() == Some(0),
        }
    }
}

/// Returns the note that [`Work::Remember`] adds.
pub fn note() -> String {
    format!("the {NEW_NOTE_WORD} stands at the corner of the street")
}

/// A word in that note alone.
pub const NEW_NOTE_WORD: &str = "lamplighter";

/// The results of a piece of work without disturbance.
#[derive(Debug)]
pub struct Reference {
    /// The index before the work; empty when the work makes it.
    pub before: Snapshot,
    /// The index after the work.
    pub after: Snapshot,
    /// The results of a few searches afterwards.
    pub results: Vec<String>,
    /// The time that the work took.
    pub took: Duration,
    /// The bytes that the work added on the disk.
    pub growth: u64,
}

impl Reference {
    /// Does the work on a copy of the base.
    ///
    /// # Errors
    /// It fails without disturbance.
    pub fn of(work: Work, variant: u64, base: &Base) -> Result<Reference> {
        let sandbox = Sandbox::copy_of(&base.sandbox)?;
        work.prepare(&sandbox, variant)?;
        let before = match work {
            Work::IndexNew => Snapshot::default(),
            _ => Snapshot::of(&sandbox)?,
        };
        let bytes = size_of(sandbox.directory())?;
        let arguments = work.arguments(base);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let ended = sandbox.done(&arguments)?;
        ensure!(work.is_acknowledged(&ended), "{work:?} reports nothing: {ended}");
        let growth = size_of(sandbox.directory())?.saturating_sub(bytes);
        Ok(Reference {
            before,
            after: Snapshot::of(&sandbox)?,
            results: search_results(&sandbox)?,
            took: ended.took,
            growth,
        })
    }
}
