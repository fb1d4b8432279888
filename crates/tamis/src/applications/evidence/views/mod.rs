//! Named queries on the evidence graph: SQL templates, some built in, others the user's own.
//!
//! In processing order: `collection` (finds views) → `header` (parses the top of a file) → `template` (renders the SQL
//! for the parameters given) → `names` (the parameters in that SQL) → `values` (converts values by type) → `query`. A
//! value is bound to the statement and never becomes part of its text: a template only knows whether a parameter is
//! given, and a template that prints anything is rejected.

mod collection;
mod header;
mod names;
mod query;
mod template;
mod values;

#[cfg(test)]
mod tests;

pub use header::{ParameterType, ViewColumn, ViewParameter};
pub use query::{ViewDescription, ViewRequest, views};
