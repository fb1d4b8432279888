//! Sessions of the older protocol versions: each belongs to the token that opened it.

use super::rate::Asker;
use rmcp::transport::streamable_http_server::session::SessionId;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Sessions that one may have; the oldest ends when there is one more.
const SESSIONS_OF_ONE: usize = 64;

/// Sessions that all may have.
const SESSIONS: usize = 1024;

/// Which session belongs to whom.
pub(super) struct Sessions {
    pub manager: Arc<LocalSessionManager>,
    /// Oldest first.
    owned: Mutex<VecDeque<(SessionId, Asker)>>,
}

impl Sessions {
    pub fn new() -> Sessions {
        Sessions { manager: Arc::new(LocalSessionManager::default()), owned: Mutex::default() }
    }

    /// Whether a session is there and belongs to the one that asks.
    pub fn belongs(&self, session: &str, asker: Asker) -> bool {
        let owned = self.owned.lock().unwrap_or_else(PoisonError::into_inner);
        owned.iter().any(|(id, owner)| **id == *session && *owner == asker)
    }

    /// Takes down whose a new session is, and ends the oldest where there are too many.
    pub async fn add(&self, session: SessionId, asker: Asker) {
        let open: Vec<SessionId> = self.manager.sessions.read().await.keys().cloned().collect();
        for id in self.over(session, asker, &open) {
            // It may have ended by itself.
            let _ = self.manager.close_session(&id).await;
        }
    }

    fn over(&self, session: SessionId, asker: Asker, open: &[SessionId]) -> Vec<SessionId> {
        let mut owned = self.owned.lock().unwrap_or_else(PoisonError::into_inner);
        if owned.len() >= SESSIONS_OF_ONE {
            owned.retain(|(id, _)| open.contains(id));
        }
        owned.push_back((session, asker));
        let mut over = Vec::new();
        while owned.iter().filter(|(_, owner)| *owner == asker).count() > SESSIONS_OF_ONE {
            let oldest = owned.iter().position(|(_, owner)| *owner == asker);
            over.extend(oldest.and_then(|oldest| owned.remove(oldest)));
        }
        while owned.len() > SESSIONS {
            over.extend(owned.pop_front());
        }
        over.into_iter().map(|(id, _)| id).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_belongs_to_one_and_the_oldest_of_too_many_ends() {
        let sessions = Sessions::new();
        let all: Vec<SessionId> = (0..=SESSIONS_OF_ONE).map(|number| number.to_string().into()).collect();
        assert!(sessions.over("other".into(), Asker::Token(1), &[]).is_empty());
        for id in &all[..SESSIONS_OF_ONE] {
            let open: Vec<SessionId> = all.iter().cloned().chain(["other".into()]).collect();
            assert!(sessions.over(id.clone(), Asker::Token(0), &open).is_empty());
        }
        assert!(sessions.belongs("0", Asker::Token(0)) && !sessions.belongs("0", Asker::Token(1)));
        assert!(!sessions.belongs("none", Asker::Token(0)));
        let open: Vec<SessionId> = all.iter().cloned().chain(["other".into()]).collect();
        assert_eq!(sessions.over(all[SESSIONS_OF_ONE].clone(), Asker::Token(0), &open), ["0".into()]);
        assert!(sessions.belongs("other", Asker::Token(1)) && !sessions.belongs("0", Asker::Token(0)));
    }
}
