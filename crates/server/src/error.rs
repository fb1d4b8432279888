//! Errors of a server that cannot start or continue.

use std::net::SocketAddr;
use thiserror::Error;

/// The server could not start or continue.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The runtime, a stream or a socket failed.
    #[error("{what}: {source}")]
    Io {
        /// The thing that failed.
        what: String,
        /// The reason.
        source: std::io::Error,
    },
    /// The client broke the protocol before a session began.
    #[error("the client did not begin a session: {0}")]
    Handshake(String),
    /// Others can reach the address, and there is no token.
    #[error(
        "{address}: others can reach this address, so a token is needed: set TAMIS_MCP_TOKEN, or run `tamis mcp token NAME` and put \
         its output into the user's configuration; or listen on 127.0.0.1"
    )]
    TokenRequired {
        /// The address.
        address: SocketAddr,
    },
    /// A token is not secret or cannot be sent.
    #[error("token {name}: must be {allowed}")]
    InvalidToken {
        /// Name of the token.
        name: String,
        /// Form of a valid token.
        allowed: String,
    },
    /// HTTP cannot write the time that the system's clock shows.
    #[error("the system's clock is not between 1970 and 9999, the only times that HTTP can write; set it")]
    Clock,
    /// The system provided no random bytes.
    #[error("no random bytes for a token: {0}")]
    Random(String),
    /// The log could not start.
    #[error("the log: {0}")]
    Log(String),
}

impl ServeError {
    pub(crate) fn io(what: impl Into<String>, source: std::io::Error) -> Self {
        ServeError::Io { what: what.into(), source }
    }
}
