//! One client on standard input and output.

use crate::error::ServeError;
use crate::service::Server;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncWrite, Stdout, stdin, stdout};
use tokio_util::sync::CancellationToken;

/// Serves the client on standard input and output until it closes one of them, or until `stop`.
///
/// # Errors
/// The client breaks the protocol before a session begins.
pub(crate) async fn serve_stdio(server: Server, stop: CancellationToken) -> Result<(), ServeError> {
    let failed = |error: String| ServeError::Handshake(error);
    let running = tokio::select! {
        () = stop.cancelled() => return Ok(()),
        running = server.serve((stdin(), Output { stdout: stdout(), broken: stop.clone() })) => running,
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

/// Standard output. Whoever reads it no more is gone, even with standard input open.
struct Output {
    stdout: Stdout,
    broken: CancellationToken,
}

impl Output {
    fn seen<T>(&self, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if matches!(polled, Poll::Ready(Err(_))) {
            self.broken.cancel();
        }
        polled
    }
}

impl AsyncWrite for Output {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stdout).poll_write(context, bytes);
        self.seen(polled)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stdout).poll_flush(context);
        self.seen(polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stdout).poll_shutdown(context);
        self.seen(polled)
    }
}
