//! Flags of `tamis index`.

use clap::Args;
use clap::builder::PossibleValuesParser;
use std::path::PathBuf;
use tamis::config::FileCollection;

/// Flags of `tamis index`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis index               index what changed since the last run
  tamis index --wait        the same, and wait for the slower models too
  tamis index --dry-run     say what would be read and left out
  tamis index --watch       keep running, and index after every change
  tamis index api web       add these repositories, each as a namespace
  tamis index ../notes --collection notes   add a directory whose prose is notes
  tamis index --remove web  remove a namespace

Ctrl-C stops at a whole step, and the next run continues there. A second Ctrl-C stops at once, which is safe too.")]
pub struct IndexArguments {
    /// Directories to add to the index, each as a namespace of its name
    #[arg(value_name = "DIR")]
    pub directories: Vec<PathBuf>,
    /// Name the owner of the directories; an owner's shared namespaces are searched from all of the owner's others
    #[arg(long, value_name = "NAME", requires = "directories")]
    pub owner: Option<String>,
    /// Share the directories with the owner's other namespaces
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true",
        requires = "directories")]
    pub shared: Option<bool>,
    /// Put the prose of the directories into this collection: docs, wiki, or notes; code and data stay in code
    #[arg(long = "collection", value_name = "NAME", value_parser = PossibleValuesParser::new(FileCollection::NAMES),
        hide_possible_values = true, requires = "directories")]
    pub collection: Option<String>,
    /// Remove a namespace with all its documents
    #[arg(long, value_name = "NAME", conflicts_with_all = ["directories", "watch", "wait", "full"])]
    pub remove: Option<String>,
    /// Say that the tree is that of its namespace, at a new place
    #[arg(long, conflicts_with = "remove")]
    pub moved: bool,
    /// Embed with every model before ending; without it, the rest is embedded in the background
    #[arg(long)]
    pub wait: bool,
    /// Embed what lacks a vector, without reading the tree; a process of its own does, which other commands start
    #[arg(long, hide = true, conflicts_with_all = ["directories", "remove", "moved", "wait", "watch", "full", "json"])]
    pub background: bool,
    /// Read this file and nothing else, for a run that fears it
    #[arg(long, hide = true, value_name = "FILE")]
    pub try_file: Option<PathBuf>,
    /// Keep running, index after every change, and embed with the slower models in between
    #[arg(long)]
    pub watch: bool,
    /// Read every file again, changed or not
    #[arg(long)]
    pub full: bool,
    /// Say what would be read, how long that takes and what is left out, and change nothing
    #[arg(long, conflicts_with_all = ["remove", "moved", "wait", "watch", "full"])]
    pub dry_run: bool,
    /// Index more than 200,000 files or 5 GB without being asked
    #[arg(long, conflicts_with = "dry_run")]
    pub any_size: bool,
    /// Print the report as JSON; with --watch, one line for each run
    #[arg(long)]
    pub json: bool,
}
