//! The words of passages in the database. The passages that score best for a query's words are found without reading all that have one
//! of them.
//!
//! Each passage that is read gets its whole score. Rare words are read first. Of a frequent word, only those passages are read that can
//! still be among the best: the server intersects its list with those of other words, as far as the best ones found so far require
//! them. What is left out cannot have been among the best, so the answer is exact.

use std::collections::HashMap;

use deadpool_postgres::Transaction;
use tokio_postgres::types::Type;

use super::index::{WordIndex, indexed_word};
use super::{Query, index, required};
use crate::lexical::BODY;
use crate::postgres::Sizes;
use crate::postgres::failure::Failure;
use crate::postgres::select::{MOST_LISTS, Scope, Selection, Statement, WORDS, Words};
use crate::postgres::session::passage_id;
use crate::record::PassageId;
use crate::retrieval::{LexicalHit, LexicalScore};

/// Sums in another order differ a little.
const ROUNDING: f32 = 1.000_1;

/// How much more often words of a query come together than by chance. It only decides where a search begins.
const TOGETHER: f64 = 6.0;

/// Up to so many terms of a word, a condition looks for each in the names of passages.
const MOST_NAMED: usize = 4;

/// Most words of a query to the index: each form counts once for every namespace with it.
const MOST_WORDS: usize = 2_000;

/// The words of passages in the snapshot of a transaction.
pub(crate) struct WordsInDatabase<'t> {
    pub transaction: &'t Transaction<'t>,
    pub sizes: Sizes,
}

impl WordsInDatabase<'_> {
    /// The `k` best passages of a selection, best first. Where too many passages have the words, the server's index of words chooses
    /// candidates, if there is one.
    pub async fn best(&self, query: &Query, selection: &Selection, k: usize) -> Result<Vec<LexicalHit>, Failure> {
        let (transaction, sizes) = (self.transaction, self.sizes);
        let mut search = Search { transaction, query, selection, k, hits: Vec::new(), searched: Vec::new() };
        if k == 0 || query.terms.is_empty() {
            return Ok(search.hits);
        }
        let mut rest: Vec<usize> = (0..query.forms.len()).collect();
        // The passages of a short list are read anyway.
        if selection.listed().is_some() {
            search.read(&[query.numbers_of(&rest)], Besides::Nothing).await?;
            return Ok(search.hits);
        }
        rest.sort_by_key(|place| std::cmp::Reverse(query.forms[*place].frequency()));
        let few = sizes.first.max(4 * k as u64);
        let (mut has_begun, mut has_index) = (false, true);
        loop {
            let all: f32 = rest.iter().map(|place| query.forms[*place].bound()).sum();
            if rest.is_empty() || search.threshold().is_some_and(|threshold| all <= threshold) {
                return Ok(search.hits);
            }
            let cost: u64 = rest.iter().map(|place| query.forms[*place].frequency()).sum();
            if has_index && cost > sizes.many {
                let count = few as usize;
                if let Some(more) = candidates(transaction, query, &rest, selection, count).await? {
                    search.add(more);
                    return Ok(search.hits);
                }
                has_index = false;
            }
            let mut rare = Vec::new();
            let mut passages = 0;
            while let Some(place) = rest.last() {
                passages += query.forms[*place].frequency();
                if passages > few {
                    break;
                }
                rare.extend(rest.pop());
            }
            if !rare.is_empty() {
                let numbers = query.numbers_of(&rare);
                search.read(std::slice::from_ref(&numbers), Besides::Nothing).await?;
                search.searched.extend(numbers);
                continue;
            }
            if !has_begun {
                has_begun = true;
                search.begin(rest.len()).await?;
            }
            if let Some(place) = rest.pop() {
                search.frequent(place, &rest).await?;
                search.searched.extend(&query.forms[place].numbers);
            }
        }
    }

    /// The scores of passages, in the order given.
    pub async fn scores(&self, query: &Query, scope: &Scope, ids: &[PassageId]) -> Result<Vec<LexicalScore>, Failure> {
        let mut scores: HashMap<PassageId, LexicalScore> = HashMap::new();
        let numbers: Vec<i64> = ids.iter().filter_map(|id| i64::try_from(id.0).ok()).collect();
        if !query.terms.is_empty() {
            let statement = query.scored(|statement| {
                statement.push("w.namespace = ANY(").texts(&scope.namespaces);
                statement.push(") AND w.passage = ANY(").numbers(&numbers).push(")");
            });
            for row in statement.query(self.transaction).await? {
                let hit = query.hit(&row);
                scores.insert(hit.passage, hit.score);
            }
        }
        Ok(ids.iter().map(|id| scores.get(id).copied().unwrap_or_default()).collect())
    }

    /// The first passages of a selection that define a symbol, ascending.
    pub async fn defining(&self, name: &str, selection: &Selection, limit: usize) -> Result<Vec<PassageId>, Failure> {
        let names = vec![name.to_owned()];
        let mut statement = Statement::new("SELECT w.passage FROM words w WHERE ");
        selection.scope.words(&mut statement, Words::Defining(&names));
        statement.push(" AND ");
        self.first(statement, selection, limit).await
    }

    /// The first passages of a selection in a namespace with all these terms in the body, ascending.
    pub async fn containing(
        &self,
        namespace: &String,
        terms: &Vec<i64>,
        selection: &Selection,
        limit: usize,
    ) -> Result<Vec<PassageId>, Failure> {
        let mut statement = Statement::new("SELECT w.passage FROM words w WHERE w.namespace = ");
        statement.bind(namespace, Type::TEXT).push(" AND ");
        selection.scope.words(&mut statement, Words::WithAll(terms));
        // A word may be in the name alone.
        for term in terms {
            statement.push(" AND w.body_counts[array_position(w.terms, ").number(term).push(")] > 0");
        }
        statement.push(" AND ");
        self.first(statement, selection, limit).await
    }

    /// The first selected passages that a statement finds, ascending.
    async fn first<'s>(
        &self,
        mut statement: Statement<'s>,
        selection: &'s Selection,
        limit: usize,
    ) -> Result<Vec<PassageId>, Failure> {
        selection.among(&mut statement, WORDS);
        statement.push(" ORDER BY w.passage").limit(limit);
        Ok(statement.query(self.transaction).await?.iter().map(|row| passage_id(row.get(0))).collect())
    }
}

struct Search<'s> {
    transaction: &'s Transaction<'s>,
    query: &'s Query,
    selection: &'s Selection,
    k: usize,
    /// The best so far, best first, each once.
    hits: Vec<LexicalHit>,
    /// The terms whose passages have been read, or cannot be among the best.
    searched: Vec<i64>,
}

/// What passages must meet besides having words.
#[derive(Clone, Copy)]
enum Besides<'b> {
    Nothing,
    /// They have none of these terms.
    Without(&'b Vec<i64>),
    /// They have one of these terms in their name.
    Named(&'b [i64]),
}

impl Search<'_> {
    /// The score above which a passage is among the best; `None` while there are fewer than asked for.
    fn threshold(&self) -> Option<f32> {
        (self.hits.len() == self.k).then(|| self.hits.last().map_or(0.0, |worst| worst.score.bm25 / ROUNDING))
    }

    fn add(&mut self, hits: Vec<LexicalHit>) {
        self.hits.extend(hits);
        self.hits.sort_by(|a, b| b.score.bm25.total_cmp(&a.score.bm25).then(a.passage.cmp(&b.passage)));
        self.hits.dedup_by_key(|hit| hit.passage);
        self.hits.truncate(self.k);
    }

    /// Reads passages that have a term of each list and were not found by an earlier word.
    async fn read(&mut self, lists: &[Vec<i64>], besides: Besides<'_>) -> Result<(), Failure> {
        let statement = self.query.scored(|statement| {
            self.selection.scope.words(statement, Words::WithEach(lists));
            if !self.searched.is_empty() {
                statement.push(" AND NOT w.terms && ").numbers(&self.searched);
            }
            match besides {
                Besides::Nothing => {}
                Besides::Without(terms) => {
                    statement.push(" AND NOT w.terms && ").numbers(terms);
                }
                Besides::Named(terms) => {
                    for (place, term) in terms.iter().enumerate() {
                        statement.push(if place == 0 { " AND (" } else { " OR " });
                        statement.push("w.name_counts[array_position(w.terms, ").number(term).push(")] > 0");
                    }
                    statement.push(")");
                }
            }
            statement.push(" AND ");
            self.selection.among(statement, WORDS);
        });
        let rows = statement.query(self.transaction).await?;
        let hits = rows.iter().map(|row| self.query.hit(row)).filter(|hit| hit.score.bm25 > 0.0).collect();
        self.add(hits);
        Ok(())
    }

    /// Begins a search of frequent words with the passages that have several of the rarest. The best of them require so much of all
    /// others that few of those need be read.
    async fn begin(&mut self, left: usize) -> Result<(), Failure> {
        let frequency = |places: &[usize]| places.iter().map(|place| self.query.forms[*place].frequency()).sum::<u64>();
        let mut words: Vec<&[usize]> = self.query.terms.terms.iter().map(|term| term.occurring.as_slice()).collect();
        words.retain(|places| frequency(places) > 0);
        words.sort_by_key(|places| frequency(places));
        words.dedup();
        if words.len() < 3 || left < 2 {
            return Ok(());
        }
        let all = self.selection.scope.total.passages.max(1) as f64;
        let share = |places: &[usize]| (frequency(places) as f64 / all * TOGETHER).min(1.0);
        let mut expected = frequency(words[0]) as f64;
        let mut count = 1;
        while count < words.len().min(MOST_LISTS) {
            expected *= share(words[count]);
            if count >= 2 && expected < self.k as f64 {
                break;
            }
            count += 1;
        }
        let lists: Vec<Vec<i64>> = words[..count].iter().map(|places| self.query.numbers_of(places)).collect();
        self.read(&lists, Besides::Nothing).await
    }

    /// Reads the passages with a frequent word that can be among the best. `rest` are the words that come after it.
    async fn frequent(&mut self, place: usize, rest: &[usize]) -> Result<(), Failure> {
        let form = &self.query.forms[place];
        let mut others = rest.to_vec();
        others.sort_by(|a, b| self.query.forms[*b].bound().total_cmp(&self.query.forms[*a].bound()));
        let bounds: Vec<f32> = others.iter().map(|place| self.query.forms[*place].bound()).collect();
        let all = self.query.numbers_of(&others);
        let numbers = std::slice::from_ref(&form.numbers);
        let threshold = self.threshold();
        let may_suffice = |threshold: f32| threshold < form.bound() && 2.0 * threshold > form.bound();
        if threshold.is_none_or(may_suffice) && !others.is_empty() {
            // Those that have another word too may be enough.
            self.read(&[form.numbers.clone(), all.clone()], Besides::Nothing).await?;
            return match self.threshold() {
                Some(threshold) if form.bound() <= threshold => Ok(()),
                // Few passages have it in their name.
                Some(threshold) if form.bounds[BODY] <= threshold && form.numbers.len() <= MOST_NAMED => {
                    self.read(numbers, Besides::Named(&form.numbers)).await
                }
                _ => self.read(numbers, Besides::Without(&all)).await,
            };
        }
        let Some(threshold) = threshold else { return self.read(numbers, Besides::Nothing).await };
        match required(form.bound(), &bounds, threshold, MOST_LISTS - 1) {
            None => Ok(()),
            Some(ranges) => {
                let one_of = ranges.into_iter().map(|range| self.query.numbers_of(&others[range]));
                let lists: Vec<Vec<i64>> = std::iter::once(form.numbers.clone()).chain(one_of).collect();
                self.read(&lists, Besides::Nothing).await
            }
        }
    }
}

/// The `count` selected passages that the index finds best for some forms of a query's words, scored by ours; `None` without the index.
async fn candidates(
    transaction: &Transaction<'_>,
    query: &Query,
    forms: &[usize],
    selection: &Selection,
    count: usize,
) -> Result<Option<Vec<LexicalHit>>, Failure> {
    let Some(found) = index::usable(transaction, selection.scope.is_confined).await? else { return Ok(None) };
    let words: Vec<String> =
        forms.iter().flat_map(|form| &query.forms[*form].numbers).map(|number| indexed_word(*number)).collect();
    if words.len() > MOST_WORDS {
        return Ok(None);
    }
    let text = words.join(" ");
    let statement = query.scored(|statement| {
        statement.push("(w.namespace, w.passage) IN (SELECT w.namespace, w.passage FROM words w WHERE ");
        selection.among(statement, WORDS);
        statement.push(" ORDER BY w.indexed <@> ");
        if found == WordIndex::Here {
            statement.push("to_bm25query(").bind(&text, Type::TEXT).push(", ").bind(&index::NAME, Type::TEXT).push(")");
        } else {
            // Each shard takes the index that it has, which it finds for a constant alone.
            statement.push_words(&text);
        }
        statement.limit(count).push(")");
    });
    let rows = statement.query(transaction).await?;
    Ok(Some(rows.iter().map(|row| query.hit(row)).filter(|hit| hit.score.bm25 > 0.0).collect()))
}
