//! The evidence graph through the library.

#![cfg(feature = "evidence")]

pub mod graph;
mod import;
mod rank;
mod round_trip;
mod scifact;
mod views;
