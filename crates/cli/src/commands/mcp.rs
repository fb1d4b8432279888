//! `tamis mcp` and `tamis serve`: serve the index to agents and other programs.

use crate::args::{
    Global, LogLevel, LogStyle, McpArguments, McpCommand, McpTokenArguments, ServeArguments, ServerArguments,
};
use crate::exit::Exit;
use crate::output::Output;
use crate::session::Session;
use anyhow::{Result, bail};
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use tamis::Index;
use tamis::config::{McpConfig, McpToken, is_token_name};
use tamis_server::{
    Caller, HttpOptions, LogFormat, Server, ServerOptions, Token, fresh_token, serve_on_http, serve_on_stdio, start_log,
};

/// Holds a token with all the rights of the server.
const TOKEN_VARIABLE: &str = "TAMIS_MCP_TOKEN";

/// Serves until the client leaves or a signal arrives.
///
/// # Errors
/// The index cannot be read or made, the client breaks the protocol, or the address cannot be served.
pub fn run(arguments: &McpArguments, global: &Global, output: &Output) -> Result<Exit> {
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
    let namespaces = if namespace.is_empty() { "\"all\"".to_owned() } else { serde_json::to_string(namespace)? };
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
