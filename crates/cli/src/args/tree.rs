//! Flags of `tamis grep`, `tamis files` and `tamis outline`.

use clap::Args;
use tamis::tree::{FilesRequest, GrepRequest, OutlineRequest};

/// Flags of `tamis grep`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis grep 'fn \\w+_timeout' src          a regular expression, below src
  tamis grep -F 'a[0]' --lang rust -A 3    these characters, with three lines after each
  tamis grep -lw unsafe                    the files that have the word
  tamis grep TODO -g '!vendor' --json

The files are those of the index, read as they are now. -C N shows context, as in ripgrep.

Exit status: 0 found something, 1 found nothing, 2 an error.")]
pub struct GrepArguments {
    #[command(flatten)]
    pub request: GrepRequest,
    /// Search only these files and directories
    #[arg(value_name = "PATH")]
    pub files: Vec<String>,
    /// Print only the paths of files with a match
    #[arg(short = 'l', long, group = "grep_form")]
    pub files_with_matches: bool,
    /// Print the number of matching lines of each file
    #[arg(short = 'c', long, group = "grep_form")]
    pub count: bool,
    /// Print each match as PATH:LINE:COLUMN:TEXT, for editors
    #[arg(long, group = "grep_form")]
    pub vimgrep: bool,
    /// Print the answer as one JSON object
    #[arg(long, group = "grep_form")]
    pub json: bool,
    /// Use the index as it is, without looking for new files
    #[arg(long)]
    pub no_refresh: bool,
    /// Show line numbers, as always; for those used to typing it
    #[arg(short = 'n', long, hide = true)]
    pub line_number: bool,
}

/// Flags of `tamis files`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis files                    all files of the index
  tamis files 'src/**/*_test.rs'  a glob
  tamis files '!tests'           all but these; '/!name' is a name with an exclamation mark
  tamis files retry              paths that contain it, best first
  tamis files srvmain            no path contains it, so its letters in order: server/main.rs

Exit status: 0 found something, 1 found nothing, 2 an error.")]
pub struct FilesArguments {
    #[command(flatten)]
    pub request: FilesRequest,
    /// Show size, language and last change
    #[arg(short = 'l', long, conflicts_with = "json")]
    pub long: bool,
    /// Print the answer as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Use the index as it is, without looking for new files
    #[arg(long)]
    pub no_refresh: bool,
}

/// Flags of `tamis outline`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis outline src/walk.rs      every symbol, with its lines and signature
  tamis outline src              the outermost symbols of each file
  tamis outline docs/guide.md    the headings of a document

Exit status: 0 found something, 1 found nothing, 2 an error.")]
pub struct OutlineArguments {
    #[command(flatten)]
    pub request: OutlineRequest,
    /// Print the answer as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Use the index as it is, without looking for changed files
    #[arg(long)]
    pub no_refresh: bool,
}
