//! Why a server stopped that should not have.

use thiserror::Error;

/// A server that could not start or go on.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The runtime, a stream or a socket failed.
    #[error("{what}: {source}")]
    Io {
        /// What was done.
        what: String,
        /// Why it failed.
        source: std::io::Error,
    },
    /// The client broke the protocol before a session began.
    #[error("the client did not begin a session: {0}")]
    Handshake(String),
}

impl ServeError {
    pub(crate) fn io(what: impl Into<String>, source: std::io::Error) -> Self {
        ServeError::Io { what: what.into(), source }
    }
}
