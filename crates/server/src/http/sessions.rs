//! Sessions of the older protocol versions. Each belongs to the token that opened it.
//!
//! Where an index has several servers, the index keeps the sessions: it decides which exist, and a server that meets one for the first
//! time repeats its opening message to itself.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::InitializeRequestParams;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{
    SessionId, SessionManager, SessionState, SessionStore, SessionStoreError,
};
use tamis_store::{SharedSession, SharedSessions, StoreError};

use crate::server::Server;

/// Most sessions of one client; one more ends the oldest.
const MAX_PER_CLIENT: usize = 64;

/// Most sessions of all clients.
const MAX_SESSIONS: usize = 1024;

/// A session and its owner.
struct OwnedSession {
    id: SessionId,
    /// The name of its client, the same at every server.
    owner: String,
}

/// Open sessions and their owners.
#[derive(Default)]
pub(crate) struct Sessions {
    pub manager: Arc<LocalSessionManager>,
    /// Oldest first.
    owned: Mutex<VecDeque<OwnedSession>>,
    /// The sessions of all servers, if the index keeps them.
    shared: Option<Arc<Shared>>,
}

impl Sessions {
    pub fn new(server: &Server) -> Sessions {
        let shared = server.shares_sessions().then(|| Arc::new(Shared { server: server.clone() }));
        Sessions { shared, ..Sessions::default() }
    }

    /// The sessions of all servers, for the protocol's library; `None` if there are none.
    pub fn shared(&self) -> Option<Arc<dyn SessionStore>> {
        self.shared.clone().map(|shared| shared as Arc<dyn SessionStore>)
    }

    /// True if a session exists and belongs to the client of this name.
    ///
    /// # Errors
    /// The sessions of all servers cannot be read, for this reason.
    pub async fn belongs(&self, session: &str, owner: &str) -> Result<bool, String> {
        let Some(shared) = &self.shared else { return Ok(self.is_ours(session, owner)) };
        let id = session.to_owned();
        let Some(found) = shared.ask(move |sessions| sessions.session(&id)).await? else {
            // It may have ended at another server.
            self.remove(session);
            let _ = self.manager.close_session(&session.into()).await;
            return Ok(false);
        };
        if found.owner != owner {
            return Ok(false);
        }
        if !self.is_ours(session, owner) {
            self.keep(session.into(), owner).await;
        }
        Ok(true)
    }

    /// True if this server knows that a session belongs to the client.
    fn is_ours(&self, session: &str, owner: &str) -> bool {
        self.owned().iter().any(|owned| *owned.id == *session && owned.owner == owner)
    }

    /// Forgets a session that has ended.
    pub fn remove(&self, session: &str) {
        self.owned().retain(|owned| *owned.id != *session);
    }

    fn owned(&self) -> MutexGuard<'_, VecDeque<OwnedSession>> {
        self.owned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a session that `opened` has opened, and ends the oldest ones when there are too many.
    ///
    /// # Errors
    /// The sessions of all servers cannot be written, for this reason.
    pub async fn add(
        &self,
        session: SessionId,
        owner: &str,
        opened: Option<Box<InitializeRequestParams>>,
    ) -> Result<(), String> {
        if let (Some(shared), Some(opened)) = (&self.shared, &opened) {
            let opened = serde_json::to_string(opened).map_err(|error| error.to_string())?;
            let opened = SharedSession { id: session.to_string(), owner: owner.to_owned(), opened };
            shared.ask(move |sessions| sessions.open_session(&opened, MAX_PER_CLIENT)).await?;
        }
        self.keep(session, owner).await;
        Ok(())
    }

    /// Keeps a session, and ends the oldest ones when there are too many. Where the index keeps them too, they go on when they are used
    /// again.
    async fn keep(&self, session: SessionId, owner: &str) {
        let open: Vec<SessionId> = self.manager.sessions.read().await.keys().cloned().collect();
        for id in self.insert(OwnedSession { id: session, owner: owner.to_owned() }, &open) {
            // The session may have ended by itself.
            let _ = self.manager.close_session(&id).await;
        }
    }

    /// Inserts a session and returns those that have to end. `open` lists the sessions that are still open.
    fn insert(&self, session: OwnedSession, open: &[SessionId]) -> Vec<SessionId> {
        let client = session.owner.clone();
        let mut owned = self.owned();
        if owned.len() >= MAX_PER_CLIENT {
            owned.retain(|one| open.contains(&one.id));
        }
        owned.push_back(session);
        let mut evicted = Vec::new();
        while owned.iter().filter(|one| one.owner == client).count() > MAX_PER_CLIENT {
            let oldest = owned.iter().position(|one| one.owner == client);
            evicted.extend(oldest.and_then(|oldest| owned.remove(oldest)));
        }
        while owned.len() > MAX_SESSIONS {
            evicted.extend(owned.pop_front());
        }
        evicted.into_iter().map(|one| one.id).collect()
    }
}

/// The sessions that the index keeps for all servers. The handler has checked whose they are.
struct Shared {
    server: Server,
}

impl Shared {
    /// Asks the index, on a thread that may block.
    async fn ask<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&dyn SharedSessions) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, String> {
        let server = self.server.clone();
        let asked = tokio::task::spawn_blocking(move || {
            let index = server.index();
            let sessions = index.shared_sessions().ok_or("the index keeps no sessions any more; open a new one")?;
            ask(sessions).map_err(|error| error.to_string())
        });
        asked.await.map_err(|error| error.to_string())?
    }
}

/// A call of the protocol's library.
type Asked<'a, T> = Pin<Box<dyn Future<Output = Result<T, SessionStoreError>> + Send + 'a>>;

impl SessionStore for Shared {
    fn load<'a: 'b, 'i: 'b, 'b>(&'a self, session: &'i str) -> Asked<'b, Option<SessionState>>
    where
        Self: 'b,
    {
        let id = session.to_owned();
        Box::pin(async move {
            let found = self.ask(move |sessions| sessions.session(&id)).await?;
            Ok(found.map(|found| serde_json::from_str(&found.opened)).transpose()?.map(SessionState::new))
        })
    }

    /// [`Sessions::add`] has what belongs to it and writes it, before the client knows the session.
    fn store<'a: 'b, 'i: 'b, 's: 'b, 'b>(&'a self, _: &'i str, _: &'s SessionState) -> Asked<'b, ()>
    where
        Self: 'b,
    {
        Box::pin(async { Ok(()) })
    }

    fn delete<'a: 'b, 'i: 'b, 'b>(&'a self, session: &'i str) -> Asked<'b, ()>
    where
        Self: 'b,
    {
        let id = session.to_owned();
        Box::pin(async move { Ok(self.ask(move |sessions| sessions.end_session(&id)).await?) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_belongs_to_one_client_and_the_oldest_of_too_many_ends() {
        let sessions = Sessions::default();
        let all: Vec<SessionId> = (0..=MAX_PER_CLIENT).map(|number| number.to_string().into()).collect();
        let of = |id: SessionId, owner: &str| OwnedSession { id, owner: owner.to_owned() };
        assert!(sessions.insert(of("other".into(), "b"), &[]).is_empty());
        for id in &all[..MAX_PER_CLIENT] {
            let open: Vec<SessionId> = all.iter().cloned().chain(["other".into()]).collect();
            assert!(sessions.insert(of(id.clone(), "a"), &open).is_empty());
        }
        assert!(sessions.is_ours("0", "a") && !sessions.is_ours("0", "b") && !sessions.is_ours("none", "a"));
        let open: Vec<SessionId> = all.iter().cloned().chain(["other".into()]).collect();
        assert_eq!(sessions.insert(of(all[MAX_PER_CLIENT].clone(), "a"), &open), ["0".into()]);
        assert!(sessions.is_ours("other", "b") && !sessions.is_ours("0", "a"));
        sessions.remove("other");
        assert!(!sessions.is_ours("other", "b"));
    }
}
