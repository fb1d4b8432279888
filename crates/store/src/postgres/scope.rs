//! The namespaces that a call concerns: those it names, or all.

use deadpool_postgres::Transaction;
use tokio_postgres::types::Type;

use super::error::Failure;
use super::statement::Statement;
use crate::filter::Filter;
use crate::lexical::Lengths;

/// The state of some namespaces: number and change number of each. The number tells a namespace from a later one of the same name.
pub(super) type State = Vec<(i32, i64)>;

/// Namespaces with passages, and their state in this snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Scope {
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
pub(super) enum Words<'w> {
    /// At least one term of each of these lists, one to four.
    WithEach(&'w [Vec<i64>]),
    /// All these terms.
    WithAll(&'w Vec<i64>),
    /// They define all these symbols.
    Defining(&'w Vec<String>),
}

/// Most lists of [`Words::WithEach`].
pub(super) const MOST_LISTS: usize = 4;

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
