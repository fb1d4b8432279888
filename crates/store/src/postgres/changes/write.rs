//! Writing what changes amount to.

use std::collections::{BTreeMap, BTreeSet};

use deadpool_postgres::Transaction;
use tokio_postgres::error::SqlState;

use super::super::connection::Connections;
use super::super::error::Failure;
use super::super::namespaces::{NamespaceChange, numbers};
use super::super::rows::document_id;
use super::super::vectors::adopt::adopt;
use super::super::words::writer::{Difference, WordsWriter};
use super::documents::{insert, update_places};
use super::passages::{self, PassageRow};
use super::plan::{Plan, Planned};
use super::public_ids::public_ids;
use crate::content::whole_documents;
use crate::error::StoreError;
use crate::record::{DocumentId, NewDocument, WholeDocument};

/// Writes a plan. The namespaces are locked. Returns the numbers of those that it concerns.
pub(super) async fn write(
    connections: &Connections,
    transaction: &Transaction<'_>,
    plan: &Plan<'_>,
) -> Result<BTreeMap<String, i32>, Failure> {
    let registered: BTreeSet<&str> = plan.registered.iter().map(String::as_str).collect();
    let mut by_namespace: BTreeMap<&str, Vec<(usize, &Planned<'_>)>> = BTreeMap::new();
    for (place, document) in plan.documents.iter().enumerate() {
        by_namespace.entry(&document.namespace).or_default().push((place, document));
    }
    let touched = by_namespace.keys().chain(&registered).copied().chain(plan.changed.iter().map(String::as_str));
    let numbers_of = numbers(transaction, &registered, touched).await?;
    let reserved = Numbers::reserve(transaction, plan).await?;
    for (namespace, number) in &numbers_of {
        let documents = by_namespace.get(namespace.as_str()).map(Vec::as_slice).unwrap_or_default();
        let difference = write_namespace(connections, transaction, namespace, *number, documents, &reserved).await?;
        let change = NamespaceChange { counts: plan.changed.contains(namespace), difference };
        change.write(transaction, namespace).await?;
    }
    Ok(numbers_of)
}

/// The numbers of new documents and passages, by the place of the document in the plan.
struct Numbers {
    documents: BTreeMap<usize, i32>,
    passages: BTreeMap<usize, Vec<i64>>,
}

impl Numbers {
    /// Takes the numbers. They ascend in the order of the changes, as those of passages in one document do.
    async fn reserve(transaction: &Transaction<'_>, plan: &Plan<'_>) -> Result<Numbers, Failure> {
        let alive = plan.documents.iter().enumerate().filter(|(_, document)| !document.gone);
        let new: Vec<usize> =
            alive.clone().filter(|(_, document)| document.number.is_none()).map(|(place, _)| place).collect();
        let mut renumbered: Vec<(usize, usize, u64)> =
            alive.filter_map(|(place, document)| Some((document.renumbered?, place, document.passages))).collect();
        renumbered.sort_unstable();
        let count: u64 = renumbered.iter().map(|(_, _, passages)| passages).sum();
        let mut passages = match count {
            0 => Vec::new(),
            count => {
                next(transaction, "SELECT nextval('passage_numbers') FROM generate_series(1, $1::bigint)", count as i64)
                    .await?
            }
        }
        .into_iter();
        let documents = match new.len() {
            0 => Vec::new(),
            count => next(
                transaction,
                "SELECT nextval('document_numbers') FROM generate_series(1, $1::bigint)",
                count as i64,
            )
            .await
            .map_err(|failure| out_of_numbers(failure, &plan.documents[new[0]].path))?,
        };
        Ok(Numbers {
            documents: new.into_iter().zip(documents.into_iter().map(|number| number as i32)).collect(),
            passages: renumbered
                .into_iter()
                .map(|(_, place, count)| (place, passages.by_ref().take(count as usize).collect()))
                .collect(),
        })
    }
}

async fn next(transaction: &Transaction<'_>, statement: &str, count: i64) -> Result<Vec<i64>, Failure> {
    let statement = transaction.prepare_cached(statement).await?;
    Ok(transaction.query(&statement, &[&count]).await?.iter().map(|row| row.get(0)).collect())
}

fn out_of_numbers(failure: Failure, path: &str) -> Failure {
    match failure {
        Failure::Server(error) if error.code() == Some(&SqlState::SEQUENCE_GENERATOR_LIMIT_EXCEEDED) => {
            let reason = "the index has counted 2,147,483,647 documents; delete it and index again".to_owned();
            StoreError::Invalid { what: path.to_owned(), reason }.into()
        }
        failure => failure,
    }
}

async fn write_namespace(
    connections: &Connections,
    transaction: &Transaction<'_>,
    namespace: &str,
    number: i32,
    documents: &[(usize, &Planned<'_>)],
    reserved: &Numbers,
) -> Result<Difference, Failure> {
    let mut difference = Difference::default();
    let stored: BTreeMap<i32, &Planned<'_>> =
        documents.iter().filter_map(|(_, document)| Some((document.number?, *document))).collect();
    let those = |wanted: fn(&Planned<'_>) -> bool| -> Vec<i32> {
        stored.iter().filter(|(_, document)| wanted(document)).map(|(number, _)| *number).collect()
    };
    // A replaced document is deleted and inserted again with its number.
    let deleted = those(|document| document.gone || document.content.is_some());
    let moved = those(|document| !document.gone && document.content.is_none() && document.renumbered.is_some());
    let touched: Vec<&Planned<'_>> = stored
        .values()
        .copied()
        .filter(|document| !document.gone && document.content.is_none() && document.touched)
        .collect();

    let mut moving: BTreeMap<i32, WholeDocument> = BTreeMap::new();
    if !moved.is_empty() {
        let ids: Vec<DocumentId> = moved.iter().copied().map(document_id).collect();
        let whole = whole_documents(&connections.content(transaction), namespace, &ids).await?;
        moving.extend(moved.iter().copied().zip(whole).filter_map(|(number, whole)| Some((number, whole?))));
    }
    let losing: Vec<i32> = deleted.iter().chain(&moved).copied().collect();
    if !losing.is_empty() {
        difference.subtract(transaction, namespace, &losing).await?;
        for (statement, documents) in [
            (
                "DELETE FROM words w USING passages p WHERE p.namespace = $1 AND p.document = ANY($2) \
                 AND w.namespace = $1 AND w.passage = p.passage",
                &losing,
            ),
            ("DELETE FROM passages WHERE namespace = $1 AND document = ANY($2)", &losing),
            ("DELETE FROM attributes WHERE namespace = $1 AND document = ANY($2)", &deleted),
            ("DELETE FROM documents WHERE namespace = $1 AND document = ANY($2)", &deleted),
        ] {
            let statement = transaction.prepare_cached(statement).await?;
            transaction.execute(&statement, &[&namespace, documents]).await?;
        }
    }
    update_places(transaction, namespace, &touched).await?;

    let mut order: Vec<(&[i64], i32, &Planned<'_>)> = Vec::new();
    let mut contents: Vec<(i32, &Planned<'_>, &NewDocument)> = Vec::new();
    for (place, document) in documents.iter().filter(|(_, document)| !document.gone) {
        let number = document.number.or_else(|| reserved.documents.get(place).copied());
        let Some(number) = number else { continue };
        contents.extend(document.content.map(|new| (number, *document, new)));
        order.extend(reserved.passages.get(place).map(|numbers| (numbers.as_slice(), number, *document)));
    }
    insert(transaction, namespace, &contents).await?;

    // In the order of their numbers, which is that of the changes.
    order.sort_by_key(|(numbers, _, _)| numbers.first().copied());
    let mut rows = Rows::default();
    for (numbers, document, planned) in order {
        match (planned.content, moving.get(&document)) {
            (Some(new), _) => rows.add(numbers, passages::of(document, &planned.path, new, &[])),
            (None, Some(stored)) => {
                rows.add(numbers, passages::of(document, &planned.path, &stored.content, &stored.keys));
            }
            (None, None) => {}
        }
    }
    rows.write(transaction, namespace, number, &mut difference).await?;
    adopt(transaction, namespace, &contents.iter().map(|(number, ..)| *number).collect::<Vec<_>>()).await?;
    difference.documents = contents.len() as i64 - deleted.len() as i64;
    difference.write(transaction, namespace).await?;
    Ok(difference)
}

/// Passages to write, with their numbers and full identifiers.
#[derive(Default)]
struct Rows<'a> {
    rows: Vec<PassageRow<'a>>,
    numbers: Vec<i64>,
    names: Vec<String>,
}

impl<'a> Rows<'a> {
    fn add(&mut self, numbers: &[i64], passages: impl Iterator<Item = (PassageRow<'a>, String)>) {
        for (number, (row, name)) in numbers.iter().zip(passages) {
            self.rows.push(row);
            self.numbers.push(*number);
            self.names.push(name);
        }
    }

    /// Writes the passages and their words.
    async fn write(
        &self,
        transaction: &Transaction<'_>,
        namespace: &str,
        number: i32,
        difference: &mut Difference,
    ) -> Result<(), Failure> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let ids = public_ids(transaction, namespace, &self.names, |place| self.rows[place].path).await?;
        let numbered = self.rows.iter().zip(&self.numbers);
        let named = numbered.clone().zip(&ids).map(|((row, number), id)| (row, *number, id.as_str()));
        passages::write(transaction, namespace, named).await?;
        let mut words = WordsWriter::begin(transaction, namespace, number).await?;
        for (row, passage) in numbered {
            words.passage(*passage, row.document, &row.lexical(), difference).await?;
        }
        words.finish().await
    }
}
