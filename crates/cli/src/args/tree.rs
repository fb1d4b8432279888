//! Flags of `tamis grep`, `tamis files` and `tamis outline`.

use super::values::{at_least_one, count, language};
use clap::Args;

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
    /// Regular expression, within one line
    #[arg(value_name = "PATTERN")]
    pub pattern: String,
    /// Search only these files and directories
    #[arg(value_name = "PATH")]
    pub paths: Vec<String>,
    /// Take PATTERN literally
    #[arg(short = 'F', long)]
    pub fixed_strings: bool,
    /// Ignore case
    #[arg(short = 'i', long, overrides_with = "smart_case")]
    pub ignore_case: bool,
    /// Ignore case unless PATTERN has an upper-case letter
    #[arg(short = 'S', long, overrides_with = "ignore_case")]
    pub smart_case: bool,
    /// Match whole words only
    #[arg(short = 'w', long)]
    pub word_regexp: bool,
    /// Search only matching paths; !GLOB leaves paths out; repeatable
    #[arg(short = 'g', long = "glob", value_name = "GLOB")]
    pub globs: Vec<String>,
    /// Search only these languages, by name or file extension
    #[arg(long = "lang", value_name = "LANG", value_delimiter = ',', value_parser = language)]
    pub languages: Vec<Vec<&'static str>>,
    /// Show N lines after each match, 0 to 100
    #[arg(short = 'A', long, value_name = "N", value_parser = count)]
    pub after_context: Option<usize>,
    /// Show N lines before each match, 0 to 100
    #[arg(short = 'B', long, value_name = "N", value_parser = count)]
    pub before_context: Option<usize>,
    /// Show N lines before and after each match, 0 to 100 [short: -C N]
    #[arg(long, value_name = "N", value_parser = count)]
    pub context: Option<usize>,
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
    /// List at most N matching lines; all are counted [default: 100000]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub limit: Option<usize>,
    /// Search this namespace of an index that holds several
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
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
  tamis files 'src/**/*_test.rs' a glob
  tamis files '!tests'           all but these; '/!name' is a name with an exclamation mark
  tamis files retry              paths that contain it, best first
  tamis files srvmain            no path contains it, so its letters in order: server/main.rs

Exit status: 0 found something, 1 found nothing, 2 an error.")]
pub struct FilesArguments {
    /// Glob, part of a path, or some of its letters in order; !GLOB leaves paths out
    #[arg(value_name = "PATTERN")]
    pub pattern: Option<String>,
    /// List only files of these languages, by name or file extension
    #[arg(long = "lang", value_name = "LANG", value_delimiter = ',', value_parser = language)]
    pub languages: Vec<Vec<&'static str>>,
    /// List at most N files; all are counted
    #[arg(short = 'n', long, value_name = "N", value_parser = at_least_one)]
    pub limit: Option<usize>,
    /// Show size, language and last change
    #[arg(short = 'l', long, conflicts_with = "json")]
    pub long: bool,
    /// Print the answer as one JSON object
    #[arg(long)]
    pub json: bool,
    /// List files of this namespace of an index that holds several
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
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
    /// File, directory or glob
    #[arg(value_name = "PATH", default_value = ".")]
    pub path: String,
    /// List symbols that are compiled for tests only, too
    #[arg(long)]
    pub tests: bool,
    /// List at most N symbols of a file [default: all of one file, 20 of each of several]
    #[arg(short = 'n', long, value_name = "N", value_parser = at_least_one)]
    pub limit: Option<usize>,
    /// Print the answer as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Look in this namespace of an index that holds several
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Use the index as it is, without looking for changed files
    #[arg(long)]
    pub no_refresh: bool,
}
