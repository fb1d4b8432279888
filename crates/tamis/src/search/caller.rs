//! The caller of a search, so that what it opens afterwards is credited to its own searches and to no other's.

use crate::user_directories::Bases;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tamis_store::CallerKey;

/// How long after a search on the command line an opened result is taken to follow it.
const COMMAND_LINE_WINDOW: Duration = Duration::from_secs(30 * 60);

/// The same for a session, which says by itself who is meant: an agent may come back to a result after hours.
const SESSION_WINDOW: Duration = Duration::from_secs(24 * 3600);

/// Somebody who searches and then opens results.
///
/// The usage log keeps a hash of it, never its name.
///
/// ```
/// use tamis::search::SearchCaller;
///
/// let one = SearchCaller::session(&["mcp", "5f1c"]);
/// assert_eq!(one, SearchCaller::session(&["mcp", "5f1c"]));
/// assert_ne!(one, SearchCaller::session(&["mcp", "77aa"]));
/// assert_ne!(SearchCaller::connection(), SearchCaller::connection());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SearchCaller {
    pub(crate) key: CallerKey,
    pub(crate) window: Duration,
}

impl SearchCaller {
    /// The holder of a session or token, by parts that identify it.
    pub fn session(parts: &[&str]) -> Self {
        let parts = ["session"].into_iter().chain(parts.iter().copied());
        SearchCaller { key: CallerKey::of(parts), window: SESSION_WINDOW }
    }

    /// The other end of a new connection, which is nobody else.
    pub fn connection() -> Self {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let parts = [started.to_string(), std::process::id().to_string(), number.to_string()];
        let parts: Vec<&str> = ["connection"].into_iter().chain(parts.iter().map(String::as_str)).collect();
        SearchCaller::session(&parts)
    }

    /// The user who runs this command. Another process of the same user counts as the same caller for half an hour.
    pub fn command_line() -> Self {
        let home = Bases::here().home.unwrap_or_default();
        let key = CallerKey::of(["command line", &*home.to_string_lossy()]);
        SearchCaller { key, window: COMMAND_LINE_WINDOW }
    }
}
