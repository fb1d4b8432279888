//! Searching by words.

use std::collections::HashMap;

use deadpool_postgres::Transaction;
use tokio_postgres::types::Type;

use super::PostgresStore;
use super::bm25::Query;
use super::error::Failure;
use super::legs::Sizes;
use super::scope::{Scope, Words};
use super::select::{Selection, WORDS, passage};
use super::statement::Statement;
use super::word_index;
use super::words::TermNumbers;
use crate::error::Result;
use crate::filter::Filter;
use crate::hits::{LexicalHit, LexicalHits, LexicalQuery, LexicalScore};
use crate::lexical::{MOST_CONTAINED_WORDS, text_terms};
use crate::record::PassageId;
use crate::store::LexicalLeg;

impl LexicalLeg for PostgresStore {
    fn lexical(&self, query: &LexicalQuery, filter: &Filter, k: usize) -> Result<LexicalHits> {
        let on_shards = self.legs.word_indexes_on_shards.get(&self.connections)?;
        self.connections.read_of(&filter.namespaces, async |transaction| {
            let selection = self.selection(transaction, filter).await?;
            let query = Query::prepare(transaction, &query.text, &selection.scope).await?;
            let hits = best(transaction, &query, &selection, k, self.legs.sizes, on_shards).await?;
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
                let mut statement = Statement::default();
                query.scored(&mut statement);
                statement.push("w.namespace = ANY(").texts(&scope.namespaces);
                statement.push(") AND w.passage = ANY(").numbers(&numbers).push(")");
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
                statement.push(
                    " AND NOT EXISTS (SELECT 1 FROM unnest(w.terms, w.body_counts) AS u(term, body) WHERE u.body = 0 AND u.term = ANY(",
                );
                statement.numbers(&terms).push(")) AND ");
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

/// The `k` best passages of a selection, best first.
///
/// The rarest words are searched for first, and each passage with one of them gets its whole score. The others need not be searched
/// for once all of them together could not lift another passage among the best. Where too many passages have them, the server's
/// index of words chooses candidates, if there is one.
async fn best(
    transaction: &Transaction<'_>,
    query: &Query,
    selection: &Selection,
    k: usize,
    sizes: Sizes,
    on_shards: bool,
) -> Result<Vec<LexicalHit>, Failure> {
    let mut hits: Vec<LexicalHit> = Vec::new();
    if k == 0 || query.terms.is_empty() {
        return Ok(hits);
    }
    let mut rest: Vec<usize> = (0..query.forms.len()).collect();
    rest.sort_by_key(|place| std::cmp::Reverse(query.forms[*place].frequency()));
    let mut searched: Vec<i64> = Vec::new();
    // The passages of a short list are read anyway.
    let mut room = if selection.listed().is_some() { u64::MAX } else { sizes.first.max(4 * k as u64) };
    loop {
        let cost: u64 = rest.iter().map(|place| query.forms[*place].frequency()).sum();
        if selection.listed().is_none() && cost > sizes.many {
            let count = sizes.first.max(4 * k as u64) as usize;
            if let Some(more) = word_index::candidates(transaction, query, &rest, selection, count, on_shards).await? {
                hits.extend(more);
                return Ok(ranked(hits, k));
            }
        }
        let mut fresh: Vec<i64> = Vec::new();
        let mut passages = 0u64;
        while let Some(place) = rest.last() {
            passages = passages.saturating_add(query.forms[*place].frequency());
            if !fresh.is_empty() && passages > room {
                break;
            }
            fresh.extend(rest.pop().into_iter().flat_map(|place| &query.forms[place].numbers));
        }
        let mut statement = Statement::default();
        query.scored(&mut statement);
        selection.scope.words(&mut statement, Words::WithAny(&fresh));
        if !searched.is_empty() {
            statement.push(" AND NOT w.terms && ").numbers(&searched);
        }
        statement.push(" AND ");
        selection.among(&mut statement, WORDS);
        let rows = statement.query(transaction).await?;
        hits.extend(rows.iter().map(|row| query.hit(row)).filter(|hit| hit.score.bm25 > 0.0));
        hits = ranked(hits, k);
        let others: f32 = rest.iter().map(|place| query.forms[*place].bound).sum();
        // Sums in another order differ a little.
        let decided = hits.len() == k && hits.last().is_some_and(|worst| worst.score.bm25 > others * 1.000_1);
        if rest.is_empty() || decided {
            return Ok(hits);
        }
        searched.extend(fresh);
        room = room.saturating_mul(4);
    }
}

/// The `k` best, each once.
fn ranked(mut hits: Vec<LexicalHit>, k: usize) -> Vec<LexicalHit> {
    hits.sort_by(|a, b| b.score.bm25.total_cmp(&a.score.bm25).then(a.passage.cmp(&b.passage)));
    hits.dedup_by_key(|hit| hit.passage);
    hits.truncate(k);
    hits
}
