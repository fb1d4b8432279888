//! Searching by words.

use std::collections::HashMap;

use deadpool_postgres::Transaction;
use tokio_postgres::types::Type;

use super::PostgresStore;
use super::best_by_words::best;
use super::bm25::Query;
use super::error::Failure;
use super::scope::{Scope, Words};
use super::select::{Selection, WORDS, passage};
use super::statement::Statement;
use super::words::TermNumbers;
use super::words_in_memory::WordsInMemory;
use crate::error::Result;
use crate::filter::Filter;
use crate::hits::{LexicalHits, LexicalQuery, LexicalScore};
use crate::lexical::{MOST_CONTAINED_WORDS, text_terms};
use crate::record::PassageId;
use crate::store::LexicalLeg;
use crate::ties::{settle, with_spare};

impl LexicalLeg for PostgresStore {
    fn lexical(&self, query: &LexicalQuery, filter: &Filter, k: usize) -> Result<LexicalHits> {
        let most = with_spare(k);
        let mut found = self.connections.read_of(&filter.namespaces, async |transaction| {
            let selection = self.selection(transaction, filter).await?;
            let query = Query::prepare(transaction, &query.text, &selection.scope).await?;
            let in_memory = |words: &WordsInMemory| words.best(&query, &selection, most);
            let hits = match self.of_words(transaction, &selection.scope, Some(&query), in_memory).await? {
                Some(hits) => hits,
                None => best(transaction, &query, &selection, most, self.legs.sizes).await?,
            };
            let mut statistics = query.terms.statistics();
            statistics.passages = selection.count;
            Ok(LexicalHits { hits, statistics })
        })?;
        settle(self, &mut found.hits, k)?;
        Ok(found)
    }

    fn bm25(&self, query: &LexicalQuery, filter: &Filter, ids: &[PassageId]) -> Result<Vec<LexicalScore>> {
        let numbers: Vec<i64> = ids.iter().filter_map(|id| i64::try_from(id.0).ok()).collect();
        self.connections.read_of(&filter.namespaces, async |transaction| {
            let scope = Scope::read(transaction, filter).await?;
            let query = Query::prepare(transaction, &query.text, &scope).await?;
            let in_memory = |words: &WordsInMemory| ids.iter().map(|id| words.score(&query, *id)).collect();
            if let Some(scores) = self.of_words(transaction, &scope, Some(&query), in_memory).await? {
                return Ok(scores);
            }
            let mut scores: HashMap<PassageId, LexicalScore> = HashMap::new();
            if !query.terms.is_empty() {
                let statement = query.scored(|statement| {
                    statement.push("w.namespace = ANY(").texts(&scope.namespaces);
                    statement.push(") AND w.passage = ANY(").numbers(&numbers).push(")");
                });
                for row in statement.query(transaction).await? {
                    let hit = query.hit(&row);
                    scores.insert(hit.passage, hit.score);
                }
            }
            Ok(ids.iter().map(|id| scores.get(id).copied().unwrap_or_default()).collect())
        })
    }

    fn defining(&self, name: &str, filter: &Filter, limit: usize) -> Result<Vec<PassageId>> {
        let names = vec![name.to_owned()];
        self.connections.read_of(&filter.namespaces, async |transaction| {
            let selection = self.selection(transaction, filter).await?;
            if name.contains('\0') {
                return Ok(Vec::new());
            }
            let in_memory = |words: &WordsInMemory| words.defining(name, &selection);
            if let Some(found) = self.of_words(transaction, &selection.scope, None, in_memory).await? {
                return Ok(ascending(found, limit));
            }
            let mut statement = Statement::new("SELECT w.passage FROM words w WHERE ");
            selection.scope.words(&mut statement, Words::Defining(&names));
            statement.push(" AND ");
            first(transaction, statement, &selection, limit).await
        })
    }

    fn containing(&self, text: &str, filter: &Filter, limit: usize) -> Result<Vec<PassageId>> {
        let terms = text_terms(text, MOST_CONTAINED_WORDS);
        self.connections.read_of(&filter.namespaces, async |transaction| {
            let selection = self.selection(transaction, filter).await?;
            if terms.is_empty() {
                return Ok(Vec::new());
            }
            // Each namespace has numbers of its own for the terms.
            let numbers: Vec<Vec<i64>> = (selection.scope.state.iter())
                .map(|(number, _)| {
                    let mut numbers = TermNumbers::new(*number);
                    terms.iter().map(|term| numbers.of(term)).collect()
                })
                .collect();
            let in_memory = |words: &WordsInMemory| {
                numbers.iter().flat_map(|terms| words.containing(terms, &selection)).collect::<Vec<_>>()
            };
            if let Some(found) = self.of_words(transaction, &selection.scope, None, in_memory).await? {
                return Ok(ascending(found, limit));
            }
            let mut found = Vec::new();
            for (namespace, terms) in selection.scope.namespaces.iter().zip(&numbers) {
                let mut statement = Statement::new("SELECT w.passage FROM words w WHERE w.namespace = ");
                statement.bind(namespace, Type::TEXT).push(" AND ");
                selection.scope.words(&mut statement, Words::WithAll(terms));
                // A word may be in the name alone.
                for term in terms {
                    statement.push(" AND w.body_counts[array_position(w.terms, ").number(term).push(")] > 0");
                }
                statement.push(" AND ");
                found.extend(first(transaction, statement, &selection, limit).await?);
            }
            Ok(ascending(found, limit))
        })
    }
}

impl PostgresStore {
    /// Uses the words of small namespaces in memory. `None` leaves them to the database: the namespaces are large, or their words are
    /// not in memory and not searched often enough. Words that do not agree with what the database says of a query's are forgotten.
    async fn of_words<T>(
        &self,
        transaction: &Transaction<'_>,
        scope: &Scope,
        query: Option<&Query>,
        use_words: impl FnOnce(&WordsInMemory) -> T,
    ) -> Result<Option<T>, Failure> {
        let (words, key) = (&self.legs.words, &scope.namespaces);
        let is_kept = || words.has(key) || (query.is_some() && words.is_missed(key.clone(), self.legs.sizes.patience));
        if scope.total.passages as usize > self.legs.sizes.few || !is_kept() {
            return Ok(None);
        }
        let catch_up = async |known| WordsInMemory::catch_up(transaction, scope, known).await;
        let use_words =
            |words: &WordsInMemory| Ok(query.is_none_or(|query| words.agree(query)).then(|| use_words(words)));
        let found = words.with(key.clone(), &scope.state, catch_up, use_words).await?;
        if found.is_none() {
            words.forget(key);
        }
        Ok(found)
    }
}

/// The first passages, ascending.
fn ascending(mut passages: Vec<PassageId>, limit: usize) -> Vec<PassageId> {
    passages.sort_unstable();
    passages.truncate(limit);
    passages
}

/// The first selected passages that a statement finds, ascending.
async fn first<'s>(
    transaction: &Transaction<'_>,
    mut statement: Statement<'s>,
    selection: &'s Selection,
    limit: usize,
) -> Result<Vec<PassageId>, Failure> {
    selection.among(&mut statement, WORDS);
    statement.push(" ORDER BY w.passage LIMIT ").push_number(u32::try_from(limit).unwrap_or(i32::MAX as u32));
    Ok(statement.query(transaction).await?.iter().map(|row| passage(row.get(0))).collect())
}
