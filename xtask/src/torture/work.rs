//! Pieces of work that are disturbed: what they are, and what they leave when nothing disturbs them.

use super::check::{Print, search_results};
use super::fixture::{self, Base, Import};
use super::plan::Random;
use super::sandbox::{Ended, Sandbox};
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
    /// Takes an import out.
    Remove(Import),
    /// Adds a note.
    Remember,
    /// Judges three results.
    Feedback,
    /// Deletes what is recorded of searches, but for what people judged.
    Purge,
    /// Answers a question.
    Search,
}

impl Work {
    /// What is killed: work that changes something.
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

    /// Any work.
    pub fn any(random: &mut Random) -> Work {
        match random.below(10) {
            0 => Work::Search,
            _ => *random.pick(&Work::CHANGING),
        }
    }

    /// Brings the sandbox to where the work begins.
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

    /// The command line.
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

    /// Whether the same command again leaves things as they are, so that every way of getting there ends alike.
    pub fn is_repeatable(self) -> bool {
        !matches!(self, Work::Remember | Work::Feedback)
    }

    /// Whether the command said that it did its work.
    pub fn is_acknowledged(self, ended: &Ended) -> bool {
        match self {
            // It says first what will go.
            Work::Remove(_) => ended.code() == Some(0) || ended.out.contains("from the index"),
            _ => ended.code() == Some(0) || !ended.out.trim().is_empty(),
        }
    }

    /// Whether the same command again did its work, or said by its code that none was left.
    pub fn is_done_again(self, ended: &Ended) -> bool {
        match self {
            Work::Purge => matches!(ended.code(), Some(0 | 1)),
            // What is not there any more cannot be taken out.
            Work::Remove(_) => ended.code() == Some(0) || ended.err.contains("must be an origin of this index"),
            _ => ended.code() == Some(0),
        }
    }
}

/// The note that [`Work::Remember`] adds.
pub fn note() -> String {
    format!("the {NEW_NOTE_WORD} stands at the corner of the street")
}

/// Only in that note.
pub const NEW_NOTE_WORD: &str = "lamplighter";

/// What a piece of work leaves when nothing disturbs it.
#[derive(Debug)]
pub struct Reference {
    /// The index as the work begins with it; nothing where that makes it.
    pub before: Print,
    /// The index as the work leaves it.
    pub after: Print,
    /// What a few questions then find.
    pub results: Vec<String>,
    /// How long the work took.
    pub took: Duration,
    /// What the disk held more at the end.
    pub growth: u64,
}

impl Reference {
    /// Does the work on a copy of the base.
    ///
    /// # Errors
    /// It fails, though nothing disturbs it.
    pub fn of(work: Work, variant: u64, base: &Base) -> Result<Reference> {
        let sandbox = Sandbox::copy_of(&base.sandbox)?;
        work.prepare(&sandbox, variant)?;
        let before = match work {
            Work::IndexNew => Print::default(),
            _ => Print::of(&sandbox)?,
        };
        let bytes = super::sandbox::size_of(sandbox.directory())?;
        let arguments = work.arguments(base);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let ended = sandbox.done(&arguments)?;
        ensure!(work.is_acknowledged(&ended), "{work:?} says nothing: {ended}");
        let growth = super::sandbox::size_of(sandbox.directory())?.saturating_sub(bytes);
        Ok(Reference {
            before,
            after: Print::of(&sandbox)?,
            results: search_results(&sandbox)?,
            took: ended.took,
            growth,
        })
    }
}
