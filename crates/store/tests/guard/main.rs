//! Statements that somebody else wrote, most of them with ill intent.

mod answers;
mod bombs;
mod common;
mod confinement;
mod floods;
mod grammar;
mod statements;
