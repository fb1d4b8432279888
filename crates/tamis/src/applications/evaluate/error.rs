//! What can go wrong in an evaluation.

use std::path::{Path, PathBuf};
use tamis_eval::{EvalError, FormatError};
use thiserror::Error;

/// An evaluation that failed.
#[derive(Debug, Error)]
pub enum EvaluationError {
    /// A file or directory that cannot be read, or does not hold what it should.
    #[error("{}: {reason}", path.display())]
    Path {
        /// The file or directory.
        path: PathBuf,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A line that is not as the format asks.
    #[error("{}, line {line}: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A cut that there is not, or a parameter of one.
    #[error("cut {specification:?}: {problem}")]
    Cut {
        /// The cut as it was asked for.
        specification: String,
        /// What is wrong with it, and what is allowed.
        problem: String,
    },
    /// Judgements or a run that cannot be read.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// What was measured does not fit together.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// Indexing or searching failed.
    #[error(transparent)]
    Index(#[from] crate::Error),
    /// The observer stopped it. What is indexed stays, and the next evaluation goes on from there.
    #[error("stopped; what is indexed so far is kept, and the next evaluation goes on from there")]
    Interrupted,
}

impl EvaluationError {
    pub(super) fn path(path: &Path, reason: impl ToString) -> Self {
        EvaluationError::Path { path: path.to_owned(), reason: reason.to_string() }
    }
}

/// A file's text.
pub(super) fn text(path: &Path) -> Result<String, EvaluationError> {
    let bytes = std::fs::read(path).map_err(|error| EvaluationError::path(path, error))?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..valid].iter().filter(|&&byte| byte == b'\n').count();
        EvaluationError::Line { path: path.to_owned(), line, problem: "not UTF-8".into() }
    })
}
