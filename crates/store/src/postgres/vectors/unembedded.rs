//! Texts that a model has not embedded yet.

use std::collections::HashSet;

use deadpool_postgres::Transaction;
use tokio_postgres::types::Type;

use super::super::error::Failure;
use super::super::legs::Legs;
use super::super::rows::text_hash;
use super::super::select::{STORED, Selection};
use super::super::statement::Statement;
use crate::mutex::lock;
use crate::record::TextToEmbed;

/// Passages looked at in one step.
const STEP: u32 = 4_096;

impl Legs {
    /// Texts of selected passages without a vector, each once.
    ///
    /// Whoever embeds a namespace asks again and again, and all but the last few passages looked at have a vector by then. So each
    /// question goes on where the last one found its first text. Only when nothing is left from there on, all passages are asked
    /// for at once: vectors may have been removed behind it.
    pub(in super::super) async fn unembedded(
        &self,
        transaction: &Transaction<'_>,
        model: i32,
        selection: &Selection,
        limit: usize,
    ) -> Result<Vec<TextToEmbed>, Failure> {
        if !selection.is_by_namespace() {
            return from_start(transaction, model, selection, limit).await;
        }
        let mut found: Vec<(i64, Vec<u8>)> = Vec::new();
        let mut seen: HashSet<Vec<u8>> = HashSet::new();
        for (namespace, (number, _)) in selection.scope.namespaces.iter().zip(&selection.scope.state) {
            if found.len() >= limit {
                break;
            }
            let mut after = lock(&self.embedded).get(&(*number, model)).copied().unwrap_or(0);
            let mut first = None;
            loop {
                let step = step(transaction, model, namespace, after).await?;
                for (passage, hash) in step.missing {
                    first.get_or_insert(passage);
                    if found.len() < limit && seen.insert(hash.clone()) {
                        found.push((passage, hash));
                    }
                }
                let Some(last) = step.last else { break };
                after = last;
                if found.len() >= limit {
                    break;
                }
            }
            lock(&self.embedded).insert((*number, model), first.map_or(after, |first| first - 1));
        }
        if found.is_empty() {
            return from_start(transaction, model, selection, limit).await;
        }
        texts(transaction, &selection.scope.namespaces, &found).await
    }
}

/// Some passages of a namespace, in the order of their numbers.
struct Step {
    /// The number of the last one, if there is one.
    last: Option<i64>,
    /// Those without a vector, with the hash of their text.
    missing: Vec<(i64, Vec<u8>)>,
}

async fn step(transaction: &Transaction<'_>, model: i32, namespace: &str, after: i64) -> Result<Step, Failure> {
    let mut statement = Statement::new("SELECT passage, text_hash FROM passages WHERE namespace = ");
    statement.bind(&namespace, Type::TEXT).push(" AND passage > ").bind(&after, Type::INT8);
    statement.push(" ORDER BY passage LIMIT ").push_number(STEP);
    let passages: Vec<(i64, Vec<u8>)> =
        statement.query(transaction).await?.iter().map(|row| (row.get(0), row.get(1))).collect();
    let hashes: Vec<&[u8]> = passages.iter().map(|(_, hash)| hash.as_slice()).collect();
    let mut statement = Statement::new("SELECT text_hash FROM vectors WHERE namespace = ");
    statement.bind(&namespace, Type::TEXT).push(" AND model = ").bind(&model, Type::INT4);
    statement.push(" AND text_hash = ANY(").bind(&hashes, Type::BYTEA_ARRAY).push(")");
    let embedded: HashSet<Vec<u8>> = statement.query(transaction).await?.iter().map(|row| row.get(0)).collect();
    let last = passages.last().map(|(passage, _)| *passage);
    Ok(Step { last, missing: passages.into_iter().filter(|(_, hash)| !embedded.contains(hash)).collect() })
}

/// The texts of passages, in their order.
async fn texts(
    transaction: &Transaction<'_>,
    namespaces: &Vec<String>,
    found: &[(i64, Vec<u8>)],
) -> Result<Vec<TextToEmbed>, Failure> {
    let numbers: Vec<i64> = found.iter().map(|(passage, _)| *passage).collect();
    let mut statement = Statement::new(
        "SELECT t.text_hash, coalesce(t.embedded_text, t.before_text || t.text), d.path FROM passages t \
         JOIN documents d ON d.namespace = t.namespace AND d.document = t.document WHERE t.namespace = ANY(",
    );
    statement.texts(namespaces).push(") AND t.passage = ANY(").numbers(&numbers).push(") ORDER BY t.passage");
    Ok(statement.query(transaction).await?.iter().map(text).collect())
}

/// The same of all selected passages, however many have a vector.
async fn from_start(
    transaction: &Transaction<'_>,
    model: i32,
    selection: &Selection,
    limit: usize,
) -> Result<Vec<TextToEmbed>, Failure> {
    let mut statement = Statement::new(
        "SELECT f.text_hash, coalesce(t.embedded_text, t.before_text || t.text), d.path FROM (\
         SELECT q.text_hash, min(q.passage) AS passage FROM passages q WHERE NOT EXISTS (\
         SELECT 1 FROM vectors v WHERE v.namespace = q.namespace AND v.text_hash = q.text_hash AND v.model = ",
    );
    statement.bind(&model, Type::INT4).push(") AND ");
    selection.among(&mut statement, STORED);
    statement.push(" GROUP BY q.text_hash ORDER BY passage LIMIT ");
    statement.push_number(u32::try_from(limit).unwrap_or(i32::MAX as u32));
    statement.push(
        ") AS f JOIN passages t ON t.passage = f.passage \
         JOIN documents d ON d.namespace = t.namespace AND d.document = t.document WHERE t.namespace = ANY(",
    );
    statement.texts(&selection.scope.namespaces).push(") ORDER BY f.passage");
    Ok(statement.query(transaction).await?.iter().map(text).collect())
}

fn text(row: &tokio_postgres::Row) -> TextToEmbed {
    TextToEmbed { hash: text_hash(row.get(0)), text: row.get(1), path: row.get(2) }
}
