//! One client on standard input and output.

use crate::error::ServeError;
use crate::service::Server;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio;
use tokio_util::sync::CancellationToken;

/// Serves the client on standard input and output until it closes standard input, or until `stop`.
///
/// # Errors
/// The client breaks the protocol before a session begins.
pub(crate) async fn serve_stdio(server: Server, stop: CancellationToken) -> Result<(), ServeError> {
    let failed = |error: String| ServeError::Handshake(error);
    let running = tokio::select! {
        () = stop.cancelled() => return Ok(()),
        running = server.serve(stdio()) => running,
    };
    let running = match running {
        Ok(running) => running,
        // A client that goes without a word broke nothing.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(failed(error.to_string())),
    };
    tokio::select! {
        () = stop.cancelled() => Ok(()),
        ended = running.waiting() => ended.map(drop).map_err(|error| failed(error.to_string())),
    }
}
