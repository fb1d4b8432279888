//! Reading the words of a namespace again from its passages.

use deadpool_postgres::Transaction;
use tokio_postgres::Row;

use super::super::error::Failure;
use super::super::namespaces::NOW_MS;
use super::super::words::writer::{Difference, WordsWriter};
use crate::error::StoreError;
use crate::lexical::TermReader;
use crate::record::TextForm;
use crate::sqlite::LexicalRow;

/// Passages read at once.
const PAGE: i64 = 1_000;

/// Rebuilds words, frequencies and totals, and returns the number of passages. The namespace is locked. `report` receives the number
/// of passages done.
pub(super) async fn rebuild(
    transaction: &Transaction<'_>,
    namespace: &str,
    report: impl Fn(u64) -> Result<(), StoreError>,
) -> Result<u64, Failure> {
    let number = transaction.query_opt("SELECT number FROM namespaces WHERE namespace = $1", &[&namespace]).await?;
    // It was removed in the meantime.
    let Some(number) = number else { return Ok(0) };
    let number: i32 = number.get(0);
    transaction.execute("DELETE FROM words WHERE namespace = $1", &[&namespace]).await?;
    transaction.execute("DELETE FROM frequencies WHERE namespace = $1", &[&namespace]).await?;
    let select = transaction
        .prepare_cached(
            "SELECT p.passage, p.document, p.prose, d.path, d.title, p.symbol, p.heading, p.context, p.text FROM passages p \
             JOIN documents d ON d.namespace = p.namespace AND d.document = p.document \
             WHERE p.namespace = $1 AND p.passage > $2 ORDER BY p.passage LIMIT $3",
        )
        .await?;
    let mut totals = Difference::default();
    let mut last = 0_i64;
    loop {
        let rows = transaction.query(&select, &[&namespace, &last, &PAGE]).await?;
        let Some(end) = rows.last() else { break };
        last = end.get(0);
        let mut words = WordsWriter::begin(transaction, namespace, number).await?;
        for row in &rows {
            words.passage(row.get(0), row.get(1), &lexical(row), &mut totals).await?;
        }
        words.finish().await?;
        report(totals.passages as u64)?;
    }
    totals.write(transaction, namespace).await?;
    // Results computed from the old words must not be taken for current ones.
    let update = format!(
        "UPDATE namespaces SET documents = (SELECT count(*) FROM documents d WHERE d.namespace = $1), passages = $2, body_terms = $3, name_terms = $4, analysis = $5, changed_ms = {NOW_MS}, \
         change_number = change_number + 1 WHERE namespace = $1"
    );
    let version = TermReader::VERSION as i32;
    let Difference { passages, body_terms, name_terms, .. } = &totals;
    transaction.execute(&update, &[&namespace, passages, body_terms, name_terms, &version]).await?;
    Ok(totals.passages as u64)
}

fn lexical(row: &Row) -> LexicalRow<'_> {
    LexicalRow {
        passage: 0,
        document: 0,
        namespace: 0,
        form: TextForm::from_prose(row.get(2)),
        path: row.get(3),
        title: row.get(4),
        symbol: row.get(5),
        heading: row.get(6),
        context: row.get(7),
        text: row.get(8),
    }
}
