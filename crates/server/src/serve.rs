//! From a server to a process that serves: a runtime, signals, the index kept fresh meanwhile, and the end of all that.

use crate::error::ServeError;
use crate::http::{HttpOptions, serve_http};
use crate::service::Server;
use crate::signal::cancel_on_signals;
use crate::stdio::serve_stdio;
use std::net::SocketAddr;
use tokio_util::sync::CancellationToken;

/// Threads that move messages; calls have threads of their own.
const THREADS: usize = 2;

/// Serves one client on standard input and output until it closes standard input, or a signal comes. Blocks.
///
/// # Errors
/// The runtime cannot start, or the client breaks the protocol before a session begins.
pub fn serve_on_stdio(server: Server) -> Result<(), ServeError> {
    run(&server.clone(), |stop| serve_stdio(server, stop))
}

/// Serves over HTTP until a signal comes; `listening` is told the address. Blocks.
///
/// # Errors
/// The runtime cannot start, or nothing can be bound at the address, or it is open to others without a token.
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
    // Reading standard input blocks a thread that nobody can wake, and a call that outlived its time is not waited for.
    runtime.shutdown_background();
    served
}
