//! `tamis mcp` and `tamis serve`: serve the index to agents and other programs.

use crate::command_line::Global;
use crate::exit::Exit;
use crate::output::Output;
use crate::session::Session;
use anyhow::{Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use tamis::Index;
use tamis::config::{McpConfig, McpToken, is_token_name};
use tamis_server::{
    Caller, HttpOptions, LogFormat, Server, ServerOptions, Token, fresh_token, serve_on_http, serve_on_stdio, start_log,
};

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
    /// Declare each tool's output schema, and add structured data to the text of answers
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
    /// Allow clients to update the index at once with `/v1/refresh`
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
    /// Allow it to update the index at once, on a server with --allow-refresh
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

/// Holds a token with all the rights of the server.
const TOKEN_VARIABLE: &str = "TAMIS_MCP_TOKEN";

/// Serves until the client leaves or a signal arrives.
///
/// # Errors
/// The index cannot be read or made, the client breaks the protocol, or the address cannot be served.
pub fn mcp(arguments: &McpArguments, global: &Global, output: &Output) -> Result<Exit> {
    if let Some(McpCommand::Token(token)) = &arguments.command {
        return print_token(token, output);
    }
    let Opened { server, config, caller, index } = open(&arguments.server, arguments.http.is_some(), false, global)?;
    match arguments.http {
        None => serve_on_stdio(server)?,
        Some(address) => {
            let options = http_options(address, &config, &caller, &index, arguments.server.log_queries)?;
            serve_on_http(server, options, |address| {
                // Programs wait for this line, unless they closed standard error.
                let _ = writeln!(std::io::stderr(), "tamis: serving http://{address}/mcp");
            })?;
        }
    }
    Ok(Exit::Found)
}

/// Serves the JSON API and the protocol for agents until a signal arrives.
///
/// # Errors
/// The index cannot be read or made, or the address cannot be served.
pub fn serve(arguments: &ServeArguments, global: &Global) -> Result<Exit> {
    let Opened { server, config, caller, index } = open(&arguments.server, true, arguments.allow_refresh, global)?;
    let options = http_options(arguments.http, &config, &caller, &index, arguments.server.log_queries)?;
    serve_on_http(server, HttpOptions { api: true, ..options }, |address| {
        // Programs wait for this line, unless they closed standard error.
        let _ = writeln!(
            std::io::stderr(),
            "tamis: serving http://{address}/ for people, /v1 for programs and /mcp for agents"
        );
    })?;
    Ok(Exit::Found)
}

/// A server over the index, and what its transport needs.
struct Opened {
    server: Server,
    config: McpConfig,
    caller: Caller,
    index: Arc<Index>,
}

/// Starts the log, opens the index, and keeps it fresh unless a flag or a setting says otherwise.
fn open(arguments: &ServerArguments, over_http: bool, may_refresh: bool, global: &Global) -> Result<Opened> {
    let level = arguments.log.unwrap_or(if over_http { LogLevel::Info } else { LogLevel::Warn });
    let format = match arguments.log_format {
        LogStyle::Text => LogFormat::Text,
        LogStyle::Json => LogFormat::Json,
    };
    start_log(level.as_str(), format, arguments.log_queries)?;
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    let (refresh, mcp) = (config.search.refresh && !arguments.no_refresh, config.mcp.clone());
    let index = Arc::new(session.open(config)?);
    let refresh = refresh && index.is_updated_by(&[])?;
    let caller = Caller {
        namespaces: None,
        may_remember: arguments.allow_remember,
        may_judge: arguments.allow_feedback,
        may_refresh,
    };
    let parallel_calls = std::thread::available_parallelism().map_or(2, usize::from);
    let options = ServerOptions { parallel_calls, caller: caller.clone(), output_schemas: arguments.output_schemas };
    let server = Server::new(index.clone(), options);
    if refresh {
        server.start_background();
    }
    Ok(Opened { server, config: mcp, caller, index })
}

fn http_options(
    address: SocketAddr,
    mcp: &McpConfig,
    anyone: &Caller,
    index: &Index,
    log_queries: bool,
) -> Result<HttpOptions> {
    let mut tokens = Vec::with_capacity(mcp.tokens.len() + 1);
    if let Some(token) = std::env::var_os(TOKEN_VARIABLE) {
        tokens.push(Token::plain(TOKEN_VARIABLE, &token.to_string_lossy(), anyone.clone())?);
    }
    let known = index.contents().namespaces()?;
    for McpToken { name, sha256, namespaces, remember, feedback, refresh: may_refresh } in &mcp.tokens {
        for namespace in namespaces.iter().flatten() {
            if !known.iter().any(|known| known.name == *namespace) && index.namespace() != namespace {
                tracing::warn!(token = name, namespace = ?namespace, "a token opens a namespace that does not exist");
            }
        }
        let caller = Caller {
            namespaces: namespaces.clone(),
            may_remember: *remember && anyone.may_remember,
            may_judge: *feedback && anyone.may_judge,
            may_refresh: *may_refresh && anyone.may_refresh,
        };
        tokens.push(Token::hashed(name, *sha256, caller));
    }
    Ok(HttpOptions {
        tokens,
        allowed_hosts: mcp.allowed_hosts.clone(),
        allowed_origins: mcp.allowed_origins.clone(),
        requests_per_minute: mcp.requests_per_minute,
        max_connections: mcp.max_connections,
        request_timeout: mcp.request_timeout,
        log_queries,
        ..HttpOptions::at(address)
    })
}

/// Prints a new token and the configuration that admits it.
fn print_token(arguments: &McpTokenArguments, output: &Output) -> Result<Exit> {
    let McpTokenArguments { name, namespace, remember, feedback, refresh } = arguments;
    if !is_token_name(name) {
        bail!("{name:?}: must be 1 to 64 letters, digits, - and _");
    }
    let (token, sha256) = fresh_token()?;
    let is_all = namespace.is_empty() || *namespace == ["all"];
    let namespaces = if is_all { "\"all\"".to_owned() } else { serde_json::to_string(namespace)? };
    let mut out = output.plain();
    writeln!(out, "{token}")?;
    writeln!(out)?;
    writeln!(out, "# This token is shown only once. These lines in your own configuration admit it:")?;
    writeln!(out, "[[mcp.token]]\nname = \"{name}\"\nsha256 = \"{sha256}\"\nnamespaces = {namespaces}")?;
    for (given, key) in [(remember, "remember"), (feedback, "feedback"), (refresh, "refresh")] {
        if *given {
            writeln!(out, "{key} = true")?;
        }
    }
    out.flush()?;
    Ok(Exit::Found)
}
