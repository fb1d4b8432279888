//! Statements that are put together. Their text is constant parts and numbered parameters, so no value can become SQL.

use std::fmt::Write;

use deadpool_postgres::Transaction;
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use super::error::Failure;

/// A statement with the values of its parameters.
#[derive(Default)]
pub(super) struct Statement<'v> {
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

    /// Runs it. The server plans it for these values, in one exchange of messages.
    pub async fn query(&self, transaction: &Transaction<'_>) -> Result<Vec<Row>, Failure> {
        Ok(transaction.query_typed(&self.text, &self.values).await?)
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
