//! The state of a translation: the place in the statement, and the names found so far.

use std::collections::{BTreeMap, BTreeSet};

use super::tokens::{Placed, Token, tokens};
use crate::error::StoreError;
use crate::sql::{SqlQuery, SqlValue};
use crate::sql_tables::SQL_TABLES;
use crate::sqlite::guard::{LONGEST_VALUE, errors};

/// The result of a step.
pub(super) type Parsed<T> = Result<T, StoreError>;

/// The deepest nesting of parentheses and statements.
pub(super) const DEEPEST: usize = 100;

/// A statement as the server runs it.
#[derive(Debug, PartialEq)]
pub(super) struct Translated {
    /// The statement. Its only parameter is an array of texts.
    pub(super) sql: String,
    /// The array.
    pub(super) parameters: Vec<String>,
    /// The names of the columns, as far as they are in the statement.
    pub(super) names: Vec<Option<String>>,
}

/// Reads a statement and writes it anew.
pub(super) struct Parser<'a> {
    sql: &'a str,
    tokens: Vec<Placed>,
    at: usize,
    depth: usize,
    values: &'a BTreeMap<String, SqlValue>,
    /// The parameters that the statement has.
    has: Vec<String>,
    parameters: Vec<String>,
    /// Table expressions, and the tables that are read.
    expressions: BTreeSet<String>,
    tables: Vec<String>,
    /// Names that the statement gives to columns, with their number, and columns that it reads.
    given: BTreeMap<String, usize>,
    columns: Vec<String>,
    /// The names of the answer's columns, once the first list of columns was read.
    pub(super) names: Option<Vec<Option<String>>>,
    /// Columns of the answer by the names that stand for them.
    pub(super) aliases: BTreeMap<String, String>,
}

/// Translates a statement, or says what of it is not allowed.
pub(super) fn translate(query: &SqlQuery) -> Parsed<Translated> {
    let mut parser = Parser {
        sql: &query.sql,
        tokens: tokens(&query.sql)?,
        at: 0,
        depth: 0,
        values: &query.parameters,
        has: Vec::new(),
        parameters: Vec::new(),
        expressions: BTreeSet::new(),
        tables: Vec::new(),
        given: BTreeMap::new(),
        columns: Vec::new(),
        names: None,
        aliases: BTreeMap::new(),
    };
    while parser.takes(";") {}
    if *parser.token() == Token::End {
        return Err(errors::refusal("there is no statement", errors::ALLOWED));
    }
    parser.check_beginning()?;
    let sql = parser.query()?;
    if !parser.takes(";") && *parser.token() != Token::End {
        return Err(parser.syntax_error());
    }
    while parser.takes(";") {}
    if *parser.token() != Token::End {
        return Err(errors::refusal("there is text after the statement", "give one statement at a time"));
    }
    parser.check_names()?;
    if let Some(unknown) = query.parameters.keys().find(|name| !parser.has.contains(name)) {
        return Err(errors::unknown_parameter(unknown, &parser.has));
    }
    Ok(Translated { sql, parameters: parser.parameters, names: parser.names.unwrap_or_default() })
}

impl Parser<'_> {
    /// The next token.
    pub(super) fn token(&self) -> &Token {
        &self.tokens[self.at].token
    }

    /// The token after so many others.
    pub(super) fn ahead(&self, count: usize) -> &Token {
        &self.tokens[(self.at + count).min(self.tokens.len() - 1)].token
    }

    /// Takes the next token.
    pub(super) fn take(&mut self) -> Token {
        let token = self.token().clone();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    /// The place of the next token.
    pub(super) fn start(&self) -> usize {
        self.tokens[self.at].start
    }

    /// The last token as it was written, without its quotes.
    pub(super) fn last_name(&self) -> String {
        let Placed { start, end, .. } = self.tokens[self.at - 1];
        let written = &self.sql[start..end];
        match written.chars().next() {
            Some('[') => written[1..written.len() - 1].to_owned(),
            Some(quote @ ('"' | '`')) => {
                written[1..written.len() - 1].replace(&format!("{quote}{quote}"), &quote.to_string())
            }
            _ => written.to_owned(),
        }
    }

    /// Returns `true` outside of parentheses and table expressions.
    pub(super) fn is_outermost(&self) -> bool {
        self.depth == super::statement::LEVELS
    }

    /// The statement's own text from a place to the end of the last token.
    pub(super) fn text_since(&self, start: usize) -> String {
        self.sql[start..self.tokens[self.at - 1].end].to_owned()
    }

    /// Takes a sign, if it comes next.
    pub(super) fn takes(&mut self, sign: &str) -> bool {
        let comes = matches!(self.token(), Token::Sign(next) if *next == sign);
        if comes {
            self.take();
        }
        comes
    }

    /// Returns `true` if a keyword comes next.
    pub(super) fn sees(&self, word: &str) -> bool {
        matches!(self.token(), Token::Word(next) if next == word)
    }

    /// Takes a keyword, if it comes next.
    pub(super) fn takes_word(&mut self, word: &str) -> bool {
        let comes = self.sees(word);
        if comes {
            self.take();
        }
        comes
    }

    /// Takes a sign that must come.
    pub(super) fn expect(&mut self, sign: &str) -> Parsed<()> {
        if self.takes(sign) { Ok(()) } else { Err(self.syntax_error()) }
    }

    /// Takes a keyword that must come.
    pub(super) fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.takes_word(word) { Ok(()) } else { Err(self.syntax_error()) }
    }

    /// Takes a name, if one comes next.
    pub(super) fn takes_name(&mut self) -> Option<String> {
        match self.token() {
            Token::Quoted(name) => Some(name.clone()),
            Token::Word(name) if !is_reserved(name) => Some(name.clone()),
            _ => None,
        }
        .inspect(|_| {
            self.take();
        })
    }

    /// Takes a name that must come.
    pub(super) fn name(&mut self) -> Parsed<String> {
        self.takes_name().ok_or_else(|| self.syntax_error())
    }

    /// The error for a token that cannot stand here.
    pub(super) fn syntax_error(&self) -> StoreError {
        let Placed { token, start, end } = &self.tokens[self.at];
        if *token == Token::End {
            return StoreError::Sql { error: "incomplete input".to_owned(), hint: None };
        }
        let message = format!("near \"{}\": syntax error", &self.sql[*start..*end]);
        errors::shortened(errors::at_place(&message, *start, self.sql))
    }

    /// Runs a step one level deeper.
    pub(super) fn deeper<T>(&mut self, levels: usize, step: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.depth += levels;
        if self.depth > DEEPEST {
            return Err(errors::too_deep(format!("the statement nests deeper than {DEEPEST}"), DEEPEST));
        }
        let result = step(self);
        self.depth -= levels;
        result
    }

    /// The text of a parameter: a place in the array, with the type of the value there.
    pub(super) fn parameter(&mut self, name: String) -> Parsed<String> {
        let value = self.values.get(&name);
        if !self.has.contains(&name) {
            self.has.push(name);
        }
        let (text, kind) = match value {
            None | Some(SqlValue::Null) => return Ok("NULL".to_owned()),
            Some(SqlValue::Integer(number)) => (number.to_string(), "bigint"),
            Some(SqlValue::Real(number)) => (number.to_string(), "double precision"),
            Some(SqlValue::Text(text)) if text.len() > LONGEST_VALUE => return Err(errors::too_big()),
            Some(SqlValue::Text(text)) if text.contains('\0') => {
                return Err(errors::refusal("a parameter holds a NUL character", "leave it out"));
            }
            Some(SqlValue::Text(text)) => (text.clone(), "text"),
        };
        let place = self.parameters.iter().position(|known| *known == text).unwrap_or_else(|| {
            self.parameters.push(text);
            self.parameters.len() - 1
        });
        Ok(format!("($1::text[])[{}]::{kind}", place + 1))
    }

    /// Remembers a table that is read.
    pub(super) fn reads_table(&mut self, name: &str) {
        self.tables.push(name.to_owned());
    }

    /// Remembers a table expression. Names of the server's own tables begin with `pg_`, and no expression may pass for one.
    pub(super) fn has_expression(&mut self, name: &str) -> Parsed<()> {
        if name.starts_with("pg_") {
            return Err(errors::refusal(
                format!("the name {name} is reserved"),
                "use a name that does not begin with pg_",
            ));
        }
        self.expressions.insert(name.to_owned());
        Ok(())
    }

    /// Remembers a column that is read.
    pub(super) fn reads_column(&mut self, name: &str) {
        self.columns.push(name.to_owned());
    }

    /// Remembers a name that the statement gives to a column.
    pub(super) fn gives_column(&mut self, name: &str) {
        *self.given.entry(name.to_owned()).or_default() += 1;
    }

    /// Returns `true` if a name can only mean a column of the answer that is named here: nothing else has that name.
    pub(super) fn is_given_here_alone(&self, name: &str) -> bool {
        self.given.get(name) == Some(&1) && !is_column(name)
    }

    /// Refuses a statement that is none to read.
    fn check_beginning(&self) -> Parsed<()> {
        match self.token() {
            Token::Word(word) if STATEMENTS.contains(&word.as_str()) => {
                Err(errors::refusal(format!("{} is not allowed", word.to_ascii_uppercase()), errors::ALLOWED))
            }
            _ => Ok(()),
        }
    }

    /// Refuses tables and columns that are neither visible nor the statement's own.
    fn check_names(&self) -> Parsed<()> {
        let is_table =
            |name: &str| SQL_TABLES.iter().any(|table| table.name == name) || self.expressions.contains(name);
        if let Some(unknown) = self.tables.iter().find(|name| !is_table(name)) {
            return Err(errors::shortened(errors::unknown_table(unknown)));
        }
        match self.columns.iter().find(|name| !is_column(name) && !self.given.contains_key(*name)) {
            Some(unknown) => Err(errors::shortened(no_such_column(unknown, self.sql))),
            None => Ok(()),
        }
    }
}

/// The error for a column that is not there.
pub(super) fn no_such_column(name: &str, sql: &str) -> StoreError {
    errors::refusal(format!("no such column: {name}"), errors::columns_like(name, sql))
}

/// Returns `true` for a column of a visible table, or one that the server names.
fn is_column(name: &str) -> bool {
    let of_values =
        name.strip_prefix("column").is_some_and(|number| number.bytes().all(|digit| digit.is_ascii_digit()));
    of_values || SQL_TABLES.iter().any(|table| table.columns.iter().any(|column| column.name == name))
}

/// Words that begin a statement that does not only read.
const STATEMENTS: &[&str] = &[
    "abort",
    "alter",
    "analyze",
    "attach",
    "begin",
    "call",
    "checkpoint",
    "close",
    "cluster",
    "comment",
    "commit",
    "copy",
    "create",
    "deallocate",
    "declare",
    "delete",
    "detach",
    "discard",
    "do",
    "drop",
    "end",
    "execute",
    "explain",
    "fetch",
    "grant",
    "import",
    "insert",
    "listen",
    "load",
    "lock",
    "merge",
    "move",
    "notify",
    "pragma",
    "prepare",
    "reassign",
    "refresh",
    "reindex",
    "release",
    "replace",
    "reset",
    "revoke",
    "rollback",
    "savepoint",
    "security",
    "set",
    "show",
    "start",
    "table",
    "truncate",
    "unlisten",
    "update",
    "vacuum",
];

/// Returns `true` for a word that is no name.
pub(super) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

/// Words that are no names unless they are quoted.
const RESERVED: &[&str] = &[
    "all",
    "and",
    "as",
    "asc",
    "between",
    "by",
    "case",
    "cast",
    "collate",
    "cross",
    "desc",
    "distinct",
    "else",
    "end",
    "escape",
    "except",
    "exists",
    "fetch",
    "filter",
    "for",
    "from",
    "full",
    "glob",
    "group",
    "having",
    "in",
    "inner",
    "intersect",
    "into",
    "is",
    "isnull",
    "join",
    "left",
    "like",
    "limit",
    "natural",
    "not",
    "notnull",
    "null",
    "nulls",
    "offset",
    "on",
    "or",
    "order",
    "outer",
    "over",
    "returning",
    "right",
    "select",
    "then",
    "union",
    "using",
    "values",
    "when",
    "where",
    "window",
    "with",
];
