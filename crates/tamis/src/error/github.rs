//! Errors of an import from GitHub.

use thiserror::Error;

/// An import from GitHub that failed. Everything read so far stays in the index, and the next import continues from there.
#[derive(Debug, Error)]
pub enum GithubError {
    /// An invalid name of a repository.
    #[error("{given:?}: not a repository; write OWNER/NAME, such as rust-lang/cargo")]
    Repository {
        /// The text received.
        given: String,
    },
    /// An invalid name of a host.
    #[error("{given:?}: not a host name, such as github.com or git.example.org")]
    Host {
        /// The text received.
        given: String,
    },
    /// There is no `gh`.
    #[error(
        "there is no `gh`, GitHub's command line, on the PATH: install it (https://cli.github.com) and run `gh auth login`, or \
         import a file from elsewhere with `tamis import issues FILE`"
    )]
    NoGh,
    /// `gh` is not logged in, or GitHub does not accept its token.
    #[error("gh is not logged in to {host}{said}; run `gh auth login --hostname {host}`")]
    Login {
        /// The host.
        host: String,
        /// The words of `gh`, with a separator in front.
        said: String,
    },
    /// The repository does not exist or is not visible: GitHub does not say which.
    #[error(
        "{repository}: there is no such repository, or the account that gh is logged in to may not see it ({said})"
    )]
    NotFound {
        /// The repository.
        repository: String,
        /// The words of `gh`.
        said: String,
    },
    /// `gh` failed.
    #[error("gh api {path}: {said}; what was read so far is kept: run the import again to go on")]
    Failed {
        /// The path asked for.
        path: String,
        /// The words of `gh`, or the reason.
        said: String,
    },
    /// The answer does not follow the API.
    #[error("gh api {path}: not an answer of GitHub's API: {reason}")]
    Answer {
        /// The path asked for.
        path: String,
        /// The reason.
        reason: String,
    },
    /// More items changed at one moment than a list can show.
    #[error("gh api {path}: GitHub cut the list short: more items were updated at {moment} than it returns")]
    ListEnds {
        /// The path asked for.
        path: String,
        /// The moment.
        moment: String,
    },
}
