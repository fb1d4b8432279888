//! The words of small namespaces in memory. Many searches of one namespace read them from the database once.

use std::collections::{HashMap, HashSet};

use deadpool_postgres::Transaction;
use tokio_postgres::Row;

use super::super::error::Failure;
use super::super::resident::Content;
use super::super::rows::{document_id, passage_id};
use super::super::scope::Scope;
use super::super::select::Selection;
use super::super::statement::Statement;
use super::query::{Form, Query, lengths};
use crate::hits::{LexicalHit, LexicalScore};
use crate::lexical::{BODY, NAME};
use crate::record::{DocumentId, PassageId};

/// Passages read at once.
const BATCH: usize = 2_000;

/// The namespaces that the words are of.
pub(in super::super) type Key = Vec<String>;

/// The words of some namespaces.
#[derive(Debug, Default)]
pub(in super::super) struct WordsInMemory {
    /// Each passage, and those that are gone.
    rows: Vec<Entry>,
    /// The row of each passage that is there.
    places: HashMap<PassageId, u32>,
    /// The passages with each term, ascending by row.
    postings: HashMap<i64, Vec<Posting>>,
    /// The rows that define each symbol.
    symbols: HashMap<String, Vec<u32>>,
    /// The number of postings.
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

impl Content for WordsInMemory {
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
    pub(super) fn agree(&self, query: &Query) -> bool {
        query.forms.iter().all(|form| {
            let mut passages = [0; 2];
            for posting in self.of(&form.numbers).filter(|posting| !self.rows[posting.row as usize].is_gone) {
                for field in [BODY, NAME] {
                    passages[field] += u64::from(posting.counts[field] > 0);
                }
            }
            passages == form.passages
        })
    }

    fn of<'w>(&'w self, terms: &'w [i64]) -> impl Iterator<Item = &'w Posting> {
        terms.iter().flat_map(|term| self.postings.get(term).into_iter().flatten())
    }

    /// The `k` best passages of a selection, best first.
    pub(super) fn best(&self, query: &Query, selection: &Selection, k: usize) -> Vec<LexicalHit> {
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

    /// The score of a passage.
    pub(super) fn score(&self, query: &Query, passage: PassageId) -> LexicalScore {
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
    pub(super) fn containing(&self, terms: &[i64], selection: &Selection) -> Vec<PassageId> {
        let Some((first, rest)) = terms.split_first() else { return Vec::new() };
        let in_body = |posting: &Posting| posting.counts[BODY] > 0;
        let rows = self.of(std::slice::from_ref(first)).filter(|posting| in_body(posting)).map(|posting| posting.row);
        let all = rows.filter(|row| rest.iter().all(|term| self.posting(*term, *row).is_some_and(in_body)));
        self.selected(all, selection)
    }

    /// The passages of a selection that define a symbol.
    pub(super) fn defining(&self, name: &str, selection: &Selection) -> Vec<PassageId> {
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
