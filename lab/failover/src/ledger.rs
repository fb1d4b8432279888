//! What the program acknowledged to its callers, what it refused, and when it served again after a kill.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A kind of call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Call {
    /// A search on the server.
    Search,
    /// A judgement on the server.
    Judgement,
    /// A note by the command.
    Note,
    /// A run of the indexer.
    Index,
}

/// The ledger. All clients write to it.
#[derive(Debug, Default)]
pub struct Ledger(Mutex<Entries>);

/// The entries of a ledger.
#[derive(Debug, Default)]
pub struct Entries {
    /// The namespaces of acknowledged notes.
    pub notes: Vec<String>,
    /// The searches whose judgement was acknowledged.
    pub judged: Vec<String>,
    /// The last acknowledged round of the indexer.
    pub round: u64,
    /// Number of calls of each kind that were acknowledged.
    pub acknowledged: BTreeMap<Call, u64>,
    /// Messages of failures, with digits replaced, and how often they came.
    pub failures: BTreeMap<(Call, String), u64>,
    since: Option<Instant>,
    served: Served,
}

/// The times from a disturbance to the end of the first calls that began after it and were served.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Served {
    /// The first search.
    pub search: Option<Duration>,
    /// The first change.
    pub change: Option<Duration>,
}

impl Ledger {
    /// Locks the entries.
    pub fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes an acknowledged call that began at this moment.
    pub fn acknowledge(&self, call: Call, began: Instant, note: impl FnOnce(&mut Entries)) {
        let mut entries = self.entries();
        note(&mut entries);
        *entries.acknowledged.entry(call).or_default() += 1;
        let Some(since) = entries.since.filter(|since| began >= *since) else { return };
        let first = match call {
            Call::Search => &mut entries.served.search,
            Call::Judgement | Call::Note | Call::Index => &mut entries.served.change,
        };
        first.get_or_insert(since.elapsed());
    }

    /// Notes a failed call.
    pub fn fail(&self, call: Call, message: &str) {
        let message = general(message);
        *self.entries().failures.entry((call, message)).or_default() += 1;
    }

    /// Begins to measure after a disturbance.
    pub fn disturbed(&self) {
        let mut entries = self.entries();
        entries.since = Some(Instant::now());
        entries.served = Served::default();
    }

    /// Returns the times since the disturbance.
    pub fn served(&self) -> Served {
        self.entries().served
    }
}

/// A message without its numbers and names of one call, so that like messages are counted together.
fn general(message: &str) -> String {
    let mut text = String::new();
    for character in message.trim().chars().take(500) {
        match character {
            digit if digit.is_ascii_digit() => {
                if !text.ends_with('#') {
                    text.push('#');
                }
            }
            '\n' => text.push_str(" | "),
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_calls_that_began_after_a_disturbance_end_it() {
        let (ledger, before) = (Ledger::default(), Instant::now());
        ledger.acknowledge(Call::Search, before, |_| {});
        assert_eq!(ledger.served(), Served::default());
        std::thread::sleep(Duration::from_millis(2));
        ledger.disturbed();
        ledger.acknowledge(Call::Search, before, |_| {});
        assert_eq!(ledger.served(), Served::default());
        ledger.acknowledge(Call::Note, Instant::now(), |entries| entries.notes.push("a".into()));
        let served = ledger.served();
        assert!(served.search.is_none() && served.change.is_some());
        ledger.acknowledge(Call::Index, Instant::now(), |_| {});
        assert_eq!(ledger.served(), served, "the first one counts");
        assert_eq!(ledger.entries().acknowledged[&Call::Search], 2);
    }

    #[test]
    fn like_messages_are_counted_together() {
        let ledger = Ledger::default();
        for port in [4711, 99] {
            ledger.fail(Call::Note, &format!("127.0.0.1:{port}: gone\nagain\n"));
        }
        let entries = ledger.entries();
        let all: Vec<_> = entries.failures.iter().collect();
        assert_eq!(all, [(&(Call::Note, "#.#.#.#:#: gone | again".to_owned()), &2)]);
    }
}
