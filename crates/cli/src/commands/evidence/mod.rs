//! `tamis evidence`: claims and what speaks for and against them.

mod add;
mod export;
mod rank;
mod search;

use crate::args::{EvidenceAction, EvidenceArguments, Global};
use crate::exit::Exit;
use crate::output::Output;
use anyhow::Result;

/// Does what was asked with evidence.
///
/// # Errors
/// The index cannot be read or written, or what is given is not allowed.
pub fn run(arguments: &EvidenceArguments, global: &Global, output: &Output) -> Result<Exit> {
    match &arguments.action {
        EvidenceAction::Add(add) => add::run(add, global, output),
        EvidenceAction::Rank(rank) => rank::run(rank, global, output),
        EvidenceAction::Search(search) => search::run(search, global, output),
        EvidenceAction::Export(export) => export::run(export, global, output),
    }
}
