//! Flags of `tamis mcp` and `tamis serve`.

use clap::{Args, Subcommand, ValueEnum};
use std::net::SocketAddr;

/// Flags of `tamis mcp`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis mcp                        # serve one client on standard input and output
  tamis mcp --http 127.0.0.1:8765  # serve many clients of this machine over HTTP
  tamis mcp token laptop --namespace tamis

Standard output carries the protocol; errors, warnings and the log go to standard error. An address that other machines \
reach needs a token: in TAMIS_MCP_TOKEN, or as [[mcp.token]] in your own configuration.")]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct McpArguments {
    /// An action other than serving
    #[command(subcommand)]
    pub command: Option<McpCommand>,
    /// Serve many clients over HTTP at this address, in place of one on standard input; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub http: Option<SocketAddr>,
    /// The server itself.
    #[command(flatten)]
    pub server: ServerArguments,
}

/// Flags of every server.
#[derive(Debug, Args)]
pub struct ServerArguments {
    /// Allow clients to add notes with `remember`
    #[arg(long)]
    pub allow_remember: bool,
    /// Allow clients to judge answers with `feedback`
    #[arg(long)]
    pub allow_feedback: bool,
    /// List the schema of each tool's answer, and answer as data besides the text
    #[arg(long)]
    pub output_schemas: bool,
    /// Answer from the index as it is, without keeping it fresh
    #[arg(long)]
    pub no_refresh: bool,
    /// Log this level and above [default: info over HTTP, else warn]
    #[arg(long, value_name = "LEVEL")]
    pub log: Option<LogLevel>,
    /// Log in this format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub log_format: LogStyle,
    /// Log the arguments of calls too, queries included
    #[arg(long)]
    pub log_queries: bool,
}

/// Flags of `tamis serve`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis serve
  curl 'http://127.0.0.1:8765/v1/search?query=where+are+retries+handled'
  tamis serve --http 127.0.0.1:0 --allow-feedback

The page for people is at /, the JSON API under /v1 (its description: /v1/openapi.json), the Model Context Protocol at /mcp, and /healthz, /readyz and \
/metrics are for monitoring. An address that other machines reach needs a token: in TAMIS_MCP_TOKEN, or as [[mcp.token]] in \
your own configuration (`tamis mcp token NAME` makes one).")]
pub struct ServeArguments {
    /// Listen at this address; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8765")]
    pub http: SocketAddr,
    /// Allow clients to have the tree read at once with `/v1/refresh`
    #[arg(long)]
    pub allow_refresh: bool,
    /// The server itself.
    #[command(flatten)]
    pub server: ServerArguments,
}

/// Actions of `tamis mcp` other than serving.
#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// Print a new token once, with the configuration lines that admit it
    Token(McpTokenArguments),
}

/// Flags of `tamis mcp token`.
#[derive(Debug, Args)]
pub struct McpTokenArguments {
    /// Name of the token in the log
    pub name: String,
    /// Open only this namespace; repeatable [default: all]
    #[arg(long, value_name = "NAMESPACE")]
    pub namespace: Vec<String>,
    /// Allow it to add notes, on a server with --allow-remember
    #[arg(long)]
    pub remember: bool,
    /// Allow it to judge answers, on a server with --allow-feedback
    #[arg(long)]
    pub feedback: bool,
    /// Allow it to have the tree read at once, on a server with --allow-refresh
    #[arg(long)]
    pub refresh: bool,
}

/// The least level that is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// Failures.
    Error,
    /// Possible problems.
    Warn,
    /// Each request.
    Info,
    /// Background work.
    Debug,
    /// Everything.
    Trace,
}

impl LogLevel {
    /// The level's name.
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

/// The format of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogStyle {
    /// For people.
    Text,
    /// One object a line.
    Json,
}
