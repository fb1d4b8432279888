//! The words of passages by our own analysis, and how many passages of a namespace have each.
//!
//! Words, frequencies and totals are written with the passages, in the same transaction, so searches always find them in agreement.

use std::collections::HashMap;
use std::fmt::Write as _;

use deadpool_postgres::Transaction;
use tokio_postgres::types::Type;

use super::super::copy::{Columns, Copy, storable};
use super::super::error::Failure;
use super::index::{indexed_word, is_expected};
use crate::lexical::{PassageTerms, TermReader};
use crate::sqlite::LexicalRow;

const COLUMNS: &Columns = &[
    ("namespace indexed", Type::TEXT),
    ("passage body_terms name_terms", Type::INT8),
    ("document", Type::INT4),
    ("terms", Type::INT8_ARRAY),
    ("body_counts name_counts", Type::INT4_ARRAY),
    ("symbols", Type::TEXT_ARRAY),
];

/// The fields of a passage that have frequencies.
const BODY: i16 = 0;
const NAME: i16 = 1;

/// What changes in the frequencies and totals of one namespace.
#[derive(Debug, Default)]
pub(in super::super) struct Difference {
    /// The passages with each term in the body and in the name.
    terms: HashMap<i64, [i64; 2]>,
    pub documents: i64,
    pub passages: i64,
    pub body_terms: i64,
    pub name_terms: i64,
}

/// Writes words, and counts them.
pub(in super::super) struct WordsWriter {
    copy: Copy,
    reader: TermReader,
    namespace: String,
    numbers: TermNumbers,
    /// True if there is an index of words to write for.
    indexes: bool,
}

impl WordsWriter {
    /// Begins to write words of passages of a namespace, which is given by name and number.
    pub async fn begin(transaction: &Transaction<'_>, namespace: &str, number: i32) -> Result<WordsWriter, Failure> {
        let indexes = is_expected(transaction).await?;
        let copy = Copy::begin(transaction, "words", COLUMNS).await?;
        let (reader, numbers) = (TermReader::default(), TermNumbers::new(number));
        Ok(WordsWriter { copy, reader, namespace: namespace.to_owned(), numbers, indexes })
    }

    /// Writes the words of a passage.
    pub async fn passage(
        &mut self,
        passage: i64,
        document: i32,
        row: &LexicalRow<'_>,
        difference: &mut Difference,
    ) -> Result<(), Failure> {
        let PassageTerms { counts, body, name, symbols } = self.reader.read(row);
        difference.passages += 1;
        difference.body_terms += body as i64;
        difference.name_terms += name as i64;
        let mut terms = Vec::with_capacity(counts.len());
        let (mut in_body, mut in_name) = (Vec::with_capacity(counts.len()), Vec::with_capacity(counts.len()));
        let mut indexed = self.indexes.then(String::new);
        for (term, (body, name)) in &counts {
            let term = self.numbers.of(term);
            difference.count(term, [i64::from(*body > 0), i64::from(*name > 0)]);
            if let Some(indexed) = &mut indexed {
                for _ in 0..body + name {
                    // Writing to a string cannot fail.
                    let _ = write!(indexed, "{} ", indexed_word(term));
                }
            }
            terms.push(term);
            in_body.push(*body as i32);
            in_name.push(*name as i32);
        }
        let (body, name) = (body as i64, name as i64);
        let symbols: Vec<_> = symbols.iter().map(|symbol| storable(symbol)).collect();
        self.copy
            .row(&[&self.namespace, &indexed, &passage, &body, &name, &document, &terms, &in_body, &in_name, &symbols])
            .await
    }

    /// Ends with all words written.
    pub async fn finish(self) -> Result<(), Failure> {
        self.copy.finish().await
    }
}

/// The numbers that stand for the terms of one namespace: the first 64 bits of a BLAKE3 hash of the namespace's number and the
/// term. Among the 10 million terms of a large namespace, two have the same number with a probability of 3 in a million.
pub(in super::super) struct TermNumbers {
    /// The number of the namespace, and room for a term.
    hashed: Vec<u8>,
}

impl TermNumbers {
    pub fn new(namespace: i32) -> TermNumbers {
        TermNumbers { hashed: namespace.to_le_bytes().to_vec() }
    }

    /// The number of a term.
    pub fn of(&mut self, term: &str) -> i64 {
        self.hashed.truncate(size_of::<i32>());
        self.hashed.extend_from_slice(term.as_bytes());
        blake3::hash(&self.hashed).as_bytes().first_chunk().map_or(0, |bytes| i64::from_le_bytes(*bytes))
    }
}

impl Difference {
    fn count(&mut self, term: i64, more: [i64; 2]) {
        let counts = self.terms.entry(term).or_default();
        counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
    }

    /// Subtracts the words of documents that are about to be deleted.
    pub async fn subtract(
        &mut self,
        transaction: &Transaction<'_>,
        namespace: &str,
        documents: &[i32],
    ) -> Result<(), Failure> {
        let totals = "SELECT count(*), coalesce(sum(w.body_terms), 0)::bigint, coalesce(sum(w.name_terms), 0)::bigint \
             FROM passages p JOIN words w ON w.namespace = p.namespace AND w.passage = p.passage \
             WHERE p.namespace = $1 AND p.document = ANY($2)";
        let statement = transaction.prepare_cached(totals).await?;
        let row = transaction.query_one(&statement, &[&namespace, &documents]).await?;
        self.passages -= row.get::<_, i64>(0);
        self.body_terms -= row.get::<_, i64>(1);
        self.name_terms -= row.get::<_, i64>(2);
        let frequencies = "SELECT t.term, count(*) FILTER (WHERE t.body > 0), count(*) FILTER (WHERE t.name > 0) \
             FROM passages p JOIN words w ON w.namespace = p.namespace AND w.passage = p.passage \
             CROSS JOIN unnest(w.terms, w.body_counts, w.name_counts) AS t(term, body, name) \
             WHERE p.namespace = $1 AND p.document = ANY($2) GROUP BY t.term";
        let statement = transaction.prepare_cached(frequencies).await?;
        for row in transaction.query(&statement, &[&namespace, &documents]).await? {
            self.count(row.get(0), [-row.get::<_, i64>(1), -row.get::<_, i64>(2)]);
        }
        Ok(())
    }

    /// Writes the frequencies. The totals are the caller's, who changes the namespace's row anyway.
    pub async fn write(&self, transaction: &Transaction<'_>, namespace: &str) -> Result<(), Failure> {
        let mut changed: Vec<(i64, i16, i64)> = Vec::new();
        for (term, [body, name]) in &self.terms {
            changed.extend(
                [(BODY, *body), (NAME, *name)]
                    .iter()
                    .filter(|(_, more)| *more != 0)
                    .map(|(field, more)| (*term, *field, *more)),
            );
        }
        // Rows that lie together are written together.
        changed.sort_unstable();
        let (fewer, more): (Vec<_>, Vec<_>) = changed.into_iter().partition(|(_, _, more)| *more < 0);
        for (changed, statement) in [(more, ADD), (fewer, SUBTRACT)] {
            if changed.is_empty() {
                continue;
            }
            let terms: Vec<i64> = changed.iter().map(|(term, _, _)| *term).collect();
            let fields: Vec<i16> = changed.iter().map(|(_, field, _)| *field).collect();
            let counts: Vec<i64> = changed.iter().map(|(_, _, count)| *count).collect();
            let statement = transaction.prepare_cached(statement).await?;
            transaction.execute(&statement, &[&namespace, &terms, &fields, &counts]).await?;
        }
        if self.terms.values().flatten().any(|more| *more < 0) {
            let delete = "DELETE FROM frequencies WHERE namespace = $1 AND term = ANY($2) AND passages <= 0";
            let fewer = self.terms.iter().filter(|(_, counts)| counts.iter().any(|more| *more < 0));
            let terms: Vec<i64> = fewer.map(|(term, _)| *term).collect();
            let statement = transaction.prepare_cached(delete).await?;
            transaction.execute(&statement, &[&namespace, &terms]).await?;
        }
        Ok(())
    }
}

const ADD: &str = "INSERT INTO frequencies AS f(namespace, term, field, passages) \
     SELECT $1, n.term, n.field, n.passages FROM unnest($2::bigint[], $3::smallint[], $4::bigint[]) AS n(term, field, passages) \
     ON CONFLICT (namespace, term, field) DO UPDATE SET passages = f.passages + excluded.passages";

const SUBTRACT: &str = "UPDATE frequencies f SET passages = f.passages + n.passages \
     FROM unnest($2::bigint[], $3::smallint[], $4::bigint[]) AS n(term, field, passages) \
     WHERE f.namespace = $1 AND f.term = n.term AND f.field = n.field";
