//! Flags of `tamis mcp`.

use clap::{Args, Subcommand, ValueEnum};
use std::net::SocketAddr;

/// Flags of `tamis mcp`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis mcp                        # one client on standard input and output
  tamis mcp --http 127.0.0.1:8765  # many clients over HTTP, of this machine
  tamis mcp token laptop --namespace tamis

Errors, warnings and the log go to standard error; standard output is the protocol's. An address that others reach needs a
token: in TAMIS_MCP_TOKEN, or as [[mcp.token]] in the user's configuration.")]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct McpArguments {
    /// What else than to serve
    #[command(subcommand)]
    pub command: Option<McpCommand>,
    /// Serve many clients over HTTP at this address in place of one on standard input and output; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub http: Option<SocketAddr>,
    /// Let clients note things down with `remember`
    #[arg(long)]
    pub allow_remember: bool,
    /// Let clients judge answers with `feedback`
    #[arg(long)]
    pub allow_feedback: bool,
    /// Answer from the index as it is, and do not keep it fresh
    #[arg(long)]
    pub no_refresh: bool,
    /// What to log: of this level and above [default: warn; info with --http]
    #[arg(long, value_name = "LEVEL")]
    pub log: Option<LogLevel>,
    /// How to log
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub log_format: LogForm,
    /// Log the arguments of calls too, in which queries are
    #[arg(long)]
    pub log_queries: bool,
}

/// What `tamis mcp` does besides serving.
#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// Print a fresh token, once, and the lines of the configuration that let it in
    Token(McpTokenArguments),
}

/// Flags of `tamis mcp token`.
#[derive(Debug, Args)]
pub struct McpTokenArguments {
    /// What it is called in the log
    pub name: String,
    /// The namespace that it opens, and no other; may be given several times [default: all]
    #[arg(long, value_name = "NAMESPACE")]
    pub namespace: Vec<String>,
    /// It may note things down, where the server is run with --allow-remember
    #[arg(long)]
    pub remember: bool,
    /// It may judge answers, where the server is run with --allow-feedback
    #[arg(long)]
    pub feedback: bool,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// What failed.
    Error,
    /// What may be wrong.
    Warn,
    /// Each request.
    Info,
    /// What the server does besides.
    Debug,
    /// Everything.
    Trace,
}

impl LogLevel {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            LogLevel::Off => "off",
            LogLevel::Error => "error",
            LogLevel::Warn => "warn",
            LogLevel::Info => "info",
            LogLevel::Debug => "debug",
            LogLevel::Trace => "trace",
        }
    }
}

/// The forms of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogForm {
    /// For people.
    Text,
    /// One object a line.
    Json,
}
