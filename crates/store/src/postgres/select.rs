//! Filters resolved against the database: the namespaces that a call concerns, conditions in SQL, and statements that are put together.

use std::fmt::Write;
use std::sync::OnceLock;

use deadpool_postgres::Transaction;
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use super::Sizes;
use super::failure::Failure;
use super::session::{document_id, passage_id};
use crate::filter::{DAY_NS, DateBound, DateRange, Filter, PathGlobs, SymbolPatterns, folded};
use crate::lexical::Lengths;
use crate::record::PassageRef;

/// A filter, resolved.
#[derive(Debug)]
pub(crate) struct Selection {
    pub scope: Scope,
    passing: Passing,
    /// The number of passages that pass.
    pub count: u64,
    /// A sample of a large selection, chosen on first use.
    pub sample: OnceLock<Vec<i64>>,
}

#[derive(Debug)]
enum Passing {
    /// All of the namespaces.
    All,
    /// These, ascending.
    Listed(Vec<i64>),
    /// More than are worth listing.
    Meeting(Box<Condition>),
}

/// The columns of a table that name a passage.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key {
    pub namespace: &'static str,
    pub passage: &'static str,
    pub document: &'static str,
}

/// The key of a passage in `words w`.
pub(crate) const WORDS: Key = Key { namespace: "w.namespace", passage: "w.passage", document: "w.document" };
/// The key of a passage in `passages q`.
pub(crate) const STORED: Key = Key { namespace: "q.namespace", passage: "q.passage", document: "q.document" };

impl Selection {
    /// Returns `true` if a passage's namespace decides whether it passes.
    pub fn is_by_namespace(&self) -> bool {
        matches!(self.passing, Passing::All)
    }

    /// The passages, ascending, if they are few enough to be listed.
    pub fn listed(&self) -> Option<&Vec<i64>> {
        match &self.passing {
            Passing::Listed(passages) => Some(passages),
            _ => None,
        }
    }

    /// Adds the condition that a passage is of the namespaces and passes.
    pub fn among<'s>(&'s self, statement: &mut Statement<'s>, key: Key) {
        statement.push(key.namespace).push(" = ANY(").texts(&self.scope.namespaces).push(")");
        match &self.passing {
            Passing::All => {}
            Passing::Listed(passages) => {
                statement.push(" AND ").push(key.passage).push(" = ANY(").numbers(passages).push(")");
            }
            Passing::Meeting(condition) => {
                if let Some(documents) = &condition.documents {
                    // The sum keeps the server from looking each number up in an index, which takes longer for a long list.
                    statement.push(" AND ").push(key.document).push(" + 0 = ANY(");
                    statement.bind(documents, Type::INT4_ARRAY).push(")");
                    if condition.is_of_documents() {
                        return;
                    }
                }
                statement.push(" AND EXISTS (SELECT 1 FROM ").push(PASSAGES).push(" WHERE p.namespace = ");
                statement.push(key.namespace).push(" AND p.passage = ").push(key.passage).push(" AND ");
                match &condition.documents {
                    Some(_) => condition.besides_documents(statement),
                    None => condition.of_passages(statement),
                }
                statement.push(")");
            }
        }
    }
}

/// All passages that pass a filter, ascending.
pub(crate) async fn select(transaction: &Transaction<'_>, filter: &Filter) -> Result<Vec<PassageRef>, Failure> {
    let scope = Scope::read(transaction, filter).await?;
    let selection = resolve(transaction, filter, scope, Sizes::default()).await?;
    let mut statement = Statement::new("SELECT q.passage, q.document FROM passages q WHERE ");
    selection.among(&mut statement, STORED);
    statement.push(" ORDER BY q.passage");
    let rows = statement.query(transaction).await?;
    Ok(rows
        .iter()
        .map(|row| PassageRef { passage: passage_id(row.get(0)), document: document_id(row.get(1)) })
        .collect())
}

pub(crate) async fn resolve(
    transaction: &Transaction<'_>,
    filter: &Filter,
    scope: Scope,
    sizes: Sizes,
) -> Result<Selection, Failure> {
    let globs = PathGlobs::new(&filter.path_globs)?;
    let selection = |scope: Scope, passing, count| Selection { scope, passing, count, sample: OnceLock::new() };
    if filter.is_by_namespace() {
        let count = scope.total.passages;
        return Ok(selection(scope, Passing::All, count));
    }
    let Some(filter) = storable(filter) else {
        return Ok(selection(scope, Passing::Listed(Vec::new()), 0));
    };
    let mut condition = Condition::new(&filter, &scope);
    if !filter.path_globs.is_empty() {
        condition.documents = Some(documents(transaction, &condition, &globs).await?);
    }
    let found = if filter.symbols.is_empty() {
        let mut statement = Statement::new("SELECT p.passage FROM ");
        statement.push(PASSAGES).push(" WHERE ");
        condition.of_passages(&mut statement);
        statement.limit(sizes.few + 1);
        let rows = statement.query(transaction).await?;
        rows.iter().map(|row| row.get(0)).collect()
    } else {
        passages_of_symbols(transaction, &condition, &filter.symbols).await?
    };
    let all = scope.total.passages;
    if found.len() as u64 == all {
        return Ok(selection(scope, Passing::All, all));
    }
    // Names are compared here, so their passages are listed however many they are.
    if found.len() <= sizes.few || !filter.symbols.is_empty() {
        let mut found: Vec<i64> = found;
        found.sort_unstable();
        let count = found.len() as u64;
        return Ok(selection(scope, Passing::Listed(found), count));
    }
    let count = {
        let mut statement = Statement::new("SELECT count(*) FROM ");
        statement.push(PASSAGES).push(" WHERE ");
        condition.of_passages(&mut statement);
        statement.count(transaction).await?
    };
    let passing = if count == all { Passing::All } else { Passing::Meeting(Box::new(condition)) };
    Ok(selection(scope, passing, count))
}

/// The filter without values that the database cannot hold, and so has not; `None` if nothing passes.
fn storable(filter: &Filter) -> Option<Filter> {
    let mut filter = filter.clone();
    let lists = [&mut filter.collections, &mut filter.languages, &mut filter.kinds, &mut filter.roles]
        .into_iter()
        .chain([&mut filter.symbols, &mut filter.authors])
        .chain(filter.attributes.iter_mut().map(|condition| &mut condition.any_of));
    for list in lists {
        let asked = !list.is_empty();
        list.retain(|value| !value.contains('\0'));
        if asked && list.is_empty() {
            return None;
        }
    }
    filter.attributes.iter().all(|condition| !condition.name.contains('\0')).then_some(filter)
}

/// The documents whose paths match, of those that are asked for otherwise.
async fn documents(
    transaction: &Transaction<'_>,
    condition: &Condition,
    globs: &PathGlobs,
) -> Result<Vec<i32>, Failure> {
    let mut statement = Statement::new("SELECT d.document, d.path FROM documents d WHERE ");
    condition.of_documents(&mut statement);
    let rows = statement.query(transaction).await?;
    let mut documents: Vec<i32> = rows.iter().filter(|row| globs.matches(row.get(1))).map(|row| row.get(0)).collect();
    documents.sort_unstable();
    Ok(documents)
}

/// The passages whose symbol has one of these names.
async fn passages_of_symbols(
    transaction: &Transaction<'_>,
    condition: &Condition,
    names: &[String],
) -> Result<Vec<i64>, Failure> {
    let patterns = SymbolPatterns::new(names);
    // Every name that a pattern matches holds it, without its asterisk.
    let parts: Vec<&str> = names.iter().map(|name| name.trim().trim_end_matches('*')).collect();
    let mut statement = Statement::new("SELECT p.passage, p.symbol FROM ");
    statement.push(PASSAGES).push(" WHERE p.symbol IS NOT NULL AND EXISTS (SELECT 1 FROM unnest(");
    statement.bind(&parts, Type::TEXT_ARRAY).push(") AS part WHERE strpos(p.symbol, part) > 0) AND ");
    condition.of_passages(&mut statement);
    let rows = statement.query(transaction).await?;
    Ok(rows.iter().filter(|row| patterns.matches(row.get(1))).map(|row| row.get(0)).collect())
}

/// The tables that a condition is on.
const PASSAGES: &str = "passages p JOIN documents d ON d.namespace = p.namespace AND d.document = p.document";

/// The date of a passage: its own, else its document's, else that of its file.
const DATE: &str = "coalesce(p.dated_ns, d.dated_ns, nullif(d.modified_ns, 0))";

/// What a filter asks of passages and their documents. Globs and names of symbols are not among it: the globs have become numbers
/// of documents, and names of symbols are compared outside the server.
#[derive(Debug, Clone, Default)]
struct Condition {
    filter: Filter,
    namespaces: Vec<String>,
    ids: Vec<i64>,
    /// The authors with their case folded.
    authors: Vec<String>,
    /// The values of each attribute with their case folded.
    attributes: Vec<(String, Vec<String>)>,
    /// The documents whose paths match; `None` without globs.
    pub documents: Option<Vec<i32>>,
}

impl Condition {
    pub fn new(filter: &Filter, scope: &Scope) -> Condition {
        let folded = |values: &[String]| values.iter().map(|value| folded(value)).collect::<Vec<String>>();
        Condition {
            namespaces: scope.namespaces.clone(),
            ids: filter.ids.iter().map(|id| i64::try_from(id.0).unwrap_or(-1)).collect(),
            authors: folded(&filter.authors),
            attributes: filter.attributes.iter().map(|one| (one.name.clone(), folded(&one.any_of))).collect(),
            documents: None,
            filter: filter.clone(),
        }
    }

    /// Adds what is asked of documents alone, on `d`.
    pub fn of_documents<'c>(&'c self, statement: &mut Statement<'c>) {
        statement.push("d.namespace = ANY(").texts(&self.namespaces).push(")");
        if !self.filter.collections.is_empty() {
            statement.push(" AND d.collection = ANY(").texts(&self.filter.collections).push(")");
        }
        if let Some(documents) = &self.documents {
            statement.push(" AND d.document = ANY(").bind(documents, Type::INT4_ARRAY).push(")");
        }
        for (name, values) in &self.attributes {
            statement.push(
                " AND EXISTS (SELECT 1 FROM attributes a WHERE a.namespace = d.namespace AND a.document = d.document AND a.name = ",
            );
            statement.bind(name, Type::TEXT).push(" AND a.folded = ANY(").texts(values).push("))");
        }
    }

    /// Returns `true` if documents alone decide: each passes whole or not at all.
    pub fn is_of_documents(&self) -> bool {
        let Filter { languages, kinds, roles, ids, authors, dates, .. } = &self.filter;
        let lists_nothing = [languages, kinds, roles, authors].into_iter().all(Vec::is_empty) && ids.is_empty();
        lists_nothing && *dates == DateRange::default()
    }

    /// Adds everything, on `p` and `d`.
    pub fn of_passages<'c>(&'c self, statement: &mut Statement<'c>) {
        self.of_documents(statement);
        statement.push(" AND ");
        self.besides_documents(statement);
    }

    /// Adds what is asked of passages besides their documents, on `p` and `d`.
    pub fn besides_documents<'c>(&'c self, statement: &mut Statement<'c>) {
        statement.push("p.namespace = ANY(").texts(&self.namespaces).push(")");
        let filter = &self.filter;
        let restricted = [
            (" AND coalesce(p.language, d.language) = ANY(", &filter.languages),
            (" AND p.kind = ANY(", &filter.kinds),
            (" AND p.role = ANY(", &filter.roles),
            (" AND p.author_folded = ANY(", &self.authors),
        ];
        for (column, values) in restricted.into_iter().filter(|(_, values)| !values.is_empty()) {
            statement.push(column).texts(values).push(")");
        }
        if !filter.ids.is_empty() {
            statement.push(" AND p.passage = ANY(").numbers(&self.ids).push(")");
        }
        for (compared, bound) in [(" >= ", &filter.dates.since), (" < ", &filter.dates.until)] {
            let Some(DateBound { moment_ns: moment, day_ns: day }) = bound else { continue };
            if day == moment {
                statement.push(" AND ").push(DATE).push(compared).bind(moment, Type::INT8);
                continue;
            }
            statement.push(" AND CASE WHEN ").push(DATE).push(" % ").bind(&DAY_NS, Type::INT8);
            statement.push(" = 0 THEN ").push(DATE).push(compared).bind(day, Type::INT8);
            statement.push(" ELSE ").push(DATE).push(compared).bind(moment, Type::INT8).push(" END");
        }
    }
}

/// A statement with the values of its parameters.
#[derive(Default)]
pub(crate) struct Statement<'v> {
    text: String,
    values: Vec<(&'v (dyn ToSql + Sync), Type)>,
}

impl<'v> Statement<'v> {
    /// Begins a statement.
    pub fn new(text: &'static str) -> Statement<'v> {
        Statement { text: text.to_owned(), values: Vec::new() }
    }

    /// Adds a constant part.
    pub fn push(&mut self, text: &'static str) -> &mut Statement<'v> {
        self.text.push_str(text);
        self
    }

    /// Adds a number that has to be part of the text, such as the dimension of a type.
    pub fn push_number(&mut self, number: u32) -> &mut Statement<'v> {
        write!(self.text, "{number}").expect("a text can be written to");
        self
    }

    /// Limits the rows.
    pub fn limit(&mut self, limit: usize) -> &mut Statement<'v> {
        self.push(" LIMIT ").push_number(u32::try_from(limit).unwrap_or(i32::MAX as u32))
    }

    /// Adds words as a constant, for an index that reads no parameters. Whatever is no letter, digit or space is left out.
    pub fn push_words(&mut self, words: &str) -> &mut Statement<'v> {
        self.text.push('\'');
        self.text.extend(words.chars().filter(|character| character.is_ascii_alphanumeric() || *character == ' '));
        self.text.push('\'');
        self
    }

    /// Adds a parameter.
    pub fn bind(&mut self, value: &'v (dyn ToSql + Sync), of: Type) -> &mut Statement<'v> {
        self.values.push((value, of));
        write!(self.text, "${}", self.values.len()).expect("a text can be written to");
        self
    }

    /// Adds a list of texts as a parameter.
    pub fn texts(&mut self, values: &'v Vec<String>) -> &mut Statement<'v> {
        self.bind(values, Type::TEXT_ARRAY)
    }

    /// Adds a number as a parameter.
    pub fn number(&mut self, value: &'v i64) -> &mut Statement<'v> {
        self.bind(value, Type::INT8)
    }

    /// Adds a list of numbers as a parameter.
    pub fn numbers(&mut self, values: &'v Vec<i64>) -> &mut Statement<'v> {
        self.bind(values, Type::INT8_ARRAY)
    }

    /// Runs it and returns the number that it computes.
    pub async fn count(&self, transaction: &Transaction<'_>) -> Result<u64, Failure> {
        Ok(self.query(transaction).await?.first().map_or(0, |row| row.get::<_, i64>(0)) as u64)
    }

    /// Runs it. The server plans it for these values, in one exchange of messages.
    pub async fn query(&self, transaction: &Transaction<'_>) -> Result<Vec<Row>, Failure> {
        Ok(transaction.query_typed(&self.text, &self.values).await?)
    }
}

/// The state of some namespaces: number and change number of each. The number tells a namespace from a later one of the same name.
pub(crate) type State = Vec<(i32, i64)>;

/// Namespaces with passages, and their state in this snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Scope {
    /// Their names, ascending.
    pub namespaces: Vec<String>,
    /// Their state, in the same order.
    pub state: State,
    /// The totals of their words.
    pub total: Lengths,
    /// True if the transaction is confined to the namespaces that the filter names.
    pub is_confined: bool,
}

/// What is asked of the words of a passage.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Words<'w> {
    /// At least one term of each of these lists, one to four.
    WithEach(&'w [Vec<i64>]),
    /// All these terms.
    WithAll(&'w Vec<i64>),
    /// They define all these symbols.
    Defining(&'w Vec<String>),
}

/// Most lists of [`Words::WithEach`].
pub(crate) const MOST_LISTS: usize = 4;

impl Scope {
    /// Reads the scope of a filter.
    pub async fn read(transaction: &Transaction<'_>, filter: &Filter) -> Result<Scope, Failure> {
        // A name with a zero byte cannot be stored, and the server refuses it.
        let asked: Vec<&String> = filter.namespaces.iter().filter(|name| !name.contains('\0')).collect();
        let mut statement = Statement::new(
            "SELECT namespace, number, change_number, passages, body_terms, name_terms, current_user = 'tamis_searcher' \
             FROM namespaces WHERE passages > 0",
        );
        if !filter.namespaces.is_empty() {
            statement.push(" AND namespace = ANY(").bind(&asked, Type::TEXT_ARRAY).push(")");
        }
        statement.push(" ORDER BY namespace");
        let mut scope = Scope::default();
        for row in statement.query(transaction).await? {
            scope.namespaces.push(row.get(0));
            scope.state.push((row.get(1), row.get(2)));
            scope.is_confined = row.get(6);
            let count = |column: usize| row.get::<_, i64>(column) as u64;
            scope.total.add(Lengths { passages: count(3), body: count(4), name: count(5) });
        }
        Ok(scope)
    }

    /// Adds the condition that passages of `words w` have some words. In a confined transaction, a function finds them, since
    /// the server uses no index for such a condition behind a policy.
    pub fn words<'s>(&self, statement: &mut Statement<'s>, wanted: Words<'s>) {
        let (condition, function) = match wanted {
            Words::WithEach(_) => ("w.terms && ", "words_with_each("),
            Words::WithAll(_) => ("w.terms @> ", "words_with_all("),
            Words::Defining(_) => ("w.symbols @> ", "words_defining("),
        };
        match self.is_confined {
            // As a list, the server takes it for short, and looks each passage up by its key.
            true => statement.push("w.passage = ANY(ARRAY(SELECT c.passage FROM ").push(function),
            false => statement.push(condition),
        };
        match wanted {
            Words::WithAll(terms) => {
                statement.numbers(terms);
            }
            Words::Defining(names) => {
                statement.texts(names);
            }
            Words::WithEach(lists) => {
                debug_assert!((1..=MOST_LISTS).contains(&lists.len()), "{}", lists.len());
                let separator = if self.is_confined { ", " } else { " AND w.terms && " };
                for (place, terms) in lists.iter().enumerate() {
                    statement.push(if place > 0 { separator } else { "" }).numbers(terms);
                }
                if self.is_confined {
                    for _ in lists.len()..MOST_LISTS {
                        statement.push(", NULL");
                    }
                }
            }
        }
        if self.is_confined {
            statement.push(") AS c))");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_numbered_parameters() {
        let (name, numbers) = ("'; DROP TABLE documents".to_owned(), vec![1, 2]);
        let mut statement = Statement::new("SELECT 1 FROM passages WHERE kind = ");
        statement.bind(&name, Type::TEXT).push(" AND passage = ANY(").numbers(&numbers).push(") LIMIT ").push_number(7);
        assert_eq!(statement.text, "SELECT 1 FROM passages WHERE kind = $1 AND passage = ANY($2) LIMIT 7");
        assert_eq!(statement.values.len(), 2);
    }

    #[test]
    fn words_cannot_end_their_constant() {
        let mut statement = Statement::new("SELECT ");
        statement.push_words("n1x6d n1x'; DROP TABLE documents --\\");
        assert_eq!(statement.text, "SELECT 'n1x6d n1x DROP TABLE documents '");
    }
}
