//! Open connections: how many there may be, and which one is closed for another.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tamis::search::SearchCaller;
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
