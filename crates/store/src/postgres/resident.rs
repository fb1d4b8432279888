//! What is kept in memory of recently searched namespaces, as they were at a change number, and brought up to later ones.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use deadpool_postgres::Transaction;
use tokio::sync::{OwnedRwLockReadGuard, RwLock};

use super::Sizes;
use super::error::Failure;
use super::select::{Scope, Selection, State, resolve};
use super::vectors::in_memory as vectors;
use super::vectors::in_memory::VectorsInMemory;
use super::words::in_memory as words;
use super::words::in_memory::WordsInMemory;
use crate::content::Model;
use crate::filter::{Filter, Recent};
use crate::lock::lock;
use crate::report::Coverage;

/// The most memory for each kind of content, in bytes.
const MOST_BYTES: usize = 512 << 20;

/// Content that is kept.
pub(crate) trait Content {
    /// About the memory that it takes.
    fn bytes(&self) -> usize;
}

/// The most keys that are remembered, with their content or without.
const MOST_KEYS: usize = 1_000;

/// Contents by what they are of, the last used one at the end.
#[derive(Debug)]
pub(crate) struct Resident<K, C> {
    entries: Mutex<Vec<Entry<K, C>>>,
}

#[derive(Debug)]
struct Entry<K, C> {
    key: K,
    place: Place<C>,
    /// How often the content may still be missed before it is read.
    patience: usize,
    /// How often it may be missed next time, after it had to make room.
    next_patience: usize,
}

/// Where the content of one key is, once it is read.
type Place<C> = Arc<RwLock<Option<Level<C>>>>;

/// Content that stays while it is used.
pub(crate) type Held<C> = OwnedRwLockReadGuard<Option<Level<C>>, C>;

fn held<C>(level: OwnedRwLockReadGuard<Option<Level<C>>>) -> Held<C> {
    OwnedRwLockReadGuard::map(level, |level| match level {
        Some(level) => &level.content,
        None => unreachable!("the content was just read"),
    })
}

/// Content as it was at a state of its namespaces.
#[derive(Debug)]
pub(crate) struct Level<C> {
    state: State,
    content: C,
}

impl<K, C> Default for Resident<K, C> {
    fn default() -> Resident<K, C> {
        Resident { entries: Mutex::default() }
    }
}

impl<K: PartialEq, C: Content> Resident<K, C> {
    /// The content of a key at a state. `catch_up` brings earlier content up to it, or reads all of it.
    pub async fn hold(
        &self,
        key: K,
        state: &State,
        catch_up: impl AsyncFnOnce(Option<C>) -> Result<C, Failure>,
    ) -> Result<Held<C>, Failure> {
        let place = self.last_used(key, 0, |entry| entry.place.clone());
        let is_at = |level: &Option<Level<C>>| level.as_ref().is_some_and(|level| level.state == *state);
        let known = place.clone().read_owned().await;
        if is_at(&known) {
            return Ok(held(known));
        }
        drop(known);
        let mut known = place.clone().write_owned().await;
        if !is_at(&known) {
            let content = catch_up(known.take().map(|level| level.content)).await?;
            *known = Some(Level { state: state.clone(), content });
        }
        let known = held(known.downgrade());
        self.make_room(&place, known.bytes());
        Ok(known)
    }

    /// Returns `true` if there is content of a key, of whatever state. One that is being read counts.
    pub fn has(&self, key: &K) -> bool {
        let entries = lock(&self.entries);
        let place = entries.iter().find(|entry| entry.key == *key).map(|entry| &entry.place);
        place.is_some_and(|place| place.try_read().map_or(true, |known| known.is_some()))
    }

    /// Notes that the content of a key was missed. Returns `true` once it was missed so often that it should be read: after
    /// `patience` times at first, and later each time that it had to make room.
    pub fn is_missed(&self, key: K, patience: usize) -> bool {
        self.last_used(key, patience, |entry| {
            let is_missed = entry.patience == 0;
            entry.patience = entry.patience.saturating_sub(1);
            is_missed
        })
    }

    /// Forgets a key.
    pub fn forget(&self, key: &K) {
        lock(&self.entries).retain(|entry| entry.key != *key);
    }

    /// Makes a key the last used one. `patience` is that of a new one.
    fn last_used<T>(&self, key: K, patience: usize, use_entry: impl FnOnce(&mut Entry<K, C>) -> T) -> T {
        let mut entries = lock(&self.entries);
        let mut entry = match entries.iter().position(|entry| entry.key == key) {
            Some(position) => entries.remove(position),
            None => {
                if entries.len() == MOST_KEYS {
                    entries.remove(0);
                }
                Entry { key, place: Arc::default(), patience, next_patience: patience.saturating_mul(4) }
            }
        };
        let used = use_entry(&mut entry);
        entries.push(entry);
        used
    }

    /// Drops the contents used longest ago, until this one and the others fit. One in use counts nothing and stays.
    fn make_room(&self, used: &Place<C>, mut size: usize) {
        for entry in lock(&self.entries).iter_mut().rev().filter(|entry| !Arc::ptr_eq(&entry.place, used)) {
            if let Ok(mut known) = entry.place.try_write() {
                size += known.as_ref().map_or(0, |level| level.content.bytes());
                if size > MOST_BYTES && known.take().is_some() {
                    // Otherwise too many that take turns would be read again each time.
                    entry.patience = entry.next_patience;
                    entry.next_patience = entry.next_patience.saturating_mul(4);
                }
            }
        }
    }
}

/// Results that later searches use again, and the sizes that decide how they are found.
#[derive(Debug, Default)]
pub(crate) struct Legs {
    /// The selections of recent filters, by the state of their namespaces.
    pub selections: Recent<(State, Filter), Arc<Selection>>,
    /// The coverage of models under recent filters.
    pub coverages: Recent<(State, String, Filter), Coverage>,
    /// Vectors of passages.
    pub vectors: Resident<vectors::Key, VectorsInMemory>,
    /// Words of passages.
    pub words: Resident<words::Key, WordsInMemory>,
    /// The passage up to which all of a namespace had a vector of a model when they were last looked at, by their numbers.
    pub embedded: Mutex<HashMap<(i32, i32), i64>>,
    pub sizes: Sizes,
}

impl Legs {
    /// Resolves a filter, or returns a recent result.
    pub async fn selection(&self, transaction: &Transaction<'_>, filter: &Filter) -> Result<Arc<Selection>, Failure> {
        let scope = Scope::read(transaction, filter).await?;
        // Dates and attributes can change without a change number, and a filter by namespace costs nothing.
        if filter.is_by_properties() || filter.is_by_namespace() {
            return Ok(Arc::new(resolve(transaction, filter, scope, self.sizes).await?));
        }
        if let Some(known) = self.selections.get(|(state, of)| *state == scope.state && of == filter) {
            return Ok(known);
        }
        let state = scope.state.clone();
        self.selections.retain(|(known, of)| of != filter || *known == state);
        let selection = Arc::new(resolve(transaction, filter, scope, self.sizes).await?);
        self.selections.push((state, filter.clone()), selection.clone());
        Ok(selection)
    }

    /// The vectors of namespaces in memory, once read from the database: all of small ones, and those of a sample of large ones.
    pub async fn vectors(
        &self,
        transaction: &Transaction<'_>,
        scope: &Scope,
        model: &Model,
    ) -> Result<Held<VectorsInMemory>, Failure> {
        let catch_up = async |known| vectors::catch_up(transaction, scope, model, self.sizes, known).await;
        self.vectors.hold(vectors::key(scope, model), &scope.state, catch_up).await
    }
}
