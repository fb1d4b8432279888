//! Errors of an evaluation.

use std::path::{Path, PathBuf};
use tamis_eval::{EvalError, FormatError};
use thiserror::Error;

/// An evaluation that failed.
#[derive(Debug, Error)]
pub enum EvaluationError {
    /// A file or directory that cannot be read or has unexpected content.
    #[error("{}: {reason}", path.display())]
    Path {
        /// The file or directory.
        path: PathBuf,
        /// The problem, and its remedy.
        reason: String,
    },
    /// A malformed line.
    #[error("{}, line {line}: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// The problem.
        problem: String,
    },
    /// An unknown cut, or a bad parameter of one.
    #[error("cut {specification:?}: {problem}")]
    Cut {
        /// The cut as it was given.
        specification: String,
        /// The problem, and the values allowed.
        problem: String,
    },
    /// Judgements or a run that cannot be read.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// Measurements that do not fit together.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// Indexing or searching failed.
    #[error(transparent)]
    Index(#[from] crate::Error),
    /// The observer stopped it. The finished part of the index stays, and the next evaluation resumes from there.
    #[error("stopped; what is indexed so far is kept, and the next evaluation goes on from there")]
    Interrupted,
}

impl EvaluationError {
    pub(super) fn path(path: &Path, reason: impl ToString) -> Self {
        EvaluationError::Path { path: path.to_owned(), reason: reason.to_string() }
    }
}

/// Reads a file's text, without the mark that some programs begin a file with.
pub(super) fn text(path: &Path) -> Result<String, EvaluationError> {
    let mut bytes = std::fs::read(path).map_err(|error| EvaluationError::path(path, error))?;
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        bytes.drain(..3);
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..valid].iter().filter(|&&byte| byte == b'\n').count();
        EvaluationError::Line { path: path.to_owned(), line, problem: "not UTF-8".into() }
    })
}
