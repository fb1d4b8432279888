//! The usage log of an index, opened when first needed, and the identifiers of searches.

use crate::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tamis_store::{QueryQuality, RecordedSearch, Store, UsageLog};

/// The alphabet of identifiers: digits and lower-case letters that are not easily confused.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The length of an identifier in characters: 40 bits, which makes a collision unlikely even among ten thousand searches.
const IDENTIFIER: usize = 8;

/// The log of one index.
pub(crate) struct UsageLogFile {
    store: Arc<dyn Store>,
    problem: Mutex<Option<String>>,
}

impl UsageLogFile {
    pub fn new(store: Arc<dyn Store>) -> Self {
        UsageLogFile { store, problem: Mutex::default() }
    }

    /// Returns the log. If it cannot be opened, the next call tries again.
    pub fn log(&self) -> Result<&dyn UsageLog, Error> {
        Ok(self.store.usage()?)
    }

    /// Records a search with its quality figures, and returns its identifier. Recording never fails a search and hardly delays
    /// it: if the log cannot be written now, the search goes unrecorded and [`UsageLogFile::problem`] gives the reason.
    pub fn record(&self, mut search: RecordedSearch, mut quality: QueryQuality) -> Option<String> {
        search.id = identifier();
        search.at_ms = now_ms();
        quality.at_ms = search.at_ms;
        quality.search_id = Some(search.id.clone());
        let recorded = self.attempt(|| Ok(self.log()?.record_query(&search, Some(&quality))?));
        recorded.map(|()| search.id)
    }

    /// Runs what records something. Its failure fails nothing, and [`UsageLogFile::problem`] says why.
    pub fn attempt<T>(&self, record: impl FnOnce() -> Result<T, Error>) -> Option<T> {
        let (recorded, problem) = match record() {
            Ok(recorded) => (Some(recorded), None),
            Err(error) => (None, Some(error.to_string())),
        };
        *self.problem.lock().unwrap_or_else(PoisonError::into_inner) = problem;
        recorded
    }

    /// Returns the reason why the last search was not recorded.
    pub fn problem(&self) -> Option<String> {
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Returns the present time in milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    i64::try_from(since_epoch().as_millis()).unwrap_or(i64::MAX)
}

fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Returns an identifier that no other search has, in this process or another.
fn identifier() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let mut hasher = blake3::Hasher::new();
    hasher.update(&since_epoch().as_nanos().to_le_bytes());
    hasher.update(&std::process::id().to_le_bytes());
    hasher.update(&COUNTER.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    let bytes = hasher.finalize();
    bytes.as_bytes()[..IDENTIFIER].iter().map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn identifiers_are_short_and_differ() {
        let many: HashSet<String> = (0..2000).map(|_| identifier()).collect();
        assert_eq!(many.len(), 2000);
        assert!(many.iter().all(|id| id.len() == 8 && id.bytes().all(|byte| ALPHABET.contains(&byte))));
    }
}
