//! The evidence graph through the library.

#![cfg(feature = "evidence")]

#[path = "../support/mod.rs"]
mod support;

mod graph;
mod import;
mod rank;
mod round_trip;
mod scifact;
mod vector_search;
mod views;
