//! Live import of issues, pull requests, comments and reviews from GitHub.
//!
//! The client only reads: it uses the method GET and one host. It requests one page at a time and waits when the server asks for
//! it. Every page is in the index, with the place to continue from, before the next one is requested. A stopped or killed run
//! continues there, and a run after a finished one requests only the changes.
//!
//! From the outside in: `import` does an import, `select` picks the entries of a page, `resumption` is the cursor through one
//! list, and `progress` is the stored state. `client` requests pages, `limits` decides when, `transport` sends one request, and
//! `api` holds the addresses it may go to.

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
