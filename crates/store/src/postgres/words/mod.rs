//! Searching by words: BM25 with the statistics of the namespaces searched, computed here.
//!
//! A [`Query`] looks up its words and scores. Words of small namespaces that are searched often are kept `in_memory`, all others are sought
//! `in_database`, where [`required`] keeps frequent words cheap and the server's `index` of words helps.

mod in_database;
pub(crate) mod in_memory;
pub(crate) mod index;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use deadpool_postgres::Transaction;
use tantivy::fieldnorm::FieldNormReader;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::failure::Failure;
use super::select::{Scope, Selection, Statement};
use super::session::{document_id, passage_id};
use super::{Held, PostgresStore, Retrievers};
use crate::content::{settle, with_spare};
use crate::error::Result;
use crate::filter::Filter;
use crate::lexical::{
    BODY, CountedWord, MAX_WORDS, MOST_CONTAINED_WORDS, NAME, PreparedTerms, query_words, text_terms,
};
use crate::record::PassageId;
use crate::retrieval::{LexicalHit, LexicalHits, LexicalQuery, LexicalScore};
use crate::store::LexicalRetriever;
use in_database::WordsInDatabase;
use in_memory::{TermNumbers, WordsInMemory};

impl LexicalRetriever for PostgresStore {
    fn lexical(&self, query: &LexicalQuery, filter: &Filter, k: usize) -> Result<LexicalHits> {
        let mut found = self.connections.read_of(&filter.namespaces, async |transaction| {
            let selection = self.retrievers.selection(transaction, filter).await?;
            let query = Query::prepare(transaction, &query.text, &selection.scope).await?;
            let words = Words::of(&self.retrievers, transaction, &selection.scope, Some(&query)).await?;
            let hits = words.best(&query, &selection, with_spare(k)).await?;
            let mut statistics = query.terms.statistics();
            statistics.passages = selection.count;
            Ok(LexicalHits { hits, statistics })
        })?;
        settle(self, &filter.namespaces, &mut found.hits, k)?;
        Ok(found)
    }

    fn bm25(&self, query: &LexicalQuery, filter: &Filter, ids: &[PassageId]) -> Result<Vec<LexicalScore>> {
        self.connections.read_of(&filter.namespaces, async |transaction| {
            let scope = Scope::read(transaction, filter).await?;
            let query = Query::prepare(transaction, &query.text, &scope).await?;
            match Words::of(&self.retrievers, transaction, &scope, Some(&query)).await? {
                Words::InMemory(words) => Ok(ids.iter().map(|id| words.score(&query, *id)).collect()),
                Words::InDatabase(words) => words.scores(&query, &scope, ids).await,
            }
        })
    }

    fn defining(&self, name: &str, filter: &Filter, limit: usize) -> Result<Vec<PassageId>> {
        self.connections.read_of(&filter.namespaces, async |transaction| {
            let selection = self.retrievers.selection(transaction, filter).await?;
            if name.contains('\0') {
                return Ok(Vec::new());
            }
            match Words::of(&self.retrievers, transaction, &selection.scope, None).await? {
                Words::InMemory(words) => Ok(ascending(words.defining(name, &selection), limit)),
                Words::InDatabase(words) => words.defining(name, &selection, limit).await,
            }
        })
    }

    fn containing(&self, text: &str, filter: &Filter, limit: usize) -> Result<Vec<PassageId>> {
        let terms = text_terms(text, MOST_CONTAINED_WORDS);
        self.connections.read_of(&filter.namespaces, async |transaction| {
            let selection = self.retrievers.selection(transaction, filter).await?;
            let mut found = Vec::new();
            if terms.is_empty() {
                return Ok(found);
            }
            let words = Words::of(&self.retrievers, transaction, &selection.scope, None).await?;
            // Each namespace has numbers of its own for the terms.
            for (namespace, (number, _)) in selection.scope.namespaces.iter().zip(&selection.scope.state) {
                let mut numbers = TermNumbers::new(*number);
                let terms: Vec<i64> = terms.iter().map(|term| numbers.get(term)).collect();
                found.extend(match &words {
                    Words::InMemory(words) => words.containing(&terms, &selection),
                    Words::InDatabase(words) => words.containing(namespace, &terms, &selection, limit).await?,
                });
            }
            Ok(ascending(found, limit))
        })
    }
}

enum Words<'t> {
    InMemory(Held<WordsInMemory>),
    InDatabase(WordsInDatabase<'t>),
}

impl<'t> Words<'t> {
    /// Takes the words of small namespaces from memory. Those of large ones are left to the database, and those that are not in memory
    /// and not searched often enough. Words that do not agree with what the database says of a query's are forgotten.
    async fn of(
        retrievers: &Retrievers,
        transaction: &'t Transaction<'t>,
        scope: &Scope,
        query: Option<&Query>,
    ) -> Result<Words<'t>, Failure> {
        let (words, key) = (&retrievers.words, &scope.namespaces);
        let is_kept = || words.has(key) || (query.is_some() && words.is_missed(key.clone(), retrievers.sizes.patience));
        if scope.total.passages as usize <= retrievers.sizes.few && is_kept() {
            let catch_up = async |known| WordsInMemory::catch_up(transaction, scope, known).await;
            let held = words.hold(key.clone(), &scope.state, catch_up).await?;
            if query.is_none_or(|query| held.agree(query)) {
                return Ok(Words::InMemory(held));
            }
            drop(held);
            words.forget(key);
        }
        Ok(Words::InDatabase(WordsInDatabase { transaction, sizes: retrievers.sizes }))
    }

    /// The `k` best passages of a selection, best first.
    async fn best(&self, query: &Query, selection: &Selection, k: usize) -> Result<Vec<LexicalHit>, Failure> {
        match self {
            Words::InMemory(words) => Ok(words.best(query, selection, k)),
            Words::InDatabase(words) => words.best(query, selection, k).await,
        }
    }
}

/// The first passages, ascending.
fn ascending(mut passages: Vec<PassageId>, limit: usize) -> Vec<PassageId> {
    passages.sort_unstable();
    passages.truncate(limit);
    passages
}

/// Up to this many terms are each sought among those of a passage, which is quicker than going through all of them.
const MOST_SOUGHT: usize = 12;

pub(crate) struct Query {
    /// Its terms, with the places of their forms.
    pub terms: PreparedTerms<Vec<usize>>,
    /// Each form that occurs, once.
    pub forms: Vec<Form>,
    numbers: Vec<i64>,
    /// The place of the form that has a number.
    places: HashMap<i64, usize>,
}

/// A form of a word that occurs.
#[derive(Default)]
pub(crate) struct Form {
    /// Its numbers in the namespaces where it occurs.
    pub numbers: Vec<i64>,
    /// The passages with it in each field.
    pub passages: [u64; 2],
    /// The most that it adds to a score in each field.
    pub bounds: [f32; 2],
}

impl Form {
    /// The passages with it, at least.
    pub fn frequency(&self) -> u64 {
        self.passages[BODY].max(self.passages[NAME])
    }

    /// The most that it adds to a score.
    pub fn bound(&self) -> f32 {
        self.bounds.iter().sum()
    }
}

impl Query {
    /// Looks up a query's words.
    pub async fn prepare(transaction: &Transaction<'_>, text: &str, scope: &Scope) -> Result<Query, Failure> {
        let words = query_words(text, MAX_WORDS);
        let asked: BTreeSet<&str> = words.iter().flat_map(|word| word.forms()).collect();
        let counted = count(transaction, scope, &asked).await?;
        let (spellings, mut forms): (Vec<String>, Vec<Form>) =
            counted.into_iter().map(|(spelling, form)| (spelling.to_owned(), form)).unzip();
        let words = words.into_iter().map(|word| {
            // A passage is either code or prose and holds one of the forms, so their frequencies add up.
            let mut passages = [0u64; 2];
            let mut occurring = Vec::new();
            for form in word.forms() {
                if let Ok(place) = spellings.binary_search_by(|known| known.as_str().cmp(form)) {
                    passages.iter_mut().zip(forms[place].passages).for_each(|(sum, count)| *sum += count);
                    occurring.push(place);
                }
            }
            CountedWord { word, passages, occurring }
        });
        let terms = PreparedTerms::new(words.collect(), scope.total);
        for term in &terms.terms {
            for place in &term.occurring {
                let form = &mut forms[*place];
                for field in [BODY, NAME].into_iter().filter(|field| form.passages[*field] > 0) {
                    form.bounds[field] += term.weights[field].as_ref().map_or(0.0, |weight| weight.max_score());
                }
            }
        }
        let places: HashMap<i64, usize> = forms
            .iter()
            .enumerate()
            .flat_map(|(place, form)| form.numbers.iter().map(move |number| (*number, place)))
            .collect();
        Ok(Query { terms, numbers: places.keys().copied().collect(), forms, places })
    }

    /// The numbers of the forms at these places.
    pub fn numbers_of(&self, places: &[usize]) -> Vec<i64> {
        places.iter().flat_map(|place| &self.forms[*place].numbers).copied().collect()
    }

    /// Makes a statement that reads what [`hit`](Query::hit) scores, of the rows of `words w` that meet the conditions.
    pub fn scored<'q>(&'q self, conditions: impl FnOnce(&mut Statement<'q>)) -> Statement<'q> {
        if self.numbers.is_empty() || self.numbers.len() > MOST_SOUGHT {
            let mut statement = Statement::new(
                "SELECT w.passage, w.document, w.body_terms, w.name_terms, m.bodies, m.names, m.terms FROM words w CROSS JOIN LATERAL (\
                 SELECT array_agg(u.body), array_agg(u.name), array_agg(u.term) \
                 FROM unnest(w.terms, w.body_counts, w.name_counts) AS u(term, body, name) WHERE u.term = ANY(",
            );
            statement.numbers(&self.numbers).push(")) AS m(bodies, names, terms) WHERE ");
            conditions(&mut statement);
            return statement;
        }
        let mut statement = Statement::new("SELECT w.passage, w.document, w.body_terms, w.name_terms");
        for counts in ["w.body_counts[w.place_", "w.name_counts[w.place_"] {
            statement.push(", ARRAY[");
            for place in 0..self.numbers.len() {
                statement.push(if place > 0 { ", " } else { "" }).push(counts).push_number(place as u32).push("]");
            }
            statement.push("]");
        }
        // Each place is looked up once, before its counts are.
        statement.push(" FROM (SELECT w.passage, w.document, w.body_terms, w.name_terms, w.body_counts, w.name_counts");
        for (place, number) in self.numbers.iter().enumerate() {
            statement.push(", array_position(w.terms, ").number(number).push(") AS place_").push_number(place as u32);
        }
        statement.push(" FROM words w WHERE ");
        conditions(&mut statement);
        statement.push(" OFFSET 0) AS w");
        statement
    }

    /// The score of a row.
    pub fn hit(&self, row: &Row) -> LexicalHit {
        let [bodies, names] = [4, 5].map(|column| row.get::<_, Option<Vec<Option<i32>>>>(column).unwrap_or_default());
        let found = if row.len() > 6 { row.get(6) } else { None::<Vec<i64>> };
        let terms = if row.len() > 6 { found.as_deref().unwrap_or_default() } else { &self.numbers };
        let mut counts = vec![[0u32; 2]; self.forms.len()];
        for ((term, body), name) in terms.iter().zip(bodies).zip(names) {
            if let (Some(place), Some(body), Some(name)) = (self.places.get(term), body, name) {
                counts[*place] = [body as u32, name as u32];
            }
        }
        LexicalHit {
            passage: passage_id(row.get(0)),
            document: document_id(row.get(1)),
            score: self.score(&lengths(row), &counts),
        }
    }

    /// The score of a passage with these lengths and counts of each form. Adds up the terms in query order, as every store does.
    pub fn score(&self, lengths: &[u8; 2], counts: &[[u32; 2]]) -> LexicalScore {
        let mut score = LexicalScore::default();
        for term in &self.terms.terms {
            let mut matched = false;
            for field in [BODY, NAME] {
                let Some(weight) = &term.weights[field] else { continue };
                for place in &term.occurring {
                    let count = counts[*place][field];
                    if count > 0 {
                        score.bm25 += weight.score(lengths[field], count);
                        matched = true;
                    }
                }
            }
            if matched {
                score.coverage += term.share;
            }
        }
        score.coverage = self.terms.coverage(score.coverage);
        score
    }
}

/// The lengths of the two fields as they count for scores, from the columns 2 and 3 of a row.
pub(crate) fn lengths(row: &Row) -> [u8; 2] {
    [2, 3].map(|column| {
        let length = u32::try_from(row.get::<_, i64>(column)).unwrap_or(u32::MAX);
        FieldNormReader::fieldnorm_to_id(length)
    })
}

/// The forms that occur in the namespaces, by their spelling.
async fn count<'w>(
    transaction: &Transaction<'_>,
    scope: &Scope,
    asked: &BTreeSet<&'w str>,
) -> Result<BTreeMap<&'w str, Form>, Failure> {
    let mut counted: BTreeMap<&str, Form> = BTreeMap::new();
    let (mut namespaces, mut numbers): (Vec<&str>, Vec<i64>) = (Vec::new(), Vec::new());
    let mut spellings: HashMap<i64, &str> = HashMap::new();
    for (namespace, (number, _)) in scope.namespaces.iter().zip(&scope.state) {
        let mut term_numbers = TermNumbers::new(*number);
        for spelling in asked {
            let term = term_numbers.get(spelling);
            namespaces.push(namespace);
            numbers.push(term);
            spellings.insert(term, spelling);
        }
    }
    if numbers.is_empty() {
        return Ok(counted);
    }
    let mut statement = Statement::new("SELECT f.term, f.field, f.passages FROM unnest(");
    statement.bind(&namespaces, Type::TEXT_ARRAY).push(", ").numbers(&numbers);
    statement.push(
        ") AS a(namespace, term) JOIN frequencies f ON f.namespace = a.namespace AND f.term = a.term WHERE f.namespace = ANY(",
    );
    statement.texts(&scope.namespaces).push(")");
    if scope.namespaces.len() == 1 {
        // Otherwise the server may read all frequencies of a namespace that it takes for small.
        statement.push(" AND f.term = ANY(").numbers(&numbers).push(")");
    }
    for row in statement.query(transaction).await? {
        let number: i64 = row.get(0);
        let Some(spelling) = spellings.get(&number) else { continue };
        let form = counted.entry(spelling).or_default();
        form.passages[if row.get::<_, i16>(1) == 0 { BODY } else { NAME }] += row.get::<_, i64>(2) as u64;
        if !form.numbers.contains(&number) {
            form.numbers.push(number);
        }
    }
    Ok(counted)
}

/// The words of which a passage must have some besides one word, to score above `threshold`: at least one of each range of `others`. No
/// range if that word may suffice, `None` if all of them do not.
///
/// `bound` is the most that the word adds to a score, and `others` are those of the other words, descending. At most `most` ranges come
/// back. A passage that meets them may still score less.
///
/// The principle is that of MaxScore: passages that have only words of little weight need not be searched for (Turtle and Flood, "Query
/// evaluation: strategies and optimizations", Information Processing and Management 31, 1995). Here it is applied to the words that come
/// with another one, so that the server intersects their lists.
pub(crate) fn required(bound: f32, others: &[f32], threshold: f32, most: usize) -> Option<Vec<Range<usize>>> {
    let mut needed = threshold - bound;
    let mut ranges = Vec::new();
    for (first, greatest) in others.iter().enumerate() {
        if needed < 0.0 || ranges.len() == most {
            return Some(ranges);
        }
        // With the greatest ones before it, a passage still needs one that the smallest together cannot replace.
        let mut smallest = 0.0;
        let mut end = others.len();
        while end > first && smallest + others[end - 1] <= needed {
            smallest += others[end - 1];
            end -= 1;
        }
        if end == first {
            return None;
        }
        ranges.push(first..end);
        needed -= greatest;
    }
    (needed < 0.0).then_some(ranges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn examples_by_hand() {
        let of_two = |threshold: f32| {
            let ranges = required(5.0, &[3.0, 2.0], threshold, 3)?;
            Some(ranges.into_iter().map(|range| (range.start, range.end)).collect::<Vec<_>>())
        };
        assert_eq!(of_two(4.0), Some(vec![]), "the word suffices");
        assert_eq!(of_two(6.0), Some(vec![(0, 2)]), "any other will do");
        assert_eq!(of_two(7.0), Some(vec![(0, 1)]), "the second is too little");
        assert_eq!(of_two(8.0), Some(vec![(0, 1), (1, 2)]), "it takes both");
        assert_eq!(of_two(10.0), None);
        assert_eq!(required(5.0, &[], 6.0, 3), None);
    }

    proptest! {
        #[test]
        fn whatever_passes_has_what_is_required(
            bound in 0u8..20,
            mut others in prop::collection::vec(1u8..20, 0..7),
            threshold in 0u8..60,
            most in 1usize..4,
        ) {
            others.sort_unstable_by(|a, b| b.cmp(a));
            let bounds: Vec<f32> = others.iter().copied().map(f32::from).collect();
            let required = required(f32::from(bound), &bounds, f32::from(threshold), most);
            for has in 0..1_u32 << others.len() {
                let has = |place: &usize| has >> place & 1 == 1;
                let score: f32 = f32::from(bound) + (0..bounds.len()).filter(has).map(|place| bounds[place]).sum::<f32>();
                if score > f32::from(threshold) {
                    let ranges = required.as_ref().expect("something passes");
                    prop_assert!(ranges.iter().all(|range| range.clone().any(|place| has(&place))), "{ranges:?}");
                }
            }
        }
    }
}
