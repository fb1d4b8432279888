//! Accepts connections, reads their requests within a time limit, and closes them in good order.

use super::connections::{Connection, Connections};
use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

/// Most bytes of a request's head.
const MAX_HEAD_BYTES: usize = 32 << 10;

/// Most header lines of a request.
const MAX_HEADERS: usize = 64;

/// Pause before the next attempt when the system has run out of file descriptors.
const RETRY_ACCEPT: Duration = Duration::from_millis(50);

/// Accepts connections and serves each in a task of its own.
#[derive(Clone)]
pub(super) struct Acceptor {
    /// Answers requests that carry their [`Connection`].
    pub router: Router,
    pub connections: Arc<Connections>,
    /// Longest time for a request's head, and for waiting on the next request.
    pub header_timeout: Duration,
    /// Cancelled to accept nothing more; open connections end after their current request.
    pub stop: CancellationToken,
}

impl Acceptor {
    /// Accepts connections until `stop` is cancelled.
    pub async fn run(&self, listener: TcpListener) {
        loop {
            let accepted = tokio::select! {
                () = self.stop.cancelled() => return,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, peer)) => {
                    let local = stream.local_addr().unwrap_or(peer);
                    match self.connections.add(peer, local) {
                        Some(connection) => drop(tokio::spawn(self.clone().serve(stream, connection))),
                        None => drop(tokio::spawn(turn_away(stream))),
                    }
                }
                Err(error) => {
                    tracing::warn!(target: "tamis::http", %error, "could not accept a connection");
                    self.connections.make_room();
                    tokio::time::sleep(RETRY_ACCEPT).await;
                }
            }
        }
    }

    async fn serve(self, stream: TcpStream, connection: Arc<Connection>) {
        // Small answers should not wait for an acknowledgement.
        let _ = stream.set_nodelay(true);
        let (router, answered) = (TowerToHyperService::new(self.router), connection.clone());
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(answered.clone());
            router.call(request)
        });
        let http = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.header_timeout)
            .max_buf_size(MAX_HEAD_BYTES)
            .max_headers(MAX_HEADERS)
            .serve_connection(TokioIo::new(stream), service);
        let mut http = pin!(http);
        let mut stopping = false;
        loop {
            tokio::select! {
                // An error on a connection is its client's; the connection is closed.
                _ = http.as_mut() => break,
                () = connection.closed.cancelled() => break,
                () = self.stop.cancelled(), if !stopping => {
                    stopping = true;
                    http.as_mut().graceful_shutdown();
                }
            }
        }
        self.connections.remove(&connection);
    }
}

async fn turn_away(mut stream: TcpStream) {
    const FULL: &[u8] =
        b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    // The client may be gone already.
    let _ = tokio::time::timeout(Duration::from_secs(1), stream.write_all(FULL)).await;
}
