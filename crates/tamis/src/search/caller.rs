//! Who asks: somebody who searches and then opens results, with their rights.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tamis_store::CallerKey;

use crate::index_location::Bases;

/// Somebody who asks, with the rights and the origin that a request by itself cannot claim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asker {
    /// The namespaces that the caller may read; others are never touched. `None`: all.
    pub allowed_namespaces: Option<Vec<String>>,
    /// The entry point to record; `None`: `library`.
    pub entry_point: Option<String>,
    /// Who asks. What the same caller opens afterwards is credited to this search
    /// ([`Feedback::opened`](crate::feedback::Feedback::opened)). `None`: nothing is.
    pub caller: Option<SearchCaller>,
}

impl Asker {
    /// A caller who may read only these namespaces (`None`: all).
    pub fn with_rights(allowed_namespaces: Option<Vec<String>>) -> Self {
        Asker { allowed_namespaces, ..Asker::default() }
    }

    /// A caller who may read everything, by the entry point to record.
    pub fn at(entry_point: &str) -> Self {
        Asker { entry_point: Some(entry_point.to_owned()), ..Asker::default() }
    }

    /// Says who calls.
    #[must_use]
    pub fn called_by(mut self, caller: SearchCaller) -> Self {
        self.caller = Some(caller);
        self
    }
}

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
        SearchCaller { key: CallerKey::from_parts(parts), window: SESSION_WINDOW }
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
        let key = CallerKey::from_parts(["command line", &*home.to_string_lossy()]);
        SearchCaller { key, window: COMMAND_LINE_WINDOW }
    }
}
