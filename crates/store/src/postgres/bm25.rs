//! A query's words in the database: how many passages have them, and what they score.

use std::collections::HashMap;

use deadpool_postgres::Transaction;
use tantivy::fieldnorm::FieldNormReader;
use tokio_postgres::Row;

use super::error::Failure;
use super::scope::Scope;
use super::select::{document, passage};
use super::statement::Statement;
use crate::hits::{LexicalHit, LexicalScore};
use crate::lexical::{BODY, CountedWord, MAX_WORDS, NAME, PreparedTerms, query_words};

/// Up to this many forms are each sought among the terms of a passage, which is quicker than going through its terms.
const MOST_SOUGHT: usize = 12;

/// A query of some namespaces.
pub(super) struct Query {
    /// Its terms, with the places of their forms.
    pub terms: PreparedTerms<Vec<usize>>,
    /// Each form that occurs, once.
    pub forms: Vec<Form>,
    /// Their spellings, in the same order.
    pub spellings: Vec<String>,
}

/// A form of a word.
pub(super) struct Form {
    /// The passages with it in each field.
    passages: [u64; 2],
    /// The most that it adds to a score.
    pub bound: f32,
}

impl Form {
    /// The passages with it, at least.
    pub fn frequency(&self) -> u64 {
        self.passages[BODY].max(self.passages[NAME])
    }
}

impl Query {
    /// Looks up a query's words.
    pub async fn prepare(transaction: &Transaction<'_>, text: &str, scope: &Scope) -> Result<Query, Failure> {
        let words = query_words(text, MAX_WORDS);
        let mut asked: Vec<String> = words.iter().flat_map(|word| word.forms().map(str::to_owned)).collect();
        asked.sort_unstable();
        asked.dedup();
        let mut counted: HashMap<String, [u64; 2]> = HashMap::new();
        if !asked.is_empty() {
            let mut statement =
                Statement::new("SELECT term, field, sum(passages)::bigint FROM frequencies WHERE namespace = ANY(");
            statement.texts(&scope.namespaces).push(") AND term = ANY(").texts(&asked).push(") GROUP BY term, field");
            for row in statement.query(transaction).await? {
                let field = if row.get::<_, i16>(1) == 0 { BODY } else { NAME };
                counted.entry(row.get(0)).or_default()[field] += row.get::<_, i64>(2) as u64;
            }
        }
        let words = words.into_iter().map(|word| {
            // A passage is either code or prose and holds one of the forms, so their frequencies add up.
            let mut passages = [0u64; 2];
            let mut occurring = Vec::new();
            for form in word.forms() {
                if let Some(counts) = counted.get(form).filter(|counts| **counts != [0, 0]) {
                    passages.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
                    occurring.push(form.to_owned());
                }
            }
            CountedWord { word, passages, occurring }
        });
        let terms = PreparedTerms::new(words.collect(), scope.total);
        Ok(Query::with_places(terms, &counted))
    }

    /// Numbers the forms.
    fn with_places(terms: PreparedTerms<Vec<String>>, counted: &HashMap<String, [u64; 2]>) -> Query {
        let (mut forms, mut spellings): (Vec<Form>, Vec<String>) = (Vec::new(), Vec::new());
        let terms = terms.map(|occurring, weights| {
            let mut places = Vec::with_capacity(occurring.len());
            for spelling in occurring {
                let place = spellings.iter().position(|known| *known == spelling).unwrap_or_else(|| {
                    let passages = counted.get(&spelling).copied().unwrap_or_default();
                    spellings.push(spelling);
                    forms.push(Form { passages, bound: 0.0 });
                    forms.len() - 1
                });
                let form = &mut forms[place];
                let occurs = weights.iter().zip(form.passages).filter(|(_, passages)| *passages > 0);
                form.bound +=
                    occurs.filter_map(|(weight, _)| weight.as_ref()).map(|weight| weight.max_score()).sum::<f32>();
                places.push(place);
            }
            places
        });
        Query { terms, forms, spellings }
    }

    /// Adds the columns from which [`hit`](Query::hit) scores `words w`, and begins its conditions.
    pub fn scored<'q>(&'q self, statement: &mut Statement<'q>) {
        statement.push(
            "SELECT w.passage, w.document, w.body_terms, w.name_terms, m.places, m.bodies, m.names FROM words w CROSS JOIN LATERAL (",
        );
        if self.forms.len() <= MOST_SOUGHT {
            statement.push(
                "SELECT array_agg(f.form), array_agg(w.body_counts[f.place]), array_agg(w.name_counts[f.place]) FROM (\
                 SELECT form::integer, array_position(w.terms, spelling) AS place FROM unnest(",
            );
            statement.texts(&self.spellings);
            statement.push(") WITH ORDINALITY AS a(spelling, form) OFFSET 0) AS f WHERE f.place IS NOT NULL");
        } else {
            statement.push("SELECT array_agg(array_position(").texts(&self.spellings);
            statement.push(
                ", u.term)), array_agg(u.body), array_agg(u.name) \
                 FROM unnest(w.terms, w.body_counts, w.name_counts) AS u(term, body, name) WHERE u.term = ANY(",
            );
            statement.texts(&self.spellings).push(")");
        }
        statement.push(") AS m(places, bodies, names) WHERE ");
    }

    /// The score of a row.
    pub fn hit(&self, row: &Row) -> LexicalHit {
        let lengths = [row.get::<_, i64>(2), row.get::<_, i64>(3)];
        let lengths = lengths.map(|length| FieldNormReader::fieldnorm_to_id(u32::try_from(length).unwrap_or(u32::MAX)));
        let mut counts = vec![[0u32; 2]; self.forms.len()];
        let columns = [4, 5, 6].map(|column| row.get::<_, Option<Vec<i32>>>(column).unwrap_or_default());
        let [places, bodies, names] = columns;
        for ((place, body), name) in places.into_iter().zip(bodies).zip(names) {
            if let Some(counts) = counts.get_mut((place - 1) as usize) {
                *counts = [body as u32, name as u32];
            }
        }
        LexicalHit {
            passage: passage(row.get(0)),
            document: document(row.get(1)),
            score: self.score(&lengths, &counts),
        }
    }

    /// Adds up the terms in query order, as every store does.
    fn score(&self, lengths: &[u8; 2], counts: &[[u32; 2]]) -> LexicalScore {
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
