//! Flags of `tamis index`.

use clap::Args;
use clap::builder::PossibleValuesParser;
use std::path::PathBuf;
use tamis::config::FileCollection;

/// Flags of `tamis index`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis index               what changed since the last run
  tamis index --watch       stay, and run again after every change
  tamis index api web       hold these repositories too, each as a namespace
  tamis index ../notes --collection notes   a directory whose prose is notes
  tamis index --remove web  hold this one no more

Ctrl-C stops at a whole step; the next run goes on from there. A second Ctrl-C stops at once, which is safe too.")]
pub struct IndexArguments {
    /// Directories that the index is to hold from now on, each as a namespace that is called like it
    #[arg(value_name = "DIR")]
    pub directories: Vec<PathBuf>,
    /// Whose the directories are: what one owner shares is found from all of the owner's namespaces
    #[arg(long, value_name = "NAME", requires = "directories")]
    pub owner: Option<String>,
    /// Whether the owner's other namespaces may search the directories
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true",
        requires = "directories")]
    pub shared: Option<bool>,
    /// What the prose of the directories is: docs, wiki, or notes; code and data stay the collection code
    #[arg(long = "collection", value_name = "NAME", value_parser = PossibleValuesParser::new(FileCollection::NAMES),
        hide_possible_values = true, requires = "directories")]
    pub collection: Option<String>,
    /// Take a namespace out, with all its documents
    #[arg(long, value_name = "NAME", conflicts_with_all = ["directories", "watch", "full"])]
    pub remove: Option<String>,
    /// Stay, and run again whenever the tree changes
    #[arg(long)]
    pub watch: bool,
    /// Read every file, whatever its size and time of change say
    #[arg(long)]
    pub full: bool,
    /// Print the report as JSON; with --watch, one object a line and run
    #[arg(long)]
    pub json: bool,
}
