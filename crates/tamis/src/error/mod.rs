//! The errors of the library. Each says what happened and how to go on.

mod github;
#[cfg(feature = "hub")]
mod hub;

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tamis_cut::RuleError;
use tamis_embed::EmbedError;
use tamis_store::StoreError;
use thiserror::Error;

use crate::config::ConfigError;

pub use github::GithubError;
#[cfg(feature = "hub")]
pub use hub::HubError;

/// An operation on an index that failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A configuration that is not valid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The changes are committed, but the search indexes could not be brought up to date with them.
    #[error(
        "what was read is committed and safe, but the search indexes could not be brought up to date with it: {error}; they \
         catch up with the next search or run that can write"
    )]
    NotPublished {
        /// The reason.
        error: StoreError,
    },
    /// A model failed.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// An argument of a call that is not allowed.
    #[error("{name} = {value}: must be {allowed}")]
    Argument {
        /// The argument.
        name: &'static str,
        /// The value received.
        value: String,
        /// The allowed values.
        allowed: String,
    },
    /// Unreadable records of an import. Nothing was imported.
    #[error(
        "nothing was imported, since {} cannot be read; fix them, or skip them:\n{}",
        if records.len() == 1 { "a record".to_owned() } else { format!("{} records", records.len()) },
        listed(records)
    )]
    Unreadable {
        /// The place of each record and its fault.
        records: Vec<UnreadableRecord>,
    },
    /// An aim that the cut does not support.
    #[error(transparent)]
    Aim(#[from] AimError),
    /// A guarantee that cannot be given.
    #[error("{reason}{others}; judge more answers, import judged queries, or search without a guarantee")]
    Guarantee {
        /// The reason, with the number of judged queries needed.
        reason: tamis_cut::GuaranteeError,
        /// The number of judged queries that do not count, in words; empty if all count.
        others: String,
    },
    /// An unusable model: its endpoint does not answer, its files are gone, or its key is not set.
    #[error("model {model} cannot be used: {reason}")]
    Model {
        /// The name that the configuration gives it.
        model: String,
        /// The failure, and the way out.
        reason: String,
    },
    /// Symbols without vectors, which cannot be calibrated.
    #[error("none of {symbols} symbols has a vector of model {model} yet; refresh the index")]
    NotEmbedded {
        /// The model's identifier.
        model: String,
        /// The number of symbols.
        symbols: u64,
    },
    /// The observer stopped the call.
    #[error("cancelled")]
    Cancelled,
    /// An import from GitHub failed.
    #[error(transparent)]
    Github(#[from] GithubError),
    /// A model could not be fetched.
    #[cfg(feature = "hub")]
    #[error(transparent)]
    Hub(#[from] HubError),
    /// A request for similarities without vectors.
    #[error("nothing can be compared without vectors: {reason}")]
    NoVectors {
        /// The reason for their absence.
        reason: String,
    },
    /// An unusable view of the evidence graph.
    #[error("{reason}")]
    View {
        /// Its file and the fault.
        reason: String,
    },
    /// A missing or unusable path.
    #[error("{}: {reason}", path.display())]
    Path {
        /// The path.
        path: PathBuf,
        /// The reason, and the way out.
        reason: String,
    },
    /// A directory that cannot hold the index.
    #[error("{}: {reason}; keep the index in another directory", path.display())]
    IndexDirectory {
        /// The directory, or the faulty path in it.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A statement that cannot be run within its limits, or at all.
    #[error("{error}{}", hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default())]
    Sql {
        /// The fault.
        error: String,
        /// A statement or limit that would work.
        hint: Option<String>,
    },
    /// A path that several repositories of the index hold.
    #[error("{wanted}: in {} namespaces; say in which: {}", forms.len(), forms.join(", "))]
    Ambiguous {
        /// The path asked for.
        wanted: String,
        /// The path with each of its namespaces.
        forms: Vec<String>,
    },
    /// An issue by its number, where the index holds no issues.
    #[error(
        "issue {number}: no issues are imported; `tamis import github OWNER/REPO` or `tamis import issues FILE` imports them"
    )]
    NoIssues {
        /// The number asked for.
        number: u64,
    },
    /// A tree that is so large that indexing it is mostly a mistake.
    #[error(
        "{}: {files} files to read, {:.1} GB, which is more than is indexed without confirmation; name a subdirectory, or leave files \
         out with .tamisignore", root.display(), *bytes as f64 / 1e9
    )]
    LargeTree {
        /// The directory.
        root: PathBuf,
        /// Number of files to read.
        files: u64,
        /// Their bytes.
        bytes: u64,
    },
    /// An existing file that the index leaves out.
    #[error("{wanted}: left out of the index: {reason}")]
    LeftOut {
        /// The path asked for.
        wanted: String,
        /// The reason, and the way to change it.
        reason: String,
    },
    /// An identifier or path that the index does not hold.
    #[error(
        "{wanted}: not in the index{}",
        match nearest {
            Some(nearest) => format!(" (did you mean {nearest}?)"),
            None if is_like_a_path(wanted) => "; try `tamis files`".to_owned(),
            None => "; try `tamis search`".to_owned(),
        }
    )]
    NotFound {
        /// The identifier or path asked for.
        wanted: String,
        /// The nearest identifier or path that exists.
        nearest: Option<String>,
    },
}

/// Returns `true` if a name has a directory or an extension, as a file does.
fn is_like_a_path(wanted: &str) -> bool {
    !wanted.contains(char::is_whitespace) && (wanted.contains('/') || Path::new(wanted).extension().is_some())
}

impl Error {
    /// Creates the error for a publication that failed after everything was committed.
    pub(crate) fn not_published(error: StoreError) -> Self {
        match error {
            // An index that is gone has kept nothing safe.
            StoreError::Replaced { .. } => Error::Store(error),
            StoreError::Cancelled => Error::Cancelled,
            error => Error::NotPublished { error },
        }
    }

    pub(crate) fn argument(name: &'static str, value: impl Into<String>, allowed: impl Into<String>) -> Self {
        Error::Argument { name, value: value.into(), allowed: allowed.into() }
    }

    pub(crate) fn path(path: &Path, reason: impl Into<String>) -> Self {
        Error::Path { path: path.to_owned(), reason: reason.into() }
    }

    pub(crate) fn index_directory(path: &Path, reason: impl Into<String>) -> Self {
        Error::IndexDirectory { path: path.to_owned(), reason: reason.into() }
    }
}

// Aims that a cut cannot take.

/// An aim that a rule cannot take.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum AimError {
    /// The method has no parameter for it. Ignoring the aim in silence would break a promise.
    #[error("{aim}: not supported by the cut {method}; use the cut {able}")]
    NoSuchAim {
        /// The parameter.
        aim: &'static str,
        /// The method without it.
        method: &'static str,
        /// The methods that have it.
        able: String,
    },
    /// The value is not allowed.
    #[error(transparent)]
    NotAllowed(#[from] RuleError),
}

// Records of an import that could not be read.

/// A record of an input that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnreadableRecord {
    /// Its place, in the words of its format: `issues.json: record 3`.
    pub position: String,
    /// Its fault.
    pub reason: String,
}

impl fmt::Display for UnreadableRecord {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.position, self.reason)
    }
}

/// The number of records that a message names; further ones are only counted.
const NAMED: usize = 20;

/// Formats unreadable records for a message: one a line, the first twenty, and the number of further ones.
pub(crate) fn listed(records: &[UnreadableRecord]) -> String {
    let mut lines: Vec<String> = records.iter().take(NAMED).map(|record| format!("  {record}")).collect();
    if records.len() > NAMED {
        lines.push(format!("  and {} more", records.len() - NAMED));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_twenty_are_named_and_the_rest_counted() {
        let record = |at: u64| UnreadableRecord { position: format!("record {at}"), reason: "no number".into() };
        let few: Vec<_> = (1..=20).map(record).collect();
        assert_eq!(listed(&few).lines().count(), 20);
        let many: Vec<_> = (1..=23).map(record).collect();
        let text = listed(&many);
        assert_eq!([text.lines().next(), text.lines().last()], [Some("  record 1: no number"), Some("  and 3 more")]);
    }
}
