//! The words of small namespaces in memory. Many searches of one namespace read them from the database once.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use deadpool_postgres::Transaction;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::index::{indexed_word, is_expected};
use super::{Form, Query, lengths};
use crate::lexical::{BODY, NAME, PassageTerms, TermReader};
use crate::postgres::Cached;
use crate::postgres::failure::Failure;
use crate::postgres::select::{Scope, Selection, Statement};
use crate::postgres::session::{Columns, Copy, document_id, execute, passage_id, query, storable};
use crate::record::{DocumentId, PassageId};
use crate::retrieval::{LexicalHit, LexicalScore};
use crate::sqlite::LexicalRow;

/// Passages read at once.
const BATCH: usize = 2_000;

/// The namespaces that the words are of.
pub(crate) type Key = Vec<String>;

#[derive(Debug, Default)]
pub(crate) struct WordsInMemory {
    /// Each passage, and those that are gone.
    rows: Vec<Entry>,
    /// The row of each passage that is there.
    places: HashMap<PassageId, u32>,
    /// The passages with each term, ascending by row.
    postings: HashMap<i64, Vec<Posting>>,
    /// The rows that define each symbol.
    symbols: HashMap<String, Vec<u32>>,
    length: usize,
}

#[derive(Debug)]
struct Entry {
    passage: PassageId,
    document: DocumentId,
    /// The lengths of the two fields, as they count for scores.
    lengths: [u8; 2],
    is_gone: bool,
}

#[derive(Debug, Clone, Copy)]
struct Posting {
    row: u32,
    counts: [u32; 2],
}

impl Cached for WordsInMemory {
    fn bytes(&self) -> usize {
        // Maps and lists have room to grow.
        self.length * size_of::<Posting>() * 3 / 2
            + self.postings.len() * 80
            + self.rows.len() * 64
            + self.symbols.len() * 100
    }
}

impl WordsInMemory {
    /// Brings words up to the snapshot of a transaction: those of passages that are gone leave, and new ones come in.
    pub async fn catch_up(
        transaction: &Transaction<'_>,
        scope: &Scope,
        known: Option<WordsInMemory>,
    ) -> Result<WordsInMemory, Failure> {
        let mut statement = Statement::new("SELECT w.passage FROM words w WHERE w.namespace = ANY(");
        statement.texts(&scope.namespaces).push(")");
        let mut wanted: HashSet<PassageId> =
            statement.query(transaction).await?.iter().map(|row| passage_id(row.get(0))).collect();
        let mut words = known.unwrap_or_default();
        let stay = words.places.keys().filter(|passage| wanted.contains(passage)).count();
        // Rows of passages that are gone still take time and room.
        if 2 * stay < words.rows.len() {
            words = WordsInMemory::default();
        }
        words.places.retain(|passage, row| {
            let stays = wanted.remove(passage);
            words.rows[*row as usize].is_gone |= !stays;
            stays
        });
        let mut missing: Vec<i64> = wanted.into_iter().map(|passage| passage.0 as i64).collect();
        missing.sort_unstable();
        for batch in missing.chunks(BATCH) {
            let batch = batch.to_vec();
            let mut statement = Statement::new(
                "SELECT w.passage, w.document, w.body_terms, w.name_terms, w.terms, w.body_counts, w.name_counts, w.symbols \
                 FROM words w WHERE w.namespace = ANY(",
            );
            statement.texts(&scope.namespaces).push(") AND w.passage = ANY(").numbers(&batch).push(")");
            for row in statement.query(transaction).await? {
                words.add(&row);
            }
        }
        Ok(words)
    }

    fn add(&mut self, row: &Row) {
        let place = self.rows.len() as u32;
        let passage = passage_id(row.get(0));
        self.rows.push(Entry { passage, document: document_id(row.get(1)), lengths: lengths(row), is_gone: false });
        self.places.insert(passage, place);
        let [bodies, names] = [5, 6].map(|column| row.get::<_, Vec<i32>>(column));
        for ((term, body), name) in row.get::<_, Vec<i64>>(4).into_iter().zip(bodies).zip(names) {
            self.postings.entry(term).or_default().push(Posting { row: place, counts: [body as u32, name as u32] });
            self.length += 1;
        }
        for symbol in row.get::<_, Vec<String>>(7) {
            let rows = self.symbols.entry(symbol).or_default();
            if rows.last() != Some(&place) {
                rows.push(place);
            }
        }
    }

    /// Returns `true` if the database counts the same passages with each form of a query. Nothing else tells of words that were damaged
    /// there and then mended.
    pub(crate) fn agree(&self, query: &Query) -> bool {
        query.forms.iter().all(|form| {
            let mut passages = [0; 2];
            for posting in self.postings(&form.numbers).filter(|posting| !self.rows[posting.row as usize].is_gone) {
                for field in [BODY, NAME] {
                    passages[field] += u64::from(posting.counts[field] > 0);
                }
            }
            passages == form.passages
        })
    }

    fn postings<'w>(&'w self, terms: &'w [i64]) -> impl Iterator<Item = &'w Posting> {
        terms.iter().flat_map(|term| self.postings.get(term).into_iter().flatten())
    }

    /// The `k` best passages of a selection, best first.
    pub(crate) fn best(&self, query: &Query, selection: &Selection, k: usize) -> Vec<LexicalHit> {
        let mut lists: Vec<(usize, &[Posting])> = Vec::new();
        for (place, form) in query.forms.iter().enumerate() {
            lists.extend(form.numbers.iter().filter_map(|term| Some((place, self.postings.get(term)?.as_slice()))));
        }
        let mut counts = vec![[0; 2]; query.forms.len()];
        let mut hits = Vec::new();
        while let Some(row) = lists.iter().filter_map(|(_, list)| Some(list.first()?.row)).min() {
            counts.fill([0; 2]);
            for (form, list) in &mut lists {
                if let Some((first, rest)) = list.split_first()
                    && first.row == row
                {
                    counts[*form] = first.counts;
                    *list = rest;
                }
            }
            if let Some(Entry { passage, document, lengths, .. }) = self.passing(row, selection) {
                let score = query.score(lengths, &counts);
                hits.extend((score.bm25 > 0.0).then_some(LexicalHit { passage: *passage, document: *document, score }));
            }
        }
        hits.sort_unstable_by(|a, b| b.score.bm25.total_cmp(&a.score.bm25).then(a.passage.cmp(&b.passage)));
        hits.truncate(k);
        hits
    }

    pub(crate) fn score(&self, query: &Query, passage: PassageId) -> LexicalScore {
        let Some(row) = self.places.get(&passage) else { return LexicalScore::default() };
        let of = |form: &Form| {
            let posting = form.numbers.iter().find_map(|term| self.posting(*term, *row));
            posting.map_or([0; 2], |posting| posting.counts)
        };
        let counts: Vec<[u32; 2]> = query.forms.iter().map(of).collect();
        query.score(&self.rows[*row as usize].lengths, &counts)
    }

    fn posting(&self, term: i64, row: u32) -> Option<&Posting> {
        let list = self.postings.get(&term)?;
        list.binary_search_by_key(&row, |posting| posting.row).ok().map(|place| &list[place])
    }

    /// The passages of a selection with all these terms in the body.
    pub(crate) fn containing(&self, terms: &[i64], selection: &Selection) -> Vec<PassageId> {
        let Some((first, rest)) = terms.split_first() else { return Vec::new() };
        let in_body = |posting: &Posting| posting.counts[BODY] > 0;
        let rows =
            self.postings(std::slice::from_ref(first)).filter(|posting| in_body(posting)).map(|posting| posting.row);
        let all = rows.filter(|row| rest.iter().all(|term| self.posting(*term, *row).is_some_and(in_body)));
        self.selected(all, selection)
    }

    /// The passages of a selection that define a symbol.
    pub(crate) fn defining(&self, name: &str, selection: &Selection) -> Vec<PassageId> {
        self.selected(self.symbols.get(name).into_iter().flatten().copied(), selection)
    }

    fn selected(&self, rows: impl Iterator<Item = u32>, selection: &Selection) -> Vec<PassageId> {
        rows.filter_map(|row| self.passing(row, selection)).map(|entry| entry.passage).collect()
    }

    /// The passage of a row if it is there and selected.
    fn passing(&self, row: u32, selection: &Selection) -> Option<&Entry> {
        let entry = &self.rows[row as usize];
        let is_listed = |listed: &Vec<i64>| listed.binary_search(&(entry.passage.0 as i64)).is_ok();
        (!entry.is_gone && selection.listed().is_none_or(is_listed)).then_some(entry)
    }
}

const COLUMNS: &Columns = &[
    ("namespace indexed", Type::TEXT),
    ("passage body_terms name_terms", Type::INT8),
    ("document", Type::INT4),
    ("terms", Type::INT8_ARRAY),
    ("body_counts name_counts", Type::INT4_ARRAY),
    ("symbols", Type::TEXT_ARRAY),
];

/// The fields of a passage that have frequencies.
const IN_BODY: i16 = 0;
const IN_NAME: i16 = 1;

/// What changes in the frequencies and totals of one namespace.
#[derive(Debug, Default)]
pub(crate) struct Difference {
    /// The passages with each term in the body and in the name.
    terms: HashMap<i64, [i64; 2]>,
    pub documents: i64,
    pub passages: i64,
    pub body_terms: i64,
    pub name_terms: i64,
}

/// Writes words, and counts them.
///
/// Words, frequencies and totals are written with the passages, in the same transaction, so searches always find them in agreement.
pub(crate) struct WordsWriter {
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
            let term = self.numbers.get(term);
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
pub(crate) struct TermNumbers {
    /// The number of the namespace, and room for a term.
    hashed: Vec<u8>,
}

impl TermNumbers {
    pub fn new(namespace: i32) -> TermNumbers {
        TermNumbers { hashed: namespace.to_le_bytes().to_vec() }
    }

    /// The number of a term.
    pub fn get(&mut self, term: &str) -> i64 {
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
        for row in query(transaction, frequencies, &[&namespace, &documents]).await? {
            self.count(row.get(0), [-row.get::<_, i64>(1), -row.get::<_, i64>(2)]);
        }
        Ok(())
    }

    /// Writes the frequencies. The totals are the caller's, who changes the namespace's row anyway.
    pub async fn write(&self, transaction: &Transaction<'_>, namespace: &str) -> Result<(), Failure> {
        let mut changed: Vec<(i64, i16, i64)> = Vec::new();
        for (term, [body, name]) in &self.terms {
            changed.extend(
                [(IN_BODY, *body), (IN_NAME, *name)]
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
            execute(transaction, statement, &[&namespace, &terms, &fields, &counts]).await?;
        }
        if self.terms.values().flatten().any(|more| *more < 0) {
            let delete = "DELETE FROM frequencies WHERE namespace = $1 AND term = ANY($2) AND passages <= 0";
            let fewer = self.terms.iter().filter(|(_, counts)| counts.iter().any(|more| *more < 0));
            let terms: Vec<i64> = fewer.map(|(term, _)| *term).collect();
            execute(transaction, delete, &[&namespace, &terms]).await?;
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
