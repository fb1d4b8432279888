//! Searching by words: BM25 with the statistics of the namespaces searched, computed here.
//!
//! `writer` writes the words of passages and their frequencies, `query` looks up those of a query and scores. Words of small namespaces
//! that are searched often are kept `in_memory`, all others are sought `in_database`, where `requirement` keeps frequent words cheap and
//! the server's `index` of words helps.

mod in_database;
pub(super) mod in_memory;
pub(super) mod index;
mod query;
mod requirement;
pub(super) mod writer;

use deadpool_postgres::Transaction;

use super::error::Failure;
use super::legs::Legs;
use super::resident::Held;
use super::scope::Scope;
use super::select::Selection;
use super::store::PostgresStore;
use crate::error::Result;
use crate::filter::Filter;
use crate::hits::{LexicalHit, LexicalHits, LexicalQuery, LexicalScore};
use crate::lexical::{MOST_CONTAINED_WORDS, text_terms};
use crate::record::PassageId;
use crate::store::LexicalLeg;
use crate::ties::{settle, with_spare};
use in_database::WordsInDatabase;
use in_memory::WordsInMemory;
use query::Query;
use writer::TermNumbers;

impl LexicalLeg for PostgresStore {
    fn lexical(&self, query: &LexicalQuery, filter: &Filter, k: usize) -> Result<LexicalHits> {
        let mut found = self.connections.read_of(&filter.namespaces, async |transaction| {
            let selection = self.legs.selection(transaction, filter).await?;
            let query = Query::prepare(transaction, &query.text, &selection.scope).await?;
            let words = Words::of(&self.legs, transaction, &selection.scope, Some(&query)).await?;
            let hits = words.best(&query, &selection, with_spare(k)).await?;
            let mut statistics = query.terms.statistics();
            statistics.passages = selection.count;
            Ok(LexicalHits { hits, statistics })
        })?;
        settle(self, &filter.namespaces, &mut found.hits, k)?;
        Ok(found)
    }

    fn bm25(&self, query: &LexicalQuery, filter: &Filter, ids: &[PassageId]) -> Result<Vec<LexicalScore>> {
        self.connections.read_of(&filter.namespaces, async |transaction| {
            let scope = Scope::read(transaction, filter).await?;
            let query = Query::prepare(transaction, &query.text, &scope).await?;
            match Words::of(&self.legs, transaction, &scope, Some(&query)).await? {
                Words::InMemory(words) => Ok(ids.iter().map(|id| words.score(&query, *id)).collect()),
                Words::InDatabase(words) => words.scores(&query, &scope, ids).await,
            }
        })
    }

    fn defining(&self, name: &str, filter: &Filter, limit: usize) -> Result<Vec<PassageId>> {
        self.connections.read_of(&filter.namespaces, async |transaction| {
            let selection = self.legs.selection(transaction, filter).await?;
            if name.contains('\0') {
                return Ok(Vec::new());
            }
            match Words::of(&self.legs, transaction, &selection.scope, None).await? {
                Words::InMemory(words) => Ok(ascending(words.defining(name, &selection), limit)),
                Words::InDatabase(words) => words.defining(name, &selection, limit).await,
            }
        })
    }

    fn containing(&self, text: &str, filter: &Filter, limit: usize) -> Result<Vec<PassageId>> {
        let terms = text_terms(text, MOST_CONTAINED_WORDS);
        self.connections.read_of(&filter.namespaces, async |transaction| {
            let selection = self.legs.selection(transaction, filter).await?;
            let mut found = Vec::new();
            if terms.is_empty() {
                return Ok(found);
            }
            let words = Words::of(&self.legs, transaction, &selection.scope, None).await?;
            // Each namespace has numbers of its own for the terms.
            for (namespace, (number, _)) in selection.scope.namespaces.iter().zip(&selection.scope.state) {
                let mut numbers = TermNumbers::new(*number);
                let terms: Vec<i64> = terms.iter().map(|term| numbers.of(term)).collect();
                found.extend(match &words {
                    Words::InMemory(words) => words.containing(&terms, &selection),
                    Words::InDatabase(words) => words.containing(namespace, &terms, &selection, limit).await?,
                });
            }
            Ok(ascending(found, limit))
        })
    }
}

/// The words of some namespaces.
enum Words<'t> {
    InMemory(Held<WordsInMemory>),
    InDatabase(WordsInDatabase<'t>),
}

impl<'t> Words<'t> {
    /// Takes the words of small namespaces from memory. Those of large ones are left to the database, and those that are not in memory
    /// and not searched often enough. Words that do not agree with what the database says of a query's are forgotten.
    async fn of(
        legs: &Legs,
        transaction: &'t Transaction<'t>,
        scope: &Scope,
        query: Option<&Query>,
    ) -> Result<Words<'t>, Failure> {
        let (words, key) = (&legs.words, &scope.namespaces);
        let is_kept = || words.has(key) || (query.is_some() && words.is_missed(key.clone(), legs.sizes.patience));
        if scope.total.passages as usize <= legs.sizes.few && is_kept() {
            let catch_up = async |known| WordsInMemory::catch_up(transaction, scope, known).await;
            let held = words.hold(key.clone(), &scope.state, catch_up).await?;
            if query.is_none_or(|query| held.agree(query)) {
                return Ok(Words::InMemory(held));
            }
            drop(held);
            words.forget(key);
        }
        Ok(Words::InDatabase(WordsInDatabase { transaction, sizes: legs.sizes }))
    }

    /// The `k` best passages of a selection, best first.
    async fn best(&self, query: &Query, selection: &Selection, k: usize) -> Result<Vec<LexicalHit>, Failure> {
        match self {
            Words::InMemory(words) => Ok(words.best(query, selection, k)),
            Words::InDatabase(words) => words.best(query, selection, k).await,
        }
    }
}

/// The first passages, ascending.
fn ascending(mut passages: Vec<PassageId>, limit: usize) -> Vec<PassageId> {
    passages.sort_unstable();
    passages.truncate(limit);
    passages
}
