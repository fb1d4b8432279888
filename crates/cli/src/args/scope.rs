//! Flags that choose whose passages are searched, and where.

use clap::Args;

/// The namespaces and paths of a search.
#[derive(Debug, Args)]
pub struct ScopeArguments {
    /// Search only matching paths; !GLOB leaves paths out
    #[arg(long = "path", value_name = "GLOB", help_heading = "Filters")]
    pub paths: Vec<String>,
    /// Search only these namespaces, all of equal standing; repeat or separate with commas
    #[arg(
        long = "namespace",
        value_name = "NAME",
        value_delimiter = ',',
        help_heading = "Filters",
        hide_short_help = true
    )]
    pub namespaces: Vec<String>,
    /// Search your own namespace alone, without those that its owner shares
    #[arg(long, help_heading = "Filters", hide_short_help = true)]
    pub no_sharing: bool,
}
