//! Flags that searches have in common: whose passages are read, and how an answer is printed.

use clap::Args;

/// Whose passages are read.
#[derive(Debug, Args)]
pub struct ScopeArguments {
    /// Only these namespaces of an index that holds several, of equal standing; repeat or separate with commas
    #[arg(long = "namespace", value_name = "NAME", value_delimiter = ',', help_heading = "Filters")]
    pub namespaces: Vec<String>,
    /// Search one's own namespace alone, without what its owner shares from others
    #[arg(long, help_heading = "Filters")]
    pub no_sharing: bool,
    /// Only paths that match the glob, as in .gitignore; with ! in front, only those that do not; repeatable
    #[arg(long = "path", value_name = "GLOB", help_heading = "Filters")]
    pub paths: Vec<String>,
}

/// How an answer is printed.
#[derive(Debug, Args)]
pub struct FormArguments {
    /// Show why: the candidates around the cut, the curve with the cut drawn in, figures and timings
    #[arg(long, conflicts_with = "files", help_heading = "Output")]
    pub explain: bool,
    /// Print the answer as one JSON object
    #[arg(long, group = "form", help_heading = "Output")]
    pub json: bool,
    /// Print each result as a JSON object on a line of its own
    #[arg(long, group = "form", help_heading = "Output")]
    pub jsonl: bool,
    /// Print only the paths, each once, best first
    #[arg(long, group = "form", help_heading = "Output")]
    pub files: bool,
}
