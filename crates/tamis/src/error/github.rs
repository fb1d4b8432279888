//! Errors of an import from GitHub.

use thiserror::Error;

/// An import from GitHub that failed. What was read before stays in the index, and the next import goes on from there.
#[derive(Debug, Error)]
pub enum GithubError {
    /// The name of a repository that cannot be one.
    #[error("{given:?}: no repository; write OWNER/NAME, such as rust-lang/cargo")]
    Repository {
        /// What was given.
        given: String,
    },
    /// The address of an API that is not used.
    #[error("{given}: cannot be the address of an API: {reason}")]
    ApiUrl {
        /// What was given, without secrets.
        given: String,
        /// Why.
        reason: String,
    },
    /// A token that cannot be one. It is not printed.
    #[error("{variable}: it holds characters that no token has; set it anew, or unset it to read without a token")]
    Token {
        /// The environment variable.
        variable: String,
    },
    /// The token is not accepted.
    #[error(
        "{address}: GitHub does not accept the token of {variable} (401{said}); it may have expired: set a valid one, or \
         unset it to read a public repository without"
    )]
    BadToken {
        /// The address or name asked for.
        address: String,
        /// The environment variable that it came from.
        variable: String,
        /// The server's message.
        said: String,
    },
    /// The server wants to know who asks.
    #[error("{address}: only with a token (401{said}); set GITHUB_TOKEN")]
    NoToken {
        /// The address or name asked for.
        address: String,
        /// The server's message.
        said: String,
    },
    /// There is no such repository, or it may not be seen: the server does not say which.
    #[error("{repository}: there is no such repository, or {access} (404 at {address})")]
    NotFound {
        /// The repository.
        repository: String,
        /// The address or name asked for.
        address: String,
        /// What about access, and what to do.
        access: String,
    },
    /// The server refuses.
    #[error("{address}: refused ({status}{said}); {hint}")]
    Refused {
        /// The address or name asked for.
        address: String,
        /// The status.
        status: u16,
        /// The server's message.
        said: String,
        /// What to do.
        hint: &'static str,
    },
    /// The server names an address at another host, where the token must not go.
    #[error(
        "{asked}: the server points to another host, {named}; the token is not sent there and the address not followed. If \
         that is where the API is now, name it with --api-url"
    )]
    OtherHost {
        /// The address or name asked for.
        asked: String,
        /// The host that was named.
        named: String,
    },
    /// The server sends in circles.
    #[error("{address}: redirected more than {limit} times")]
    Redirects {
        /// The address or name asked for.
        address: String,
        /// How many are followed.
        limit: u32,
    },
    /// The answer is not what the API answers.
    #[error("{address}: not an answer of GitHub's API: {reason}; see whether that is the address of an API")]
    Answer {
        /// The address or name asked for.
        address: String,
        /// Why.
        reason: String,
    },
    /// More than a list can show changed at one moment.
    #[error("{address}: the server ends the list too early: more than it shows were updated at {moment}")]
    ListEnds {
        /// The address or name asked for.
        address: String,
        /// The moment.
        moment: String,
    },
    /// No good answer after several attempts.
    #[error("{address}: {reason} ({attempts} attempts); what was read so far is kept: run the import again to go on")]
    Unavailable {
        /// The address or name asked for.
        address: String,
        /// The last failure.
        reason: String,
        /// How often it was asked.
        attempts: u32,
    },
}
