//! The JSON API: the commands of Tamis as routes under `/v1`, behind the same gate as the protocol for agents.
//!
//! Each [operation](crate::operation) with a path is a route; its answer is the one that the command prints with `--json`.
//! [`route`] lists the routes, [`parameters`] reads a query string or a body by the schema
//! that [`openapi`] publishes, [`encode`] writes the answer, and [`problem`] turns errors into problem documents.

pub(crate) mod encode;
pub(crate) mod endpoint;
pub(crate) mod metrics;
mod openapi;
pub(crate) mod parameters;
pub(crate) mod problem;
pub(crate) mod route;
pub(crate) mod verbs;

pub use openapi::openapi;
