//! Flags of `tamis evidence`.

use super::evidence_find::{EvidenceRankArguments, EvidenceSearchArguments};
use super::{SqlArguments, ViewArguments, ViewsArguments};
use clap::{Args, Subcommand};
use std::path::PathBuf;
use tamis::evidence::EvidenceRecord;

/// Flags of `tamis evidence`.
#[derive(Debug, Args)]
#[command(subcommand_value_name = "ACTION", subcommand_help_heading = "Actions")]
pub struct EvidenceArguments {
    /// The action.
    #[command(subcommand)]
    pub action: EvidenceAction,
}

/// An action on the evidence graph.
#[derive(Debug, Subcommand)]
pub enum EvidenceAction {
    /// Add one record, or replace it; searches find it at once
    Add(Box<EvidenceAddArguments>),
    /// List the fragments about a claim, best first, until a cut ends the list
    Rank(EvidenceRankArguments),
    /// Find the claims or fragments closest to a text, by meaning alone
    Search(EvidenceSearchArguments),
    /// Write all records as JSON Lines, which `tamis import evidence` reads
    Export(EvidenceExportArguments),
    /// Query the evidence graph in SQL
    Sql(SqlArguments),
    /// List the named queries
    Views(ViewsArguments),
    /// Run a named query
    View(ViewArguments),
}

/// Flags of `tamis evidence export`.
#[derive(Debug, Args)]
pub struct EvidenceExportArguments {
    /// File to write in place of standard output; an existing file is replaced
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Export this namespace, in place of the current one
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
}

/// Flags of `tamis evidence add`.
#[derive(Debug, Args)]
#[command(
    subcommand_value_name = "RECORD",
    subcommand_help_heading = "Records",
    after_help = "\
Examples:
  tamis evidence add task --id t1 --question \"Does folic acid help?\"
  tamis evidence add page --id p1 --url https://example.org/trial --title Trial
  tamis evidence add fragment --id f1 --page-id p1 --text \"The risk fell by a third.\"
  tamis evidence add claim --id c1 --task-id t1 --text \"Folic acid helps.\"
  tamis evidence add edge --source-id f1 --target-id c1 --relation supports

A record replaces the whole record of the same name: a flag that you leave out empties its field."
)]
pub struct EvidenceAddArguments {
    /// The record.
    #[command(subcommand)]
    pub record: EvidenceRecord,
    /// Add it to this namespace in place of the current one; a new one is made
    #[arg(long, value_name = "NAME", global = true)]
    pub namespace: Option<String>,
    /// Record this origin, by which `tamis import --remove` removes it again
    #[arg(long, value_name = "ORIGIN", global = true, default_value = "evidence add")]
    pub origin: String,
    /// Print what was done as JSON
    #[arg(long, global = true)]
    pub json: bool,
}
