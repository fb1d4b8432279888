//! Runs a server as a process: its runtime, its signals, and its end.

use crate::error::ServeError;
use crate::http::{HttpOptions, serve_http};
use crate::server::Server;
use crate::signal::cancel_on_signals;
use crate::stdio::serve_stdio;
use std::net::SocketAddr;
use tokio_util::sync::CancellationToken;

/// Threads that move messages; calls have threads of their own.
const THREADS: usize = 2;

/// Serves one client on standard input and output until it closes standard input, or until a signal. Blocks.
///
/// # Errors
/// The runtime cannot start, or the client breaks the protocol before a session begins.
pub fn serve_on_stdio(server: Server) -> Result<(), ServeError> {
    run(&server.clone(), |stop| serve_stdio(server, stop))
}

/// Serves over HTTP until a signal. Calls `listening` with the address in use. Blocks.
///
/// # Errors
/// The runtime cannot start, the address cannot be bound, or others can reach it and there is no token.
pub fn serve_on_http(
    server: Server,
    options: HttpOptions,
    listening: impl FnOnce(SocketAddr) + Send,
) -> Result<(), ServeError> {
    run(&server.clone(), |stop| serve_http(server, options, stop, listening))
}

fn run<F: Future<Output = Result<(), ServeError>>>(
    server: &Server,
    serve: impl FnOnce(CancellationToken) -> F,
) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .enable_all()
        .build()
        .map_err(|error| ServeError::io("the runtime", error))?;
    let served = runtime.block_on(async {
        let stop = CancellationToken::new();
        cancel_on_signals(stop.clone());
        serve(stop).await
    });
    server.stop_background();
    // A read of standard input cannot be interrupted, and a call past its time limit should not delay the end.
    runtime.shutdown_background();
    served
}
