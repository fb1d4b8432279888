//! Connections: accepting and serving them, how many there may be, and which one is closed for another.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tamis::search::SearchCaller;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

/// A connection.
#[derive(Debug)]
pub(crate) struct Connection {
    pub peer: SocketAddr,
    pub local: SocketAddr,
    /// The client, where neither a session nor a token says who it is.
    pub client: SearchCaller,
    /// `None` while a call is in progress, or its answer has not been sent yet.
    idle_since: Mutex<Option<Instant>>,
    /// Cancelled to close the connection at once.
    pub closed: CancellationToken,
}

/// The request on a connection stays active until this is dropped.
#[derive(Debug)]
pub(crate) struct PendingAnswer(Arc<Connection>);

impl Connection {
    /// Marks an accepted request: from now on the connection is not closed for another.
    pub fn mark_active(&self) {
        *self.idle_since() = None;
    }

    pub fn pending_answer(self: &Arc<Self>) -> PendingAnswer {
        PendingAnswer(self.clone())
    }

    fn idle_since(&self) -> MutexGuard<'_, Option<Instant>> {
        self.idle_since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for PendingAnswer {
    fn drop(&mut self) {
        // HTTP/1 handles the requests of a connection one after another.
        *self.0.idle_since() = Some(Instant::now());
    }
}

/// All open connections.
pub(crate) struct Connections {
    max: usize,
    open: Mutex<Vec<Arc<Connection>>>,
}

impl Connections {
    pub fn new(max: usize) -> Arc<Connections> {
        Arc::new(Connections { max: max.max(1), open: Mutex::default() })
    }

    fn open(&self) -> MutexGuard<'_, Vec<Arc<Connection>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_empty(&self) -> bool {
        self.open().is_empty()
    }

    pub fn has_active(&self) -> bool {
        self.open().iter().any(|connection| connection.idle_since().is_none())
    }

    /// Adds a connection, closing the longest idle one where needed; `None` when all are active.
    pub fn add(&self, peer: SocketAddr, local: SocketAddr) -> Option<Arc<Connection>> {
        let mut open = self.open();
        while open.len() >= self.max {
            close_longest_idle(&mut open)?;
        }
        let connection = Arc::new(Connection {
            peer,
            local,
            client: SearchCaller::connection(),
            idle_since: Mutex::new(Some(Instant::now())),
            closed: CancellationToken::new(),
        });
        open.push(connection.clone());
        Some(connection)
    }

    /// Closes the longest idle connection, whose descriptor another one needs.
    pub fn make_room(&self) {
        close_longest_idle(&mut self.open());
    }

    /// Closes all connections.
    pub fn close_all(&self) {
        self.open().iter().for_each(|connection| connection.closed.cancel());
    }

    pub fn remove(&self, connection: &Arc<Connection>) {
        self.open().retain(|other| !Arc::ptr_eq(other, connection));
    }
}

/// Closes the longest idle connection; `None` when all are active.
fn close_longest_idle(open: &mut Vec<Arc<Connection>>) -> Option<()> {
    let idle = open.iter().enumerate().filter_map(|(position, one)| Some(((*one.idle_since())?, position)));
    let (_, position) = idle.min()?;
    open.swap_remove(position).closed.cancel();
    Some(())
}

/// Most bytes of a request's head.
const MAX_HEAD_BYTES: usize = 32 << 10;

/// Most header lines of a request.
const MAX_HEADERS: usize = 64;

/// Pause before the next attempt when the system has run out of file descriptors.
const RETRY_ACCEPT: Duration = Duration::from_millis(50);

/// Accepts connections and serves each in a task of its own.
#[derive(Clone)]
pub(crate) struct Acceptor {
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
