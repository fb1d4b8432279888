//! A query's words: how many passages have them, and what they score.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use deadpool_postgres::Transaction;
use tantivy::fieldnorm::FieldNormReader;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::super::error::Failure;
use super::super::rows::{document_id, passage_id};
use super::super::scope::Scope;
use super::super::statement::Statement;
use super::writer::TermNumbers;
use crate::hits::{LexicalHit, LexicalScore};
use crate::lexical::{BODY, CountedWord, MAX_WORDS, NAME, PreparedTerms, query_words};

/// Up to this many terms are each sought among those of a passage, which is quicker than going through all of them.
const MOST_SOUGHT: usize = 12;

/// A query of some namespaces.
pub(super) struct Query {
    /// Its terms, with the places of their forms.
    pub terms: PreparedTerms<Vec<usize>>,
    /// Each form that occurs, once.
    pub forms: Vec<Form>,
    /// The numbers of all forms.
    numbers: Vec<i64>,
    /// The place of the form that has a number.
    places: HashMap<i64, usize>,
}

/// A form of a word that occurs.
#[derive(Default)]
pub(super) struct Form {
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
pub(super) fn lengths(row: &Row) -> [u8; 2] {
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
            let term = term_numbers.of(spelling);
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
