//! tamis-store

pub mod vectors;
