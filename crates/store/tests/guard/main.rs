//! Untrusted statements, most of them hostile.

mod answers;
mod bombs;
mod common;
mod confinement;
mod statements;
