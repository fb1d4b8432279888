//! Sessions of the older protocol versions: each belongs to the token that opened it.

use super::rate::Asker;
use rmcp::transport::streamable_http_server::session::SessionId;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Sessions that one may have; the oldest ends when there is one more.
const SESSIONS_OF_ONE: usize = 64;

/// Sessions that all may have.
const SESSIONS: usize = 1024;

/// A session and whose it is.
struct Owned {
    id: SessionId,
    owner: Asker,
    /// Whether its version of the protocol has batches.
    has_batches: bool,
}

/// Which session belongs to whom.
pub(super) struct Sessions {
    pub manager: Arc<LocalSessionManager>,
    /// Oldest first.
    owned: Mutex<VecDeque<Owned>>,
}

impl Sessions {
    pub fn new() -> Sessions {
        Sessions { manager: Arc::new(LocalSessionManager::default()), owned: Mutex::default() }
    }

    /// Whether a session is there and belongs to the one that asks.
    pub fn belongs(&self, session: &str, asker: Asker) -> bool {
        self.owned().iter().any(|owned| *owned.id == *session && owned.owner == asker)
    }

    /// Whether a session may send batches.
    pub fn has_batches(&self, session: &str) -> bool {
        self.owned().iter().any(|owned| *owned.id == *session && owned.has_batches)
    }

    /// A session has ended.
    pub fn remove(&self, session: &str) {
        self.owned().retain(|owned| *owned.id != *session);
    }

    fn owned(&self) -> MutexGuard<'_, VecDeque<Owned>> {
        self.owned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes down whose a new session is, and ends the oldest where there are too many.
    pub async fn add(&self, session: SessionId, asker: Asker, has_batches: bool) {
        let open: Vec<SessionId> = self.manager.sessions.read().await.keys().cloned().collect();
        for id in self.over(Owned { id: session, owner: asker, has_batches }, &open) {
            // It may have ended by itself.
            let _ = self.manager.close_session(&id).await;
        }
    }

    fn over(&self, session: Owned, open: &[SessionId]) -> Vec<SessionId> {
        let asker = session.owner;
        let mut owned = self.owned();
        if owned.len() >= SESSIONS_OF_ONE {
            owned.retain(|one| open.contains(&one.id));
        }
        owned.push_back(session);
        let mut over = Vec::new();
        while owned.iter().filter(|one| one.owner == asker).count() > SESSIONS_OF_ONE {
            let oldest = owned.iter().position(|one| one.owner == asker);
            over.extend(oldest.and_then(|oldest| owned.remove(oldest)));
        }
        while owned.len() > SESSIONS {
            over.extend(owned.pop_front());
        }
        over.into_iter().map(|one| one.id).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_belongs_to_one_and_the_oldest_of_too_many_ends() {
        let sessions = Sessions::new();
        let all: Vec<SessionId> = (0..=SESSIONS_OF_ONE).map(|number| number.to_string().into()).collect();
        let of = |id: SessionId, token| Owned { id, owner: Asker::Token(token), has_batches: token == 1 };
        assert!(sessions.over(of("other".into(), 1), &[]).is_empty());
        for id in &all[..SESSIONS_OF_ONE] {
            let open: Vec<SessionId> = all.iter().cloned().chain(["other".into()]).collect();
            assert!(sessions.over(of(id.clone(), 0), &open).is_empty());
        }
        assert!(sessions.belongs("0", Asker::Token(0)) && !sessions.belongs("0", Asker::Token(1)));
        assert!(!sessions.belongs("none", Asker::Token(0)));
        let open: Vec<SessionId> = all.iter().cloned().chain(["other".into()]).collect();
        assert_eq!(sessions.over(of(all[SESSIONS_OF_ONE].clone(), 0), &open), ["0".into()]);
        assert!(sessions.belongs("other", Asker::Token(1)) && !sessions.belongs("0", Asker::Token(0)));
        assert!(sessions.has_batches("other") && !sessions.has_batches("1"));
        sessions.remove("other");
        assert!(!sessions.belongs("other", Asker::Token(1)));
    }
}
