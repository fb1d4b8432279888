//! Filters resolved against the database.

use std::sync::OnceLock;

use deadpool_postgres::Transaction;
use tokio_postgres::types::Type;

use super::condition::{Condition, PASSAGES};
use super::error::Failure;
use super::rows::{document_id, passage_id};
use super::scope::Scope;
use super::sizes::Sizes;
use super::statement::Statement;
use crate::filter::{Filter, PathGlobs};
use crate::record::PassageRef;
use crate::symbols::SymbolPatterns;

/// A filter, resolved.
#[derive(Debug)]
pub(super) struct Selection {
    pub scope: Scope,
    passing: Passing,
    /// The number of passages that pass.
    pub count: u64,
    /// A sample of a large selection, chosen on first use.
    pub sample: OnceLock<Vec<i64>>,
}

/// The passages that pass.
#[derive(Debug)]
enum Passing {
    /// All of the namespaces.
    All,
    /// These, ascending.
    Listed(Vec<i64>),
    /// More than are worth listing.
    Meeting(Box<Condition>),
}

/// The columns of a table that name a passage.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    pub namespace: &'static str,
    pub passage: &'static str,
    pub document: &'static str,
}

/// The key of a passage in `words w`.
pub(super) const WORDS: Key = Key { namespace: "w.namespace", passage: "w.passage", document: "w.document" };
/// The key of a passage in `passages q`.
pub(super) const STORED: Key = Key { namespace: "q.namespace", passage: "q.passage", document: "q.document" };

impl Selection {
    /// Returns `true` if a passage's namespace decides whether it passes.
    pub fn is_by_namespace(&self) -> bool {
        matches!(self.passing, Passing::All)
    }

    /// The passages, ascending, if they are few enough to be listed.
    pub fn listed(&self) -> Option<&Vec<i64>> {
        match &self.passing {
            Passing::Listed(passages) => Some(passages),
            _ => None,
        }
    }

    /// Adds the condition that a passage is of the namespaces and passes.
    pub fn among<'s>(&'s self, statement: &mut Statement<'s>, key: Key) {
        statement.push(key.namespace).push(" = ANY(").texts(&self.scope.namespaces).push(")");
        match &self.passing {
            Passing::All => {}
            Passing::Listed(passages) => {
                statement.push(" AND ").push(key.passage).push(" = ANY(").numbers(passages).push(")");
            }
            Passing::Meeting(condition) => {
                if let Some(documents) = &condition.documents {
                    // The sum keeps the server from looking each number up in an index, which takes longer for a long list.
                    statement.push(" AND ").push(key.document).push(" + 0 = ANY(");
                    statement.bind(documents, Type::INT4_ARRAY).push(")");
                    if condition.is_of_documents() {
                        return;
                    }
                }
                statement.push(" AND EXISTS (SELECT 1 FROM ").push(PASSAGES).push(" WHERE p.namespace = ");
                statement.push(key.namespace).push(" AND p.passage = ").push(key.passage).push(" AND ");
                match &condition.documents {
                    Some(_) => condition.besides_documents(statement),
                    None => condition.of_passages(statement),
                }
                statement.push(")");
            }
        }
    }
}

/// All passages that pass a filter, ascending.
pub(super) async fn select(transaction: &Transaction<'_>, filter: &Filter) -> Result<Vec<PassageRef>, Failure> {
    let scope = Scope::read(transaction, filter).await?;
    let selection = resolve(transaction, filter, scope, Sizes::default()).await?;
    let mut statement = Statement::new("SELECT q.passage, q.document FROM passages q WHERE ");
    selection.among(&mut statement, STORED);
    statement.push(" ORDER BY q.passage");
    let rows = statement.query(transaction).await?;
    Ok(rows
        .iter()
        .map(|row| PassageRef { passage: passage_id(row.get(0)), document: document_id(row.get(1)) })
        .collect())
}

/// Resolves a filter.
pub(super) async fn resolve(
    transaction: &Transaction<'_>,
    filter: &Filter,
    scope: Scope,
    sizes: Sizes,
) -> Result<Selection, Failure> {
    let globs = PathGlobs::new(&filter.path_globs)?;
    let selection = |scope: Scope, passing, count| Selection { scope, passing, count, sample: OnceLock::new() };
    if filter.is_by_namespace() {
        let count = scope.total.passages;
        return Ok(selection(scope, Passing::All, count));
    }
    let Some(filter) = storable(filter) else {
        return Ok(selection(scope, Passing::Listed(Vec::new()), 0));
    };
    let mut condition = Condition::new(&filter, &scope);
    if !filter.path_globs.is_empty() {
        condition.documents = Some(documents(transaction, &condition, &globs).await?);
    }
    let found = if filter.symbols.is_empty() {
        let mut statement = Statement::new("SELECT p.passage FROM ");
        statement.push(PASSAGES).push(" WHERE ");
        condition.of_passages(&mut statement);
        statement.push(" LIMIT ").push_number(sizes.few as u32 + 1);
        let rows = statement.query(transaction).await?;
        rows.iter().map(|row| row.get(0)).collect()
    } else {
        named(transaction, &condition, &filter.symbols).await?
    };
    let all = scope.total.passages;
    if found.len() as u64 == all {
        return Ok(selection(scope, Passing::All, all));
    }
    // Names are compared here, so their passages are listed however many they are.
    if found.len() <= sizes.few || !filter.symbols.is_empty() {
        let mut found: Vec<i64> = found;
        found.sort_unstable();
        let count = found.len() as u64;
        return Ok(selection(scope, Passing::Listed(found), count));
    }
    let count = {
        let mut statement = Statement::new("SELECT count(*) FROM ");
        statement.push(PASSAGES).push(" WHERE ");
        condition.of_passages(&mut statement);
        statement.query(transaction).await?.first().map_or(0, |row| row.get::<_, i64>(0)) as u64
    };
    let passing = if count == all { Passing::All } else { Passing::Meeting(Box::new(condition)) };
    Ok(selection(scope, passing, count))
}

/// The filter without values that the database cannot hold, and so has not; `None` if nothing passes.
fn storable(filter: &Filter) -> Option<Filter> {
    let mut filter = filter.clone();
    let lists = [&mut filter.collections, &mut filter.languages, &mut filter.kinds, &mut filter.roles]
        .into_iter()
        .chain([&mut filter.symbols, &mut filter.authors])
        .chain(filter.attributes.iter_mut().map(|condition| &mut condition.any_of));
    for list in lists {
        let asked = !list.is_empty();
        list.retain(|value| !value.contains('\0'));
        if asked && list.is_empty() {
            return None;
        }
    }
    filter.attributes.iter().all(|condition| !condition.name.contains('\0')).then_some(filter)
}

/// The documents whose paths match, of those that are asked for otherwise.
async fn documents(
    transaction: &Transaction<'_>,
    condition: &Condition,
    globs: &PathGlobs,
) -> Result<Vec<i32>, Failure> {
    let mut statement = Statement::new("SELECT d.document, d.path FROM documents d WHERE ");
    condition.of_documents(&mut statement);
    let rows = statement.query(transaction).await?;
    let mut documents: Vec<i32> = rows.iter().filter(|row| globs.matches(row.get(1))).map(|row| row.get(0)).collect();
    documents.sort_unstable();
    Ok(documents)
}

/// The passages whose symbol has one of these names.
async fn named(transaction: &Transaction<'_>, condition: &Condition, names: &[String]) -> Result<Vec<i64>, Failure> {
    let patterns = SymbolPatterns::new(names);
    // Every name that a pattern matches holds it, without its asterisk.
    let parts: Vec<&str> = names.iter().map(|name| name.trim().trim_end_matches('*')).collect();
    let mut statement = Statement::new("SELECT p.passage, p.symbol FROM ");
    statement.push(PASSAGES).push(" WHERE p.symbol IS NOT NULL AND EXISTS (SELECT 1 FROM unnest(");
    statement.bind(&parts, Type::TEXT_ARRAY).push(") AS part WHERE strpos(p.symbol, part) > 0) AND ");
    condition.of_passages(&mut statement);
    let rows = statement.query(transaction).await?;
    Ok(rows.iter().filter(|row| patterns.matches(row.get(1))).map(|row| row.get(0)).collect())
}
