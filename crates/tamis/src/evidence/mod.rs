//! The evidence graph: claims, and the fragments of pages that speak for or against them.

mod namespace;
mod sql;

pub use sql::{SqlAnswer, SqlRequest};
