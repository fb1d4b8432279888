//! The errors of the library. Each says what happened and what to do.

mod aim;
#[cfg(feature = "github")]
mod github;
mod unreadable;

pub use aim::AimError;
#[cfg(feature = "github")]
pub use github::GithubError;
pub use unreadable::UnreadableRecord;

use crate::config::ConfigError;
use std::path::{Path, PathBuf};
use tamis_embed::EmbedError;
use tamis_store::StoreError;
use thiserror::Error;
use unreadable::listed;

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
    /// What was changed is committed, and the search indexes could not be brought up to date with it.
    #[error(
        "what was read is committed and safe, but the search indexes could not be brought up to date with it: {error}; they \
         catch up with the next search or run that can write"
    )]
    NotPublished {
        /// Why.
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
    /// Records of an import that could not be read, so that nothing was imported.
    #[error(
        "nothing was imported, since {} cannot be read; mend them, or leave them out:\n{}",
        if records.len() == 1 { "a record".to_owned() } else { format!("{} records", records.len()) },
        listed(records)
    )]
    Unreadable {
        /// Where each is and what is wrong with it.
        records: Vec<UnreadableRecord>,
    },
    /// Something that the cut cannot aim at.
    #[error(transparent)]
    Aim(#[from] AimError),
    /// A guarantee that cannot be given.
    #[error("{reason}{others}; judge more answers, import judged queries, or search without a guarantee")]
    Guarantee {
        /// Why, and how many judged queries are needed.
        reason: tamis_cut::GuaranteeError,
        /// The number of judged queries that do not count, in words; empty: none.
        others: String,
    },
    /// A model that cannot be used now: its endpoint does not answer, its files are gone, its key is not set.
    #[error("model {model} cannot be used: {reason}")]
    Model {
        /// The name that the configuration gives it.
        model: String,
        /// What happened, and what to do.
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
    #[cfg(feature = "github")]
    #[error(transparent)]
    Github(#[from] GithubError),
    /// Similarities were asked for where there are none.
    #[error("nothing can be compared without vectors: {reason}")]
    NoVectors {
        /// The reason why there are none.
        reason: String,
    },
    /// A view of the evidence graph that is not fit for use.
    #[error("{reason}")]
    View {
        /// Its file and what is wrong there.
        reason: String,
    },
    /// A path that is not there or cannot be used.
    #[error("{}: {reason}", path.display())]
    Path {
        /// The path.
        path: PathBuf,
        /// Why, and what to do.
        reason: String,
    },
    /// A directory that cannot hold the index.
    #[error("{}: {reason}; keep the index in another directory", path.display())]
    IndexDirectory {
        /// The directory, or what in it is wrong.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A statement that cannot be run, or not under its limits.
    #[error("{error}{}", hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default())]
    Sql {
        /// What is wrong.
        error: String,
        /// What would do.
        hint: Option<String>,
    },
    /// A path that several repositories of the index hold.
    #[error("{wanted}: in {} namespaces; say in which: {}", forms.len(), forms.join(", "))]
    Ambiguous {
        /// The address or name asked for.
        wanted: String,
        /// Each with its namespace.
        forms: Vec<String>,
    },
    /// A file that is there and that the index leaves out.
    #[error("{wanted}: left out of the index: {reason}")]
    LeftOut {
        /// The address or name asked for.
        wanted: String,
        /// Why, and what would change it.
        reason: String,
    },
    /// An identifier or path that the index does not hold.
    #[error("{wanted}: not in the index{}", nearest.as_ref().map(|n| format!(" (did you mean {n}?)")).unwrap_or_default())]
    NotFound {
        /// The address or name asked for.
        wanted: String,
        /// The nearest thing that is there.
        nearest: Option<String>,
    },
}

impl Error {
    /// A publication that failed after everything was committed.
    pub(crate) fn not_published(error: StoreError) -> Self {
        match error {
            // Nothing of it is safe in an index that is gone.
            StoreError::Replaced { .. } => Error::Store(error),
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
