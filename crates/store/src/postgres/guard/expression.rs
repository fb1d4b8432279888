//! The grammar of expressions. Each is written in full parentheses, so that the server's precedence does not matter.

use super::functions::is_function;
use super::parser::{Parsed, Parser, is_reserved};
use super::tokens::{Token, identifier, literal};
use crate::sqlite::guard::errors;

/// The most operators above one another.
const HIGHEST: usize = 200;

/// How tightly operators bind, from the loosest.
const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
const EQUALITY: u8 = 4;
const COMPARISON: u8 = 5;
const SUM: u8 = 6;
const PRODUCT: u8 = 7;
const JOINED: u8 = 8;
const SIGNED: u8 = 9;
const CAST: u8 = 10;

/// An expression as the server reads it.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) text: String,
    /// The number of operators above one another.
    height: usize,
    /// Its value, if it is a whole number.
    pub(super) integer: Option<i64>,
    /// Its table and name, if it is a column.
    pub(super) column: Option<(Option<String>, String)>,
}

impl Piece {
    /// An expression that is neither a number nor a column.
    pub(super) fn other(text: String, height: usize) -> Piece {
        Piece { text, height, integer: None, column: None }
    }

    /// Its name, if it is a column without a table.
    pub(super) fn bare_name(&self) -> Option<String> {
        self.column.as_ref().filter(|(table, _)| table.is_none()).map(|(_, name)| name.clone())
    }

    /// The expression as a condition. A whole number is true unless it is zero.
    pub(super) fn truth(&self) -> String {
        match self.integer {
            Some(number) => if number == 0 { "FALSE" } else { "TRUE" }.to_owned(),
            None => self.text.clone(),
        }
    }
}

impl Parser<'_> {
    /// An expression.
    pub(super) fn expression(&mut self) -> Parsed<Piece> {
        self.binding(OR)
    }

    /// An expression that is true or false.
    pub(super) fn condition(&mut self) -> Parsed<String> {
        Ok(self.expression()?.truth())
    }

    /// An expression of operators that bind at least so tightly.
    fn binding(&mut self, least: u8) -> Parsed<Piece> {
        let mut left = self.deeper(1, Parser::prefixed)?;
        loop {
            let before = left.height;
            left = match self.operator() {
                Some((operator, binds)) if binds >= least => self.infix(left, operator, binds)?,
                _ => return Ok(left),
            };
            left.height = left.height.max(before + 1);
            if left.height > HIGHEST {
                return Err(errors::too_deep(
                    format!("Expression tree is too large (maximum depth {HIGHEST})"),
                    HIGHEST,
                ));
            }
        }
    }

    /// The operator that comes next, and how tightly it binds.
    fn operator(&self) -> Option<(&'static str, u8)> {
        Some(match self.token() {
            Token::Sign(sign) => match *sign {
                "=" | "==" => ("=", EQUALITY),
                "<>" | "!=" => ("<>", EQUALITY),
                "<" | "<=" | ">" | ">=" => (sign, COMPARISON),
                "+" | "-" => (sign, SUM),
                "*" | "/" | "%" => (sign, PRODUCT),
                "||" | "->" | "->>" => (sign, JOINED),
                "::" => (sign, CAST),
                _ => return None,
            },
            Token::Word(word) => match word.as_str() {
                "or" => ("or", OR),
                "and" => ("and", AND),
                "is" => ("is", EQUALITY),
                "isnull" => ("isnull", EQUALITY),
                "notnull" => ("notnull", EQUALITY),
                "in" => ("in", EQUALITY),
                "like" => ("like", EQUALITY),
                "between" => ("between", EQUALITY),
                "not" => match self.ahead(1) {
                    Token::Word(next) if ["in", "like", "between", "null"].contains(&next.as_str()) => {
                        ("not", EQUALITY)
                    }
                    _ => return None,
                },
                _ => return None,
            },
            _ => return None,
        })
    }

    fn infix(&mut self, left: Piece, operator: &'static str, binds: u8) -> Parsed<Piece> {
        self.take();
        let of_both = |text: String, right: &Piece| Piece::other(text, right.height + 1);
        match operator {
            "or" | "and" => {
                let right = self.binding(binds + 1)?;
                let word = if operator == "or" { "OR" } else { "AND" };
                Ok(of_both(format!("({} {word} {})", left.truth(), right.truth()), &right))
            }
            "is" => self.is(&left),
            "isnull" => Ok(Piece::other(format!("({} IS NULL)", left.text), left.height)),
            "notnull" => Ok(Piece::other(format!("({} IS NOT NULL)", left.text), left.height)),
            "not" => {
                if self.takes_word("null") {
                    return Ok(Piece::other(format!("({} IS NOT NULL)", left.text), left.height));
                }
                let piece = match self.take() {
                    Token::Word(word) if word == "in" => self.is_in(&left)?,
                    Token::Word(word) if word == "like" => self.is_like(&left)?,
                    _ => self.is_between(&left)?,
                };
                Ok(Piece::other(format!("(NOT {})", piece.text), piece.height))
            }
            "in" => self.is_in(&left),
            "like" => self.is_like(&left),
            "between" => self.is_between(&left),
            "::" => {
                let kind = self.kind()?;
                Ok(Piece::other(kind.of(&left.text), left.height))
            }
            _ => {
                let right = self.binding(binds + 1)?;
                let text = match operator {
                    // A quotient by zero is null.
                    "/" | "%" => format!("({} {operator} nullif({}, 0))", left.text, right.text),
                    "||" => format!("joined(({})::text, ({})::text)", left.text, right.text),
                    "->" | "->>" => {
                        let key = match right.integer {
                            Some(place) => format!("({place})::integer"),
                            None => format!("({})::text", right.text),
                        };
                        format!("(({})::text::jsonb {operator} {key})::text", left.text)
                    }
                    _ => format!("({} {operator} {})", left.text, right.text),
                };
                Ok(of_both(text, &right))
            }
        }
    }

    /// What follows IS.
    fn is(&mut self, left: &Piece) -> Parsed<Piece> {
        let not = if self.takes_word("not") { "NOT " } else { "" };
        for (word, test) in [("null", "NULL"), ("true", "TRUE"), ("false", "FALSE")] {
            if self.takes_word(word) {
                return Ok(Piece::other(format!("({} IS {not}{test})", left.text), left.height));
            }
        }
        let mut same = not.is_empty();
        if self.takes_word("distinct") {
            self.expect_word("from")?;
            same = !same;
        }
        let right = self.binding(COMPARISON)?;
        let word = if same { "IS NOT DISTINCT FROM" } else { "IS DISTINCT FROM" };
        Ok(Piece::other(format!("({} {word} {})", left.text, right.text), right.height + 1))
    }

    /// What follows IN.
    fn is_in(&mut self, left: &Piece) -> Parsed<Piece> {
        self.expect("(")?;
        let inner = if self.sees_query() {
            self.query()?
        } else if self.takes(")") {
            return Ok(Piece::other("FALSE".to_owned(), left.height));
        } else {
            self.deeper(1, Parser::list)?.join(", ")
        };
        self.expect(")")?;
        Ok(Piece::other(format!("({} IN ({inner}))", left.text), left.height))
    }

    /// What follows LIKE. As in the embedded store, it ignores the case of ASCII letters and has no escape character of its own.
    fn is_like(&mut self, left: &Piece) -> Parsed<Piece> {
        let pattern = self.binding(COMPARISON)?;
        let escape = if self.takes_word("escape") {
            match self.take() {
                Token::Text(text) if text.chars().count() == 1 => text.to_ascii_lowercase(),
                _ => {
                    return Err(errors::refusal("ESCAPE expression must be a single character", "write ESCAPE '\\'"));
                }
            }
        } else {
            String::new()
        };
        let text = format!(
            "(lower(({})::text COLLATE \"C\") LIKE lower(sought(({})::text) COLLATE \"C\") ESCAPE {})",
            left.text,
            pattern.text,
            literal(&escape)
        );
        Ok(Piece::other(text, pattern.height + 1))
    }

    /// What follows BETWEEN.
    fn is_between(&mut self, left: &Piece) -> Parsed<Piece> {
        let from = self.binding(COMPARISON)?;
        self.expect_word("and")?;
        let to = self.binding(COMPARISON)?;
        Ok(Piece::other(
            format!("({} BETWEEN {} AND {})", left.text, from.text, to.text),
            from.height.max(to.height) + 1,
        ))
    }

    /// An expression that begins with a sign or NOT, or a simple one.
    fn prefixed(&mut self) -> Parsed<Piece> {
        if self.takes_word("not") {
            let inner = self.binding(NOT)?;
            return Ok(Piece::other(format!("(NOT {})", inner.truth()), inner.height + 1));
        }
        for sign in ["-", "+"] {
            if self.takes(sign) {
                let inner = self.binding(SIGNED)?;
                let integer =
                    inner.integer.and_then(|number| if sign == "-" { number.checked_neg() } else { Some(number) });
                return Ok(Piece { integer, ..Piece::other(format!("({sign} {})", inner.text), inner.height + 1) });
            }
        }
        self.simple()
    }

    /// A literal, a parameter, a column, a call, or an expression in parentheses.
    fn simple(&mut self) -> Parsed<Piece> {
        let plain = |text: String| Ok(Piece::other(text, 0));
        match self.token().clone() {
            Token::Integer(number) => {
                self.take();
                Ok(Piece { integer: Some(number), ..Piece::other(format!("{number}::bigint"), 0) })
            }
            Token::Real(digits) => {
                self.take();
                let finite = digits.parse::<f64>().is_ok_and(f64::is_finite);
                let digits = if finite { digits } else { "Infinity".to_owned() };
                plain(format!("'{digits}'::double precision"))
            }
            Token::Text(text) => {
                self.take();
                plain(literal(&text))
            }
            Token::Bytes(digits) => {
                self.take();
                plain(format!("E'\\\\x{digits}'::bytea"))
            }
            Token::Parameter(name) => {
                self.take();
                plain(self.parameter(name)?)
            }
            Token::Sign("(") => {
                self.take();
                self.in_parentheses()
            }
            Token::Word(word) => match word.as_str() {
                "null" | "true" | "false" => {
                    self.take();
                    plain(word.to_ascii_uppercase())
                }
                "case" => self.case(),
                "cast" => self.cast(),
                "exists" => {
                    self.take();
                    self.expect("(")?;
                    let inner = self.query()?;
                    self.expect(")")?;
                    plain(format!("EXISTS ({inner})"))
                }
                _ if matches!(self.ahead(1), Token::Sign("(")) && (is_function(&word) || !is_reserved(&word)) => {
                    self.take();
                    self.call(&word)
                }
                _ => self.column(),
            },
            Token::Quoted(name) if matches!(self.ahead(1), Token::Sign("(")) => {
                self.take();
                self.call(&name)
            }
            _ => self.column(),
        }
    }

    fn in_parentheses(&mut self) -> Parsed<Piece> {
        if self.sees_query() {
            let inner = self.query()?;
            self.expect(")")?;
            return Ok(Piece::other(format!("({inner})"), 0));
        }
        let first = self.expression()?;
        if !self.takes(",") {
            self.expect(")")?;
            return Ok(Piece { text: format!("({})", first.text), ..first });
        }
        let rest = self.list()?;
        self.expect(")")?;
        Ok(Piece::other(format!("ROW({}, {})", first.text, rest.join(", ")), first.height))
    }

    fn column(&mut self) -> Parsed<Piece> {
        let name = self.name()?;
        if !self.takes(".") {
            if let Some(text) = self.aliases.get(&name).filter(|_| self.is_given_here_alone(&name)) {
                return Ok(Piece { column: Some((None, name)), ..Piece::other(format!("({text})"), 0) });
            }
            self.reads_column(&name);
            let text = identifier(&name);
            return Ok(Piece { column: Some((None, name)), ..Piece::other(text, 0) });
        }
        let column = self.name()?;
        if self.takes(".") {
            return Err(errors::shortened(errors::unknown_table(&format!("{name}.{column}"))));
        }
        self.reads_column(&column);
        let text = format!("{}.{}", identifier(&name), identifier(&column));
        Ok(Piece { column: Some((Some(name), column)), ..Piece::other(text, 0) })
    }

    fn case(&mut self) -> Parsed<Piece> {
        self.take();
        let subject = if self.sees("when") { None } else { Some(self.expression()?) };
        let mut sql = subject.as_ref().map_or_else(|| "CASE".to_owned(), |subject| format!("CASE {}", subject.text));
        let mut height = 0;
        while self.takes_word("when") {
            let condition = self.expression()?;
            self.expect_word("then")?;
            let result = self.expression()?;
            height = height.max(condition.height).max(result.height);
            let condition = if subject.is_some() { condition.text } else { condition.truth() };
            sql.push_str(&format!(" WHEN {condition} THEN {}", result.text));
        }
        if height == 0 && !sql.contains(" WHEN ") {
            return Err(self.syntax_error());
        }
        if self.takes_word("else") {
            let other = self.expression()?;
            sql.push_str(&format!(" ELSE {}", other.text));
        }
        self.expect_word("end")?;
        Ok(Piece::other(format!("({sql} END)"), height + 1))
    }

    fn cast(&mut self) -> Parsed<Piece> {
        self.take();
        self.expect("(")?;
        let inner = self.expression()?;
        self.expect_word("as")?;
        let kind = self.kind()?;
        self.expect(")")?;
        Ok(Piece::other(kind.of(&inner.text), inner.height + 1))
    }

    /// The name of a type.
    fn kind(&mut self) -> Parsed<Kind> {
        let Token::Word(name) = self.take() else { return Err(self.syntax_error()) };
        Ok(match name.as_str() {
            "integer" | "int" | "bigint" | "smallint" => Kind::Integer,
            "real" | "float" | "numeric" | "decimal" => Kind::Real,
            "double" => {
                self.takes_word("precision");
                Kind::Real
            }
            "text" | "varchar" => Kind::Text,
            "boolean" | "bool" => Kind::Boolean,
            "date" => Kind::Date,
            "timestamp" => Kind::Timestamp,
            _ => {
                let (name, _) = crate::sqlite::guard::values::shortened(&name, 50);
                return Err(errors::refusal(
                    format!("no such type here: {name}"),
                    "the types are integer, real, text, boolean, date and timestamp",
                ));
            }
        })
    }
}

/// A type of a cast.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Integer,
    Real,
    Text,
    Boolean,
    Date,
    Timestamp,
}

impl Kind {
    fn of(self, text: &str) -> String {
        match self {
            Kind::Integer => format!("to_integer({text})"),
            Kind::Real => format!("({text})::double precision"),
            Kind::Text => format!("({text})::text"),
            Kind::Boolean => format!("({text})::boolean"),
            Kind::Date => format!("({text})::text::date"),
            Kind::Timestamp => format!("({text})::text::timestamp"),
        }
    }
}
