//! The evidence graph through the library.

#![cfg(feature = "evidence")]

mod graph;
mod import;
mod rank;
mod round_trip;
mod scifact;
mod views;
