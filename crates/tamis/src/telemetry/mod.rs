//! How well queries are served: taken down for every one of them, put together for people, and decided again with other
//! cuts. Nothing leaves the machine.
//!
//! `quality` makes the row of a query, which `search::record` hands to the log with the search itself.

mod quality;

pub(crate) use quality::{Served, quality};
