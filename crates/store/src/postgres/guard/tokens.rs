//! Words, signs and literals of an untrusted statement.

use crate::error::StoreError;
use crate::sqlite::guard::errors;

/// The longest name that the server keeps whole, in bytes.
const LONGEST_NAME: usize = 63;

/// A part of a statement.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A word without quotes, in lower case: a keyword or a name.
    Word(String),
    /// A name in quotes, in lower case, since names match regardless of case.
    Quoted(String),
    /// A text.
    Text(String),
    /// Bytes in hexadecimal digits.
    Bytes(String),
    /// A whole number.
    Integer(i64),
    /// Any other number, as digits.
    Real(String),
    /// A parameter, by its name.
    Parameter(String),
    /// A sign.
    Sign(&'static str),
    /// The end of the statement.
    End,
}

/// A token with its place in the statement.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    pub(super) token: Token,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The signs, longer ones first.
const SIGNS: &[&str] = &[
    "->>", "->", "||", "<>", "<=", ">=", "!=", "==", "::", "=", "<", ">", "+", "-", "*", "/", "%", "(", ")", ",", ".",
    ";",
];

/// Splits a statement into tokens. Comments and spaces separate tokens and are dropped.
pub(super) fn tokens(sql: &str) -> Result<Vec<Placed>, StoreError> {
    let mut found = Vec::new();
    // An order mark may come first.
    let mut at = if sql.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    while let Some(first) = sql[at..].chars().next() {
        let rest = &sql[at..];
        if first.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        if rest.starts_with("--") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        if let Some(comment) = rest.strip_prefix("/*") {
            at += comment.find("*/").map_or(rest.len(), |end| end + 4);
            continue;
        }
        let (token, length) = token(sql, at)?;
        if let Token::Word(name) | Token::Quoted(name) = &token
            && name.len() > LONGEST_NAME
        {
            let (short, _) = crate::sqlite::guard::values::shortened(name, 20);
            return Err(errors::refusal(
                format!("the name {short} is longer than {LONGEST_NAME} bytes"),
                "use a shorter name",
            ));
        }
        found.push(Placed { token, start: at, end: at + length });
        at += length;
    }
    found.push(Placed { token: Token::End, start: sql.len(), end: sql.len() });
    Ok(found)
}

/// The token at a place, with its length.
fn token(sql: &str, at: usize) -> Result<(Token, usize), StoreError> {
    let rest = &sql[at..];
    let unknown = || errors::shortened(errors::at_place(&format!("unrecognized token: \"{rest}\""), at, sql));
    let first = rest.chars().next().unwrap_or_default();
    let is_part = |part: char| part.is_alphanumeric() || part == '_' || part == '$' || !part.is_ascii();
    let word = |text: &str| text.find(|part: char| !is_part(part)).unwrap_or(text.len());
    match first {
        '\'' => quoted(rest, '\'').map(|(text, length)| (Token::Text(text), length)).ok_or_else(unknown),
        '"' | '`' => quoted(rest, first)
            .filter(|(name, _)| !name.is_empty())
            .map(|(name, length)| (Token::Quoted(name.to_ascii_lowercase()), length))
            .ok_or_else(unknown),
        '[' => match rest.find(']') {
            Some(end) if end > 1 => Ok((Token::Quoted(rest[1..end].to_ascii_lowercase()), end + 1)),
            _ => Err(unknown()),
        },
        'x' | 'X' if rest[1..].starts_with('\'') => {
            let (digits, length) = quoted(&rest[1..], '\'').ok_or_else(unknown)?;
            let whole = digits.len() % 2 == 0 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            whole.then_some((Token::Bytes(digits), length + 1)).ok_or_else(unknown)
        }
        '0'..='9' => number(rest).filter(|(_, length)| word(&rest[*length..]) == 0).ok_or_else(unknown),
        '.' if rest[1..].starts_with(|next: char| next.is_ascii_digit()) => {
            number(rest).filter(|(_, length)| word(&rest[*length..]) == 0).ok_or_else(unknown)
        }
        ':' | '@' | '$' if rest[1..].starts_with(|next: char| next.is_alphabetic() || next == '_') => {
            let is_part = |part: char| part.is_alphanumeric() || part == '_';
            let length = rest[1..].find(|part| !is_part(part)).unwrap_or(rest.len() - 1);
            Ok((Token::Parameter(rest[1..=length].to_owned()), length + 1))
        }
        '?' => Err(errors::refusal("parameter 1 has no name", "write :name in place of ?")),
        _ if first.is_alphabetic() || first == '_' => {
            let length = word(rest);
            Ok((Token::Word(rest[..length].to_ascii_lowercase()), length))
        }
        _ => match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            Some(sign) => Ok((Token::Sign(sign), sign.len())),
            None => Err(unknown()),
        },
    }
}

/// The text between quotes, in which two quotes stand for one, and the length of all; `None` without an end.
fn quoted(text: &str, quote: char) -> Option<(String, usize)> {
    let mut content = String::new();
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((at, character)) = characters.next() {
        if character != quote {
            content.push(character);
        } else if characters.next_if(|(_, next)| *next == quote).is_some() {
            content.push(quote);
        } else {
            return Some((content, at + quote.len_utf8()));
        }
    }
    None
}

/// The number that a text begins with, and its length.
fn number(text: &str) -> Option<(Token, usize)> {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let mut end = digits(0);
    let mut whole = true;
    if text[end..].starts_with('.') {
        whole = false;
        end += 1 + digits(end + 1);
    }
    if text[end..].starts_with(['e', 'E']) {
        let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
        let exponent = digits(end + 1 + sign);
        if exponent == 0 {
            return None;
        }
        whole = false;
        end += 1 + sign + exponent;
    }
    let digits = &text[..end];
    match digits.parse::<i64>() {
        Ok(number) if whole => Some((Token::Integer(number), end)),
        _ => digits.parse::<f64>().ok().map(|_| (Token::Real(digits.to_owned()), end)),
    }
}

/// A text as a literal that means the same whatever the server's settings are.
pub(super) fn literal(text: &str) -> String {
    let doubled = text.replace('\'', "''");
    if doubled.contains('\\') { format!("E'{}'", doubled.replace('\\', "\\\\")) } else { format!("'{doubled}'") }
}

/// A name in quotes.
pub(super) fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
