//! Errors of fetching a model.

use thiserror::Error;

/// A model that could not be added. Nothing is registered then; complete files and parts stay for the next attempt, except where
/// they were wrong.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HubError {
    /// An unusable address of a hub.
    #[error("{given}: cannot be the address of a hub: {reason}; set HF_ENDPOINT to one, or unset it")]
    Endpoint {
        /// The text received, without secrets.
        given: String,
        /// The reason.
        reason: &'static str,
    },
    /// An invalid token. It is not printed.
    #[error("{variable}: contains characters that a token cannot have; correct it or unset it")]
    Token {
        /// The environment variable.
        variable: &'static str,
    },
    /// The hub has no such model or revision, or does not show it: it does not say which.
    #[error("{model}: {reason} ({status} at {hub})")]
    NotFound {
        /// The model.
        model: String,
        /// The hub.
        hub: String,
        /// The HTTP status.
        status: u16,
        /// What is missing, and the way out.
        reason: String,
    },
    /// The hub refuses the request.
    #[error("{address}: refused ({status}{said})")]
    Refused {
        /// The address asked for.
        address: String,
        /// The HTTP status.
        status: u16,
        /// The server's message.
        said: String,
    },
    /// The server redirects to an address that is not followed.
    #[error("{asked}: the server points to {named}, which is not followed: {reason}")]
    Redirect {
        /// The address asked for.
        asked: String,
        /// The other address.
        named: String,
        /// The reason.
        reason: &'static str,
    },
    /// The answer does not follow the protocol.
    #[error("{address}: not an answer of a hub: {reason}")]
    Answer {
        /// The address asked for.
        address: String,
        /// The reason.
        reason: String,
    },
    /// All attempts failed.
    #[error(
        "{address}: {reason} ({attempts} attempts); {}once there is a connection",
        if *begun { "what was fetched is kept, and the same command goes on there " } else { "try again " }
    )]
    Unavailable {
        /// The address asked for.
        address: String,
        /// The last failure.
        reason: String,
        /// The number of attempts.
        attempts: u32,
        /// True if something was fetched before.
        begun: bool,
    },
    /// A file differs from what the hub says of it.
    #[error(
        "{model}: {file}: its {algorithm} is {found}, but the hub says {expected}; the file was removed; try again later"
    )]
    Sum {
        /// The model.
        model: String,
        /// The file.
        file: String,
        /// The kind of sum.
        algorithm: &'static str,
        /// The sum of the hub.
        expected: String,
        /// The sum of the file.
        found: String,
    },
    /// The model is larger than allowed.
    #[error("{model}: {what} has {bytes} bytes, more than the {limit} allowed; raise the limit if you want it")]
    TooLarge {
        /// The model.
        model: String,
        /// The file, or all of them.
        what: String,
        /// The size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// The repository has no form of the model that can be used here, or it does not work.
    #[error("{model}: {reason}")]
    Unusable {
        /// The model.
        model: String,
        /// The files looked for, and those found.
        reason: String,
    },
}
