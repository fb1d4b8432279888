//! Live import of issues, pull requests, comments and reviews from GitHub.
//!
//! The client only reads: it knows the method GET and one host. It asks for one page at a time, waits where the server wants
//! it to, and every page is in the index, with the place to go on from, before the next one is asked for. A run that was
//! stopped or killed goes on there, and the next run after a finished one asks only for what has changed.
//!
//! From the outside in: `run` does an import, `select` says which entries of a page are taken in, `place` is the way through
//! one list and `progress` what is kept of it; `client` asks for pages, `limits` says when, `transport` is one request and
//! `api` the addresses it may go to.

mod api;
mod client;
mod clock;
mod import;
mod limits;
mod link;
mod progress;
mod report;
mod repository;
mod request;
mod resumption;
mod select;
mod token;
mod transport;

pub use api::GITHUB_API;
pub use clock::{Clock, SystemClock};
pub use report::{GithubReport, Stopped};
pub use repository::Repository;
pub use request::{GithubAccess, GithubImport, IssueStates};
pub use token::{TOKEN_VARIABLES, Token};
