//! `tamis evidence`: claims, and the evidence for and against them.

mod add;
mod export;
mod rank;
mod search;

use super::{sql, views};
use crate::args::{EvidenceAction, EvidenceArguments, Global};
use crate::exit::Exit;
use crate::output::Output;
use anyhow::Result;

/// Runs an action on the evidence graph.
///
/// # Errors
/// The index cannot be read or written, or an argument is not allowed.
pub fn run(arguments: &EvidenceArguments, global: &Global, output: &Output) -> Result<Exit> {
    match &arguments.action {
        EvidenceAction::Add(add) => add::run(add, global, output),
        EvidenceAction::Rank(rank) => rank::run(rank, global, output),
        EvidenceAction::Search(search) => search::run(search, global, output),
        EvidenceAction::Export(export) => export::run(export, global, output),
        EvidenceAction::Sql(sql) => sql::run(sql, global, output),
        EvidenceAction::Views(list) => views::list(list, global, output),
        EvidenceAction::View(view) => views::run(view, global, output),
    }
}
