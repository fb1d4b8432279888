//! The errors of embedding.

use std::path::PathBuf;

/// A failed embedding.
///
/// Every message names the part that failed, the value that was found and the remedy. No variant ever carries an API key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// A model's own files are incomplete, damaged or of an unsupported kind.
    #[error("model {model}: {reason}")]
    Model {
        /// The model's identifier, or the name of the file being read.
        model: String,
        /// The expectation, the finding and the remedy.
        reason: String,
    },
    /// A file of a local model directory could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason the system gave.
        source: std::io::Error,
    },
    /// The runtime failed while a model was computing.
    #[error("model {model} failed on a batch of {texts} texts: {reason}")]
    Inference {
        /// The model's identifier.
        model: String,
        /// The number of texts in the batch.
        texts: usize,
        /// The runtime's message.
        reason: String,
    },
    /// A setting is outside its range.
    #[error("{setting} is {value}; {allowed}")]
    Setting {
        /// The name of the setting.
        setting: &'static str,
        /// The value given.
        value: String,
        /// The values allowed.
        allowed: &'static str,
    },
    /// A remote endpoint could not be reached, or every attempt failed.
    #[error("{url}: {reason} (after {attempts} {})", if *attempts == 1 { "attempt" } else { "attempts" })]
    Unavailable {
        /// The endpoint.
        url: String,
        /// The last failure.
        reason: String,
        /// The number of requests made.
        attempts: u32,
    },
    /// A remote endpoint refused the request; repeating it would not help.
    #[error("{url} refused the request with status {status}: {reason}")]
    Refused {
        /// The endpoint.
        url: String,
        /// The HTTP status code.
        status: u16,
        /// The remedy, and the endpoint's own message, shortened.
        reason: String,
    },
    /// A remote endpoint answered with something other than what was asked for.
    #[error("{url} sent an unusable answer: {reason}")]
    Answer {
        /// The endpoint.
        url: String,
        /// The expectation and the finding.
        reason: String,
    },
}
