//! `tamis mcp`: what is indexed, for agents.

use crate::args::{Global, McpArguments};
use crate::exit::Exit;
use crate::session::Session;
use anyhow::Result;
use std::sync::Arc;
use tamis_server::{Caller, Server, ServerOptions, serve_stdio};

/// Serves until the client is gone.
///
/// # Errors
/// The index cannot be read or made, or the client breaks the protocol.
pub fn run(arguments: &McpArguments, global: &Global) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    let index = Arc::new(session.open(config)?);
    let caller =
        Caller { namespaces: None, may_remember: arguments.allow_remember, may_judge: arguments.allow_feedback };
    let parallel_calls = std::thread::available_parallelism().map_or(2, usize::from);
    serve_stdio(Server::new(index, ServerOptions { parallel_calls, caller }))?;
    Ok(Exit::Found)
}
