//! Why a server stopped that should not have.

use std::net::SocketAddr;
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
    /// An address that others reach, and no token.
    #[error(
        "{address}: others reach this address, so a token is needed: set TAMIS_MCP_TOKEN, or run `tamis mcp token NAME` and put what \
         it prints into the user's configuration; or listen on 127.0.0.1"
    )]
    Open {
        /// The address.
        address: SocketAddr,
    },
    /// A token that opens nothing, since it is not secret or cannot be sent.
    #[error("token {name}: must be {allowed}")]
    Token {
        /// What it is called.
        name: String,
        /// What is allowed.
        allowed: String,
    },
    /// No random bytes.
    #[error("no random bytes for a token: {0}")]
    Random(String),
    /// The log could not begin.
    #[error("the log: {0}")]
    Log(String),
}

impl ServeError {
    pub(crate) fn io(what: impl Into<String>, source: std::io::Error) -> Self {
        ServeError::Io { what: what.into(), source }
    }
}
