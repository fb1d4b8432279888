//! One client on standard input and output.

use crate::error::ServeError;
use crate::service::Server;
use rmcp::ServiceExt;
use rmcp::transport::stdio;

/// Serves the client on standard input and output until it closes standard input. Blocks.
///
/// # Errors
/// The runtime cannot start, or the client breaks the protocol before a session begins.
pub fn serve_stdio(server: Server) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| ServeError::io("the runtime", error))?;
    let served = runtime.block_on(async {
        let running = server.serve(stdio()).await.map_err(|error| ServeError::Handshake(error.to_string()))?;
        running.waiting().await.map_err(|error| ServeError::Handshake(error.to_string()))?;
        Ok(())
    });
    // Reading standard input blocks a thread that nobody can wake.
    runtime.shutdown_background();
    served
}
