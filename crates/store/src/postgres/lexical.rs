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
use crate::error::Result;
use crate::filter::Filter;
use crate::hits::{LexicalHits, LexicalQuery, LexicalScore};
use crate::lexical::{MOST_CONTAINED_WORDS, text_terms};
use crate::record::PassageId;
use crate::store::LexicalLeg;

impl LexicalLeg for PostgresStore {
    fn lexical(&self, query: &LexicalQuery, filter: &Filter, k: usize) -> Result<LexicalHits> {
        self.connections.read_of(&filter.namespaces, async |transaction| {
            let selection = self.selection(transaction, filter).await?;
            let query = Query::prepare(transaction, &query.text, &selection.scope).await?;
            let hits = best(transaction, &query, &selection, k, self.legs.sizes).await?;
            let mut statistics = query.terms.into_statistics();
            statistics.passages = selection.count;
            Ok(LexicalHits { hits, statistics })
        })
    }

    fn bm25(&self, query: &LexicalQuery, filter: &Filter, ids: &[PassageId]) -> Result<Vec<LexicalScore>> {
        let numbers: Vec<i64> = ids.iter().filter_map(|id| i64::try_from(id.0).ok()).collect();
        self.connections.read_of(&filter.namespaces, async |transaction| {
            let scope = Scope::read(transaction, filter).await?;
            let query = Query::prepare(transaction, &query.text, &scope).await?;
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
            let mut found = Vec::new();
            // Each namespace has numbers of its own for the terms.
            for (namespace, (number, _)) in selection.scope.namespaces.iter().zip(&selection.scope.state) {
                let mut numbers = TermNumbers::new(*number);
                let terms: Vec<i64> = terms.iter().map(|term| numbers.of(term)).collect();
                let mut statement = Statement::new("SELECT w.passage FROM words w WHERE w.namespace = ");
                statement.bind(namespace, Type::TEXT).push(" AND ");
                selection.scope.words(&mut statement, Words::WithAll(&terms));
                // A word may be in the name alone.
                for term in &terms {
                    statement.push(" AND w.body_counts[array_position(w.terms, ").number(term).push(")] > 0");
                }
                statement.push(" AND ");
                found.extend(first(transaction, statement, &selection, limit).await?);
            }
            found.sort_unstable();
            found.truncate(limit);
            Ok(found)
        })
    }
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
