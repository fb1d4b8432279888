//! Flags of `tamis mcp`.

use clap::Args;

/// Flags of `tamis mcp`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis mcp                        # one client on standard input and output

Errors and warnings go to standard error; standard output is the protocol's.")]
pub struct McpArguments {
    /// Let clients note things down with `remember`
    #[arg(long)]
    pub allow_remember: bool,
    /// Let clients judge answers with `feedback`
    #[arg(long)]
    pub allow_feedback: bool,
}
