//! Errors of vectors and their files.

use std::path::PathBuf;

/// An error of a vector file or a vector.
#[derive(Debug, thiserror::Error)]
pub enum VectorError {
    /// A vector's length is not the model's dimension.
    #[error("a vector of {received} dimensions was given to an index of {expected}; embed it with the index's model")]
    Dimension {
        /// The dimension of the index.
        expected: usize,
        /// The length of the vector given.
        received: usize,
    },
    /// A passage's vector holds NaN or an infinity.
    #[error("the vector of passage {passage} holds {value} at position {position}; embed the passage again")]
    NonFinite {
        /// The passage that the vector belongs to.
        passage: u64,
        /// The first position that is not finite.
        position: usize,
        /// The value there.
        value: f32,
    },
    /// A query's vector holds NaN or an infinity.
    #[error("the query's vector holds {value} at position {position}; embed the query again")]
    NonFiniteQuery {
        /// The first position that is not finite.
        position: usize,
        /// The value there.
        value: f32,
    },
    /// Passages were not written in ascending order.
    #[error(
        "passage {passage} was written after passage {previous}; a snapshot takes each passage once, in ascending order"
    )]
    Order {
        /// The passage written before.
        previous: u64,
        /// The passage that came out of order.
        passage: u64,
    },
    /// A dimension out of range.
    #[error("{received} dimensions are not possible; a vector has 1 to {maximum}", maximum = super::MAX_DIMENSION)]
    UnsupportedDimension {
        /// The dimension asked for.
        received: usize,
    },
    /// A model name too long for the file's header.
    #[error("the model name `{model}` has {length} bytes; the vector file has room for {maximum}", length = model.len(), maximum = super::MAX_MODEL_BYTES)]
    ModelName {
        /// The model's name.
        model: String,
    },
    /// Rows that were chosen before the index changed.
    #[error("the index has changed since the rows to search were chosen; choose them again")]
    Changed,
    /// More rows than a file can number.
    #[error("a vector file holds at most {maximum} passages", maximum = u32::MAX)]
    TooManyRows,
    /// A file could not be read or written.
    #[error("{}: {source}; check the space and the permissions there (the file is derived and can be deleted)", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's message.
        source: std::io::Error,
    },
}

impl VectorError {
    /// Names the file that an operation failed on.
    pub(super) fn io(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self + use<> {
        let path = path.to_path_buf();
        move |source| Self::Io { path, source }
    }
}
