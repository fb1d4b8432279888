//! The evidence graph through the library.

#[path = "../support/mod.rs"]
mod support;

mod import;
mod round_trip;
mod scifact;
