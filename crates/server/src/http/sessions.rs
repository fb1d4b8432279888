//! Sessions of the older protocol versions. Each belongs to the token that opened it.

use super::rate_limit::ClientKey;
use rmcp::transport::streamable_http_server::session::SessionId;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most sessions of one client; one more ends the oldest.
const MAX_PER_CLIENT: usize = 64;

/// Most sessions of all clients.
const MAX_SESSIONS: usize = 1024;

/// A session and its owner.
struct OwnedSession {
    id: SessionId,
    owner: ClientKey,
    /// True if its version of the protocol supports batches.
    supports_batches: bool,
}

/// Open sessions and their owners.
pub(super) struct Sessions {
    pub manager: Arc<LocalSessionManager>,
    /// Oldest first.
    owned: Mutex<VecDeque<OwnedSession>>,
}

impl Sessions {
    pub fn new() -> Sessions {
        Sessions { manager: Arc::new(LocalSessionManager::default()), owned: Mutex::default() }
    }

    /// True if a session exists and belongs to the client.
    pub fn belongs(&self, session: &str, client: ClientKey) -> bool {
        self.owned().iter().any(|owned| *owned.id == *session && owned.owner == client)
    }

    /// True if a session may send batches.
    pub fn supports_batches(&self, session: &str) -> bool {
        self.owned().iter().any(|owned| *owned.id == *session && owned.supports_batches)
    }

    /// Forgets a session that has ended.
    pub fn remove(&self, session: &str) {
        self.owned().retain(|owned| *owned.id != *session);
    }

    fn owned(&self) -> MutexGuard<'_, VecDeque<OwnedSession>> {
        self.owned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a session, and ends the oldest ones when there are too many.
    pub async fn add(&self, session: SessionId, client: ClientKey, supports_batches: bool) {
        let open: Vec<SessionId> = self.manager.sessions.read().await.keys().cloned().collect();
        for id in self.insert(OwnedSession { id: session, owner: client, supports_batches }, &open) {
            // The session may have ended by itself.
            let _ = self.manager.close_session(&id).await;
        }
    }

    /// Inserts a session and returns those that have to end. `open` lists the sessions that are still open.
    fn insert(&self, session: OwnedSession, open: &[SessionId]) -> Vec<SessionId> {
        let client = session.owner;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_belongs_to_one_client_and_the_oldest_of_too_many_ends() {
        let sessions = Sessions::new();
        let all: Vec<SessionId> = (0..=MAX_PER_CLIENT).map(|number| number.to_string().into()).collect();
        let of =
            |id: SessionId, token| OwnedSession { id, owner: ClientKey::Token(token), supports_batches: token == 1 };
        assert!(sessions.insert(of("other".into(), 1), &[]).is_empty());
        for id in &all[..MAX_PER_CLIENT] {
            let open: Vec<SessionId> = all.iter().cloned().chain(["other".into()]).collect();
            assert!(sessions.insert(of(id.clone(), 0), &open).is_empty());
        }
        assert!(sessions.belongs("0", ClientKey::Token(0)) && !sessions.belongs("0", ClientKey::Token(1)));
        assert!(!sessions.belongs("none", ClientKey::Token(0)));
        let open: Vec<SessionId> = all.iter().cloned().chain(["other".into()]).collect();
        assert_eq!(sessions.insert(of(all[MAX_PER_CLIENT].clone(), 0), &open), ["0".into()]);
        assert!(sessions.belongs("other", ClientKey::Token(1)) && !sessions.belongs("0", ClientKey::Token(0)));
        assert!(sessions.supports_batches("other") && !sessions.supports_batches("1"));
        sessions.remove("other");
        assert!(!sessions.belongs("other", ClientKey::Token(1)));
    }
}
