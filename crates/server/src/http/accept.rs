//! Connections: accepted up to a number, read within a time, and closed in good order.
//!
//! Where all places are taken, the connection that has waited longest for a request gives way. So whoever only opens
//! connections, or sends slowly, takes no place from those who ask: a request that was read whole and passed the gate is
//! never cut off for another.

use super::gate::Gate;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

/// Longest head of a request.
const HEAD_BYTES: usize = 32 << 10;

/// Most lines of a head.
const HEAD_LINES: usize = 64;

/// How long nothing is accepted where the system has no more files to open.
const EXHAUSTED: Duration = Duration::from_millis(50);

/// A connection.
#[derive(Debug)]
pub(super) struct Link {
    pub peer: SocketAddr,
    pub local: SocketAddr,
    /// Calls that are worked on, or whose answer is not sent yet.
    working: AtomicUsize,
    waiting_since: Mutex<Instant>,
    /// Cancelled when the connection has to give way.
    gives_way: CancellationToken,
}

/// Until this is dropped, the answer of a request is not sent.
#[derive(Debug)]
pub(super) struct Unanswered(Arc<Link>);

impl Link {
    /// A request was read and passed: from now on the connection keeps its place.
    pub fn work(&self) {
        self.working.fetch_add(1, SeqCst);
    }

    pub fn until_answered(self: &Arc<Self>) -> Unanswered {
        Unanswered(self.clone())
    }

    fn waiting_since(&self) -> MutexGuard<'_, Instant> {
        self.waiting_since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        *self.0.waiting_since() = Instant::now();
        // One request of a connection is worked on at a time.
        self.0.working.store(0, SeqCst);
    }
}

/// All connections.
pub(super) struct Links {
    most: usize,
    header_timeout: Duration,
    open: Mutex<Vec<Arc<Link>>>,
}

impl Links {
    pub fn new(most: usize, header_timeout: Duration) -> Arc<Links> {
        Arc::new(Links { most: most.max(1), header_timeout, open: Mutex::default() })
    }

    fn open(&self) -> MutexGuard<'_, Vec<Arc<Link>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many there are, and how many of them are worked on.
    pub fn count(&self) -> (usize, usize) {
        let open = self.open();
        (open.len(), open.iter().filter(|link| link.working.load(SeqCst) > 0).count())
    }

    /// A place for a connection; `None` where all are taken by connections that are worked on.
    fn take(&self, peer: SocketAddr, local: SocketAddr) -> Option<Arc<Link>> {
        let mut open = self.open();
        while open.len() >= self.most {
            let longest = open
                .iter()
                .enumerate()
                .filter(|(_, link)| link.working.load(SeqCst) == 0)
                .min_by_key(|(_, link)| *link.waiting_since())
                .map(|(position, _)| position)?;
            open.swap_remove(longest).gives_way.cancel();
        }
        let link = Arc::new(Link {
            peer,
            local,
            working: AtomicUsize::new(0),
            waiting_since: Mutex::new(Instant::now()),
            gives_way: CancellationToken::new(),
        });
        open.push(link.clone());
        Some(link)
    }

    fn give_back(&self, link: &Arc<Link>) {
        self.open().retain(|other| !Arc::ptr_eq(other, link));
    }
}

/// Accepts until `stop`; from then on connections end after the request that they are at, and at `end` at once.
pub(super) async fn accept(
    listener: TcpListener,
    gate: Arc<Gate>,
    links: Arc<Links>,
    stop: CancellationToken,
    end: CancellationToken,
) {
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                let local = stream.local_addr().unwrap_or(peer);
                match links.take(peer, local) {
                    Some(link) => {
                        let work = serve(stream, gate.clone(), links.clone(), link, stop.clone(), end.clone());
                        tokio::spawn(work);
                    }
                    None => drop(tokio::spawn(turn_away(stream))),
                }
            }
            Err(error) => {
                tracing::warn!(target: "tamis::http", %error, "no connection could be accepted");
                tokio::time::sleep(EXHAUSTED).await;
            }
        }
    }
}

async fn turn_away(mut stream: TcpStream) {
    const FULL: &[u8] =
        b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    // Whoever has gone already is not told.
    let _ = tokio::time::timeout(Duration::from_secs(1), stream.write_all(FULL)).await;
}

async fn serve(
    stream: TcpStream,
    gate: Arc<Gate>,
    links: Arc<Links>,
    link: Arc<Link>,
    stop: CancellationToken,
    end: CancellationToken,
) {
    // Small answers are not to wait for an acknowledgement.
    let _ = stream.set_nodelay(true);
    let answers = link.clone();
    let service = service_fn(move |request| {
        let (gate, link) = (gate.clone(), answers.clone());
        async move { Ok::<_, Infallible>(gate.answer(request, link).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(links.header_timeout)
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEAD_LINES)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let mut stopping = false;
    loop {
        tokio::select! {
            // What goes wrong in a connection is its client's: it is closed.
            _ = connection.as_mut() => break,
            () = link.gives_way.cancelled() => break,
            () = end.cancelled() => break,
            () = stop.cancelled(), if !stopping => {
                stopping = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
    links.give_back(&link);
}
