//! Flags of `tamis install`.

use clap::Args;
use clap::builder::PossibleValuesParser;
use tamis::clients::Client;

/// Flags of `tamis install`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis install                                   # list clients and entries
  tamis install --client claude-code              # add one to .mcp.json here
  tamis install --client cursor,vscode --dry-run  # show what would change
  tamis install --client codex --user             # add one for all projects
  tamis install --client cursor --remove          # remove the entry again

Everything else in the file stays as it is, byte for byte.")]
pub struct InstallArguments {
    /// Add an entry to these clients; without this flag, list them
    #[arg(long = "client", value_name = "CLIENT", value_delimiter = ',', value_parser = PossibleValuesParser::new(Client::ALL.map(Client::name)))]
    pub clients: Vec<String>,
    /// Write the project's file [default where the client has one]
    #[arg(long, requires = "clients", conflicts_with = "user")]
    pub project: bool,
    /// Write your own file: the server then starts in every project (in this one if the client names no directory)
    #[arg(long, requires = "clients")]
    pub user: bool,
    /// Remove the entry again
    #[arg(long, requires = "clients", conflicts_with_all = ["allow_remember", "allow_feedback"])]
    pub remove: bool,
    /// Show what would change, and change nothing
    #[arg(long, requires = "clients")]
    pub dry_run: bool,
    /// Name the entry
    #[arg(long, value_name = "NAME", default_value = "tamis")]
    pub name: String,
    /// Replace or remove an entry of this name that starts something else
    #[arg(long, requires = "clients")]
    pub force: bool,
    /// Allow the client to add notes with `remember`
    #[arg(long, requires = "clients")]
    pub allow_remember: bool,
    /// Allow the client to judge answers with `feedback`
    #[arg(long, requires = "clients")]
    pub allow_feedback: bool,
    /// Print the list of clients as JSON
    #[arg(long, conflicts_with = "clients")]
    pub json: bool,
}
