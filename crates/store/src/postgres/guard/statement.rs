//! The grammar of statements: SELECT, VALUES and table expressions.

use super::expression::Piece;
use super::parser::{Parsed, Parser};
use super::tokens::{Token, identifier};
use crate::sqlite::guard::errors;

/// Levels that a statement within a statement counts.
pub(super) const LEVELS: usize = 3;
/// The most statements that UNION, EXCEPT and INTERSECT combine.
const MOST_COMBINED: usize = 50;
/// The most tables of a join.
const MOST_JOINED: usize = 64;

/// A column of the answer of a SELECT.
struct Item {
    piece: Piece,
    /// The name given to it.
    alias: Option<String>,
}

impl Parser<'_> {
    /// A statement with its table expressions, order and limit.
    pub(super) fn query(&mut self) -> Parsed<String> {
        self.deeper(LEVELS, |parser| {
            let mut sql = parser.table_expressions()?;
            let (body, items) = parser.combined()?;
            sql.push_str(&body);
            if parser.takes_word("order") {
                parser.expect_word("by")?;
                sql.push_str(&format!(" ORDER BY {}", parser.order(&items)?));
            }
            sql.push_str(&parser.limit()?);
            Ok(sql)
        })
    }

    /// Returns `true` if a statement comes next.
    pub(super) fn sees_query(&self) -> bool {
        ["select", "with", "values"].iter().any(|word| self.sees(word))
    }

    fn table_expressions(&mut self) -> Parsed<String> {
        if !self.takes_word("with") {
            return Ok(String::new());
        }
        let mut sql = if self.takes_word("recursive") { "WITH RECURSIVE " } else { "WITH " }.to_owned();
        loop {
            let name = self.name()?;
            self.has_expression(&name)?;
            sql.push_str(&identifier(&name));
            if self.takes("(") {
                let columns = self.names_until_closed()?;
                columns.iter().for_each(|column| self.gives_column(column));
                let columns: Vec<String> = columns.iter().map(|column| identifier(column)).collect();
                sql.push_str(&format!("({})", columns.join(", ")));
            }
            self.expect_word("as")?;
            let is_not = self.takes_word("not");
            let how = match (is_not, self.takes_word("materialized")) {
                (true, true) => "NOT MATERIALIZED ",
                (false, true) => "MATERIALIZED ",
                (true, false) => return Err(self.syntax_error()),
                (false, false) => "",
            };
            self.expect("(")?;
            sql.push_str(&format!(" AS {how}({})", self.query()?));
            self.expect(")")?;
            if !self.takes(",") {
                break;
            }
            sql.push_str(", ");
        }
        sql.push(' ');
        Ok(sql)
    }

    /// Names between parentheses, after the first.
    fn names_until_closed(&mut self) -> Parsed<Vec<String>> {
        let mut names = vec![self.name()?];
        while self.takes(",") {
            names.push(self.name()?);
        }
        self.expect(")")?;
        Ok(names)
    }

    /// Statements combined by UNION and its kind, from left to right, and the columns of the first.
    fn combined(&mut self) -> Parsed<(String, Vec<Item>)> {
        let (mut sql, items) = self.core()?;
        let mut count = 1;
        loop {
            let word = match self.token() {
                Token::Word(word) if ["union", "except", "intersect"].contains(&word.as_str()) => {
                    word.to_ascii_uppercase()
                }
                _ => return Ok((sql, items)),
            };
            self.take();
            let all = if self.takes_word("all") { " ALL" } else { "" };
            if !all.is_empty() && word != "UNION" {
                return Err(self.syntax_error());
            }
            count += 1;
            if count > MOST_COMBINED {
                return Err(errors::refusal(
                    "too many terms in compound SELECT",
                    format!("combine at most {MOST_COMBINED}"),
                ));
            }
            let (other, _) = self.core()?;
            // An earlier combination is in parentheses, because INTERSECT would bind more tightly.
            sql = if count > 2 { format!("({sql}) {word}{all} {other}") } else { format!("{sql} {word}{all} {other}") };
        }
    }

    fn core(&mut self) -> Parsed<(String, Vec<Item>)> {
        if self.takes_word("values") {
            return Ok((self.values()?, Vec::new()));
        }
        if matches!(self.token(), Token::Sign("(")) {
            self.take();
            if !self.sees_query() {
                return Err(self.syntax_error());
            }
            let inner = self.query()?;
            self.expect(")")?;
            return Ok((format!("({inner})"), Vec::new()));
        }
        self.expect_word("select")?;
        self.select()
    }

    fn values(&mut self) -> Parsed<String> {
        let mut rows = Vec::new();
        loop {
            self.expect("(")?;
            let values = self.list()?;
            self.expect(")")?;
            rows.push(format!("({})", values.join(", ")));
            if !self.takes(",") {
                break;
            }
        }
        if self.is_outermost() {
            self.names.get_or_insert_default();
        }
        Ok(format!("VALUES {}", rows.join(", ")))
    }

    /// Expressions, separated by commas.
    pub(super) fn list(&mut self) -> Parsed<Vec<String>> {
        let mut list = vec![self.expression()?.text];
        while self.takes(",") {
            list.push(self.expression()?.text);
        }
        Ok(list)
    }

    fn select(&mut self) -> Parsed<(String, Vec<Item>)> {
        let distinct = if self.takes_word("distinct") { "DISTINCT " } else { "" };
        self.takes_word("all");
        let is_first = self.is_outermost() && self.names.is_none();
        if is_first {
            self.names = Some(Vec::new());
        }
        let (mut items, names) = self.items()?;
        if is_first {
            self.names = Some(names);
        }
        let from = if self.takes_word("from") { format!(" FROM {}", self.from()?) } else { String::new() };
        let filter = if self.takes_word("where") { format!(" WHERE {}", self.condition()?) } else { String::new() };
        let mut rest = String::new();
        if self.takes_word("group") {
            self.expect_word("by")?;
            rest.push_str(&format!(" GROUP BY {}", self.groups(&mut items)?));
        }
        if self.takes_word("having") {
            let condition = self.naming(&items, Parser::condition)?;
            rest.push_str(&format!(" HAVING {condition}"));
        }
        if self.takes_word("window") {
            rest.push_str(&format!(" WINDOW {}", self.windows()?));
        }
        let columns: Vec<String> = items
            .iter()
            .map(|item| match &item.alias {
                Some(alias) => format!("{} AS {}", item.piece.text, identifier(alias)),
                None => item.piece.text.clone(),
            })
            .collect();
        Ok((format!("SELECT {distinct}{}{from}{filter}{rest}", columns.join(", ")), items))
    }

    /// The columns of a SELECT, and the names by which an answer shows them.
    fn items(&mut self) -> Parsed<(Vec<Item>, Vec<Option<String>>)> {
        let (mut items, mut names) = (Vec::new(), Vec::new());
        loop {
            let start = self.start();
            if self.takes("*") {
                items.push(Item { piece: Piece::other("*".to_owned(), 0), alias: None });
                names.push(None);
            } else if let (Token::Word(_) | Token::Quoted(_), Token::Sign("."), Token::Sign("*")) =
                (self.token(), self.ahead(1), self.ahead(2))
            {
                let table = self.name()?;
                self.take();
                self.take();
                items.push(Item { piece: Piece::other(format!("{}.*", identifier(&table)), 0), alias: None });
                names.push(None);
            } else {
                let piece = self.expression()?;
                let text = self.text_since(start);
                let alias = if self.takes_word("as") { Some(self.name()?) } else { self.takes_name() };
                if let Some(alias) = &alias {
                    self.gives_column(alias);
                    names.push(Some(self.last_name()));
                } else {
                    names.push(Some(piece.column.as_ref().map_or(text, |(_, name)| name.clone())));
                }
                items.push(Item { piece, alias });
            }
            if !self.takes(",") {
                return Ok((items, names));
            }
        }
    }

    /// What GROUP BY names. A column that it does not name is taken from any row of the group.
    fn groups(&mut self, items: &mut [Item]) -> Parsed<String> {
        let mut groups = Vec::new();
        loop {
            let piece = self.expression()?;
            let place = piece.integer.and_then(|place| usize::try_from(place).ok()).filter(|place| *place > 0);
            groups.push(match place.and_then(|place| items.get(place - 1)) {
                Some(item) => item.piece.text.clone(),
                None => match items.iter().find(|item| item.alias.is_some() && item.alias == piece.bare_name()) {
                    Some(item) if self.is_given_here_alone(item.alias.as_deref().unwrap_or_default()) => {
                        item.piece.text.clone()
                    }
                    _ => piece.text,
                },
            });
            if !self.takes(",") {
                break;
            }
        }
        for item in items.iter_mut() {
            if let Some((_, name)) = &item.piece.column
                && !groups.contains(&item.piece.text)
            {
                item.alias.get_or_insert_with(|| name.clone());
                item.piece.text = format!("any_value({})", item.piece.text);
            }
        }
        Ok(groups.join(", "))
    }

    /// Runs a step in which the names of these columns stand for their expressions.
    fn naming<T>(&mut self, items: &[Item], step: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let named = items.iter().filter_map(|item| Some((item.alias.clone()?, item.piece.text.clone())));
        let outer = std::mem::replace(&mut self.aliases, named.collect());
        let result = step(self);
        self.aliases = outer;
        result
    }

    /// The terms of ORDER BY. Nulls come before all else, as in the embedded store, unless the statement says otherwise.
    fn order(&mut self, items: &[Item]) -> Parsed<String> {
        let mut terms = Vec::new();
        loop {
            let piece = self.naming(items, Parser::expression)?;
            let alias = piece.bare_name().filter(|name| items.iter().any(|item| item.alias.as_ref() == Some(name)));
            let text = match (piece.integer, alias) {
                (Some(place), _) => place.to_string(),
                (None, Some(name)) => identifier(&name),
                (None, None) => piece.text,
            };
            let descending = !self.takes_word("asc") && self.takes_word("desc");
            let mut nulls_first = !descending;
            if self.takes_word("nulls") {
                nulls_first = self.takes_word("first");
                if !nulls_first {
                    self.expect_word("last")?;
                }
            }
            terms.push(format!(
                "{text} {} NULLS {}",
                if descending { "DESC" } else { "ASC" },
                if nulls_first { "FIRST" } else { "LAST" }
            ));
            if !self.takes(",") {
                return Ok(terms.join(", "));
            }
        }
    }

    /// The terms of an ORDER BY within a call.
    pub(super) fn order_within(&mut self) -> Parsed<String> {
        self.order(&[])
    }

    fn limit(&mut self) -> Parsed<String> {
        if !self.takes_word("limit") {
            return Ok(String::new());
        }
        let mut limit = self.expression()?;
        let mut offset = None;
        if self.takes_word("offset") {
            offset = Some(self.expression()?);
        } else if self.takes(",") {
            offset = Some(std::mem::replace(&mut limit, self.expression()?));
        }
        // A limit below zero is none, an offset below zero is zero.
        let mut sql = format!(" LIMIT CASE WHEN ({0}) >= 0 THEN {0} END", limit.text);
        if let Some(offset) = offset {
            sql.push_str(&format!(" OFFSET greatest({}, 0)", offset.text));
        }
        Ok(sql)
    }

    /// The tables of a SELECT. A comma binds like any other join, from left to right.
    fn from(&mut self) -> Parsed<String> {
        let mut sql = self.table()?;
        for count in 2.. {
            let comma = self.takes(",");
            let natural = !comma && self.takes_word("natural");
            let mut kind = if comma { "CROSS" } else { "" };
            if !comma {
                for (word, outer) in
                    [("left", true), ("right", true), ("full", true), ("inner", false), ("cross", false)]
                {
                    if self.takes_word(word) {
                        kind = match word {
                            "left" => "LEFT",
                            "right" => "RIGHT",
                            "full" => "FULL",
                            "inner" => "INNER",
                            _ => "CROSS",
                        };
                        if outer {
                            self.takes_word("outer");
                        }
                        break;
                    }
                }
                if self.takes_word("join") {
                } else if natural || !kind.is_empty() {
                    return Err(self.syntax_error());
                } else {
                    break;
                }
            }
            if count > MOST_JOINED {
                return Err(errors::refusal(
                    format!("at most {MOST_JOINED} tables in a join"),
                    "join fewer tables at a time",
                ));
            }
            let table = self.table()?;
            let condition = if self.takes_word("on") {
                format!(" ON {}", self.condition()?)
            } else if self.takes_word("using") {
                self.expect("(")?;
                let names = self.names_until_closed()?;
                names.iter().for_each(|name| self.reads_column(name));
                format!(" USING ({})", names.iter().map(|name| identifier(name)).collect::<Vec<_>>().join(", "))
            } else {
                String::new()
            };
            // A join without a condition takes every pair, and a cross join with one is an inner join.
            let (kind, condition) = match (natural, kind, condition.is_empty()) {
                (true, "CROSS", _) => ("NATURAL INNER".to_owned(), condition),
                (true, kind, _) => (format!("NATURAL {kind}"), condition),
                (false, "" | "INNER" | "CROSS", true) => ("CROSS".to_owned(), condition),
                (false, "CROSS", false) => ("INNER".to_owned(), condition),
                (false, kind, true) => (kind.to_owned(), " ON TRUE".to_owned()),
                (false, kind, false) => (kind.to_owned(), condition),
            };
            sql = format!("{sql} {kind} JOIN {table}{condition}");
        }
        Ok(sql)
    }

    /// A table, a statement in its place, the elements of a JSON text, or a join in parentheses.
    fn table(&mut self) -> Parsed<String> {
        if self.takes("(") {
            let inner = if self.sees_query() {
                self.query()?
            } else {
                let inner = self.deeper(1, Parser::from)?;
                self.expect(")")?;
                return Ok(format!("({inner})"));
            };
            self.expect(")")?;
            return Ok(format!("({inner}){}", self.table_alias()?));
        }
        let name = self.name()?;
        if self.takes(".") {
            let table = self.name()?;
            return Err(errors::shortened(errors::unknown_table(&format!("{name}.{table}"))));
        }
        if self.takes("(") {
            if name != "json_each" {
                return Err(errors::shortened(errors::unknown_table(&name)));
            }
            let argument = self.deeper(1, Parser::expression)?;
            self.expect(")")?;
            for column in ["key", "value"] {
                self.gives_column(column);
            }
            let alias = self.table_alias()?;
            let alias = if alias.is_empty() { " AS \"json_each\"".to_owned() } else { alias };
            return Ok(format!("LATERAL json_each(({})::text){alias}", argument.text));
        }
        self.reads_table(&name);
        Ok(format!("{}{}", identifier(&name), self.table_alias()?))
    }

    fn table_alias(&mut self) -> Parsed<String> {
        let alias = if self.takes_word("as") { Some(self.name()?) } else { self.takes_name() };
        Ok(alias.map(|alias| format!(" AS {}", identifier(&alias))).unwrap_or_default())
    }
}
