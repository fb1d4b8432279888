//! Errors of an import from GitHub.

use thiserror::Error;

/// An import from GitHub that failed. Everything read so far stays in the index, and the next import continues from there.
#[derive(Debug, Error)]
pub enum GithubError {
    /// An invalid name of a repository.
    #[error("{given:?}: no repository; write OWNER/NAME, such as rust-lang/cargo")]
    Repository {
        /// The text received.
        given: String,
    },
    /// An unusable API address.
    #[error("{given}: cannot be the address of an API: {reason}")]
    ApiUrl {
        /// The text received, without secrets.
        given: String,
        /// The reason.
        reason: String,
    },
    /// An invalid token. It is not printed.
    #[error("{variable}: it holds characters that no token has; set it anew, or unset it to read without a token")]
    Token {
        /// The environment variable.
        variable: String,
    },
    /// GitHub does not accept the token.
    #[error(
        "{address}: GitHub does not accept the token of {variable} (401{said}); it may have expired: set a valid one, or \
         unset it to read a public repository without"
    )]
    BadToken {
        /// The address or name asked for.
        address: String,
        /// The environment variable that holds the token.
        variable: String,
        /// The server's message.
        said: String,
    },
    /// The server requires a token.
    #[error("{address}: only with a token (401{said}); set GITHUB_TOKEN")]
    NoToken {
        /// The address or name asked for.
        address: String,
        /// The server's message.
        said: String,
    },
    /// The repository does not exist or is not visible: the server does not say which.
    #[error("{repository}: there is no such repository, or {access} (404 at {address})")]
    NotFound {
        /// The repository.
        repository: String,
        /// The address or name asked for.
        address: String,
        /// A remark on access, and the way out.
        access: String,
    },
    /// The server refuses the request.
    #[error("{address}: refused ({status}{said}); {hint}")]
    Refused {
        /// The address or name asked for.
        address: String,
        /// The HTTP status.
        status: u16,
        /// The server's message.
        said: String,
        /// The way out.
        hint: &'static str,
    },
    /// The server redirects to another host, where the token must not go.
    #[error(
        "{asked}: the server points to another host, {named}; the token is not sent there and the address not followed. If \
         that is where the API is now, name it with --api-url"
    )]
    OtherHost {
        /// The address or name asked for.
        asked: String,
        /// The other host.
        named: String,
    },
    /// The server redirects too often.
    #[error("{address}: redirected more than {limit} times")]
    Redirects {
        /// The address or name asked for.
        address: String,
        /// The maximum number of redirects.
        limit: u32,
    },
    /// The answer does not follow the API.
    #[error("{address}: not an answer of GitHub's API: {reason}; see whether that is the address of an API")]
    Answer {
        /// The address or name asked for.
        address: String,
        /// The reason.
        reason: String,
    },
    /// More items changed at one moment than a list can show.
    #[error("{address}: the server ends the list too early: more than it shows were updated at {moment}")]
    ListEnds {
        /// The address or name asked for.
        address: String,
        /// The moment.
        moment: String,
    },
    /// All attempts failed.
    #[error("{address}: {reason} ({attempts} attempts); what was read so far is kept: run the import again to go on")]
    Unavailable {
        /// The address or name asked for.
        address: String,
        /// The last failure.
        reason: String,
        /// The number of attempts.
        attempts: u32,
    },
}
