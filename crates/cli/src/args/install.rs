//! Flags of `tamis install`.

use clap::Args;
use clap::builder::PossibleValuesParser;
use tamis::clients::Client;

/// Flags of `tamis install`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis install                                    which clients are here, and which of them have an entry
  tamis install --client claude-code               an entry in this project's .mcp.json
  tamis install --client cursor,vscode --dry-run   what would change, and nothing is written
  tamis install --client codex --user              an entry for every project, in the user's file
  tamis install --client cursor --remove           take the entry out again

Everything else in the file stays as it is, byte for byte.")]
pub struct InstallArguments {
    /// The clients; without this, list them
    #[arg(long = "client", value_name = "CLIENT", value_delimiter = ',', value_parser = PossibleValuesParser::new(Client::ALL.map(Client::name)))]
    pub clients: Vec<String>,
    /// Write the project's file [default, where the client has one]
    #[arg(long, requires = "clients", conflicts_with = "user")]
    pub project: bool,
    /// Write the user's file: the server is started in every project, or for this one where the client tells no directory
    #[arg(long, requires = "clients")]
    pub user: bool,
    /// Take the entry out again
    #[arg(long, requires = "clients", conflicts_with_all = ["allow_remember", "allow_feedback"])]
    pub remove: bool,
    /// Print what would change, and change nothing
    #[arg(long, requires = "clients")]
    pub dry_run: bool,
    /// The name of the entry
    #[arg(long, value_name = "NAME", default_value = "tamis")]
    pub name: String,
    /// Replace or remove an entry of this name that starts something else
    #[arg(long, requires = "clients")]
    pub force: bool,
    /// Let the client note things down with `remember`
    #[arg(long, requires = "clients")]
    pub allow_remember: bool,
    /// Let the client judge answers with `feedback`
    #[arg(long, requires = "clients")]
    pub allow_feedback: bool,
    /// Print the list of clients as JSON
    #[arg(long, conflicts_with = "clients")]
    pub json: bool,
}
