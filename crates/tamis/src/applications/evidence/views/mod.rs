//! Questions to the evidence graph that have a name: SQL in templates, some built in, others the user's own.
//!
//! In the order of a view's way: `collection` (where views come from) → `header` (what a file says of itself) → `template`
//! (its text under what is given) → `names` (the parameters of that text) → `values` (what is given, by type) → `run`. A
//! parameter is bound to the statement and never part of its text: a template knows of each only whether it is given, and one
//! that prints anything is refused.

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
