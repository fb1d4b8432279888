//! Replacements for functions of SQLite that take quadratic time.
//!
//! A call is one instruction, which cannot be interrupted. SQLite's `trim` and `unhex` with a long set of characters, `instr`
//! and `replace` with a long text to look for, and a pattern with many wildcards take seconds on the longest values. These
//! take linear time, or poll the clock, and return the same results.

use std::borrow::Cow;
use std::sync::Arc;

use memchr::memmem;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, Result};

use super::LONGEST_VALUE;
use super::pattern::{Interrupted, Pattern};
use super::watch::Watch;

/// Registers the replacements.
pub(super) fn replace_built_in(connection: &Connection, watch: &Arc<Watch>) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("instr", 2, flags, instr)?;
    connection.create_scalar_function("replace", 3, flags, replace)?;
    for (name, start, end) in [("trim", true, true), ("ltrim", true, false), ("rtrim", false, true)] {
        connection.create_scalar_function(name, 1, flags, move |context| trim(context, start, end))?;
        connection.create_scalar_function(name, 2, flags, move |context| trim(context, start, end))?;
    }
    connection.create_scalar_function("unhex", 1, flags, unhex)?;
    connection.create_scalar_function("unhex", 2, flags, unhex)?;
    super::math::add(connection)?;
    #[cfg(test)]
    super::tests::add_stall(connection)?;
    for arguments in [2, 3] {
        let watch = watch.clone();
        connection.create_scalar_function("like", arguments, flags, move |context| like(context, &watch))?;
    }
    let watch = watch.clone();
    connection.create_scalar_function("glob", 2, flags, move |context| glob(context, &watch))
}

/// The bytes of a value's text; `None` for null.
fn bytes(value: ValueRef<'_>) -> Option<Cow<'_, [u8]>> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(Cow::Owned(number.to_string().into_bytes())),
        ValueRef::Real(number) => Some(Cow::Owned(text_of(number).into_bytes())),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(Cow::Borrowed(bytes)),
    }
}

/// A number as SQLite writes it.
fn text_of(number: f64) -> String {
    if !number.is_finite() {
        return if number > 0.0 { "Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{number:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..15).contains(&exponent) {
        return format!("{number:?}");
    }
    let point = if mantissa.contains('.') { "" } else { ".0" };
    format!("{mantissa}{point}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

fn is_within_character(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

fn instr(context: &Context<'_>) -> Result<Option<i64>> {
    let (first, second) = (context.get_raw(0), context.get_raw(1));
    let (Some(text), Some(wanted)) = (bytes(first), bytes(second)) else {
        return Ok(None);
    };
    let by_byte = matches!((first, second), (ValueRef::Blob(_), ValueRef::Blob(_)));
    let place = memmem::find(&text, &wanted).map_or(0, |place| {
        let before = &text[..place];
        1 + if by_byte { before.len() } else { before.iter().filter(|&&byte| !is_within_character(byte)).count() }
    });
    Ok(i64::try_from(place).ok())
}

fn replace(context: &Context<'_>) -> Result<Option<String>> {
    let (Some(text), Some(wanted)) = (bytes(context.get_raw(0)), bytes(context.get_raw(1))) else {
        return Ok(None);
    };
    if wanted.is_empty() {
        return Ok(Some(String::from_utf8_lossy(&text).into_owned()));
    }
    let Some(other) = bytes(context.get_raw(2)) else {
        return Ok(None);
    };
    let mut replaced = Vec::new();
    let mut from = 0;
    for place in memmem::find_iter(&text, wanted.as_ref()) {
        replaced.extend_from_slice(&text[from..place]);
        replaced.extend_from_slice(&other);
        from = place + wanted.len();
        if replaced.len() > LONGEST_VALUE {
            return Err(refused("string or blob too big"));
        }
    }
    replaced.extend_from_slice(&text[from..]);
    Ok(Some(String::from_utf8_lossy(&replaced).into_owned()))
}

fn trim(context: &Context<'_>, start: bool, end: bool) -> Result<Option<String>> {
    let set = if context.len() > 1 { bytes(context.get_raw(1)) } else { Some(Cow::Borrowed(b" ".as_slice())) };
    let (Some(text), Some(set)) = (bytes(context.get_raw(0)), set) else {
        return Ok(None);
    };
    let mut set: Vec<char> = String::from_utf8_lossy(&set).chars().collect();
    set.sort_unstable();
    let is_in = |character: char| set.binary_search(&character).is_ok();
    let text = String::from_utf8_lossy(&text);
    let text = if start { text.trim_start_matches(is_in) } else { &text };
    let text = if end { text.trim_end_matches(is_in) } else { text };
    Ok(Some(text.to_owned()))
}

fn unhex(context: &Context<'_>) -> Result<Option<Vec<u8>>> {
    let between = if context.len() > 1 { bytes(context.get_raw(1)) } else { Some(Cow::Borrowed(b"".as_slice())) };
    let (Some(text), Some(between)) = (bytes(context.get_raw(0)), between) else {
        return Ok(None);
    };
    let mut between: Vec<char> = String::from_utf8_lossy(&between).chars().collect();
    between.sort_unstable();
    let text = String::from_utf8_lossy(&text);
    // SQLite ends a text at its first NUL.
    let mut characters = text.chars().take_while(|&character| character != '\0');
    let digit = |character: char| character.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut decoded = Vec::with_capacity(text.len() / 2);
    while let Some(character) = characters.next() {
        let Some(high) = digit(character) else {
            if between.binary_search(&character).is_err() {
                return Ok(None);
            }
            continue;
        };
        // The two digits of a byte are adjacent.
        let Some(low) = characters.next().and_then(digit) else {
            return Ok(None);
        };
        decoded.push(high << 4 | low);
    }
    Ok(Some(decoded))
}

fn like(context: &Context<'_>, watch: &Watch) -> Result<Option<bool>> {
    let escape = match context.len() {
        2 => None,
        _ => match bytes(context.get_raw(2)) {
            None => return Ok(None),
            Some(escape) => {
                let escape = String::from_utf8_lossy(&escape).into_owned();
                let mut characters = escape.chars();
                match (characters.next(), characters.next()) {
                    (Some(only), None) => Some(only),
                    _ => return Err(refused("ESCAPE expression must be a single character")),
                }
            }
        },
    };
    matches(context, watch, escape, |pattern| Pattern::like(pattern, escape))
}

fn glob(context: &Context<'_>, watch: &Watch) -> Result<Option<bool>> {
    matches(context, watch, None, Pattern::glob)
}

fn matches(
    context: &Context<'_>,
    watch: &Watch,
    escape: Option<char>,
    read: impl Fn(&str) -> Pattern,
) -> Result<Option<bool>> {
    let (Some(pattern), Some(text)) = (bytes(context.get_raw(0)), bytes(context.get_raw(1))) else {
        return Ok(None);
    };
    if pattern.len() > LONGEST_PATTERN {
        return Err(refused("LIKE or GLOB pattern too complex"));
    }
    // SQLite keeps a constant pattern for the next row.
    let kept: Option<Arc<Pattern>> = context.get_aux(0)?;
    let pattern = match kept.filter(|pattern| pattern.escape == escape) {
        Some(pattern) => pattern,
        None => context.set_aux(0, read(&String::from_utf8_lossy(&pattern)))?,
    };
    let text = String::from_utf8_lossy(&text);
    match pattern.matches(&text, &|| watch.is_over()) {
        Ok(matched) => Ok(Some(matched)),
        Err(Interrupted) => Err(refused("interrupted")),
    }
}

/// The longest pattern in bytes, the same as SQLite's.
const LONGEST_PATTERN: usize = 1000;

fn refused(message: &str) -> Error {
    Error::UserFunctionError(message.into())
}
