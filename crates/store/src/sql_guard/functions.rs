//! The functions that a statement may call: the harmless ones of SQLite, those that replace slow ones, and mathematical ones.

use std::borrow::Cow;
use std::ffi::CStr;
use std::sync::Arc;

use memchr::memmem;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Error, Result};

use super::{LONGEST_VALUE, Watch};

/// Functions whose result depends on their arguments alone (and, for dates, on the day), and aggregates and window functions
/// of that kind.
///
/// Functions that edit JSON (`json_patch`, `json_set`, …) and `json_pretty` are left out: their time and memory have no
/// relation to their arguments, and reading does not need them. So is `json_tree`, which looks up every prefix of its path:
/// 3.4 s for one row.
///
/// The comments say why a call ends soon.
pub(crate) const FUNCTIONS: &[&str] = &[
    // Compiled into the statement's instructions and never called.
    "coalesce", "if", "ifnull", "iif",
    // Computes with numbers, or returns the type of its argument. A long text in place of a number is read once.
    "abs", "octet_length", "round", "sign", "typeof",
    // Reads each argument and writes its result a fixed number of times.
    "char", "concat", "concat_ws", "format", "hex", "length", "lower", "max", "min", "nullif", "printf", "quote",
    "soundex", "substr", "substring", "unicode", "upper",
    // SQLite's own takes quadratic time or is missing; [`replace_built_in`] or [`add`] adds a linear one.
    "ceil", "ceiling", "exp", "floor", "instr", "ln", "log", "log10", "log2", "ltrim", "mod", "pow", "power", "replace",
    "rtrim", "sqrt", "trim", "unhex",
    // Takes the length of the text times that of the pattern (at most 1,000), and polls for the limits on the way.
    "glob", "like",
    // Reads a date, or a format whose directives each produce a fixed number of characters.
    "date", "datetime", "julianday", "strftime", "time", "timediff", "unixepoch",
    // Parses JSON, nested at most 1,000 deep, and follows the given paths. Each level moves its content at most once.
    "->", "->>", "json", "json_array", "json_array_length", "json_extract", "json_object", "json_quote", "json_type",
    "json_valid",
    // A row adds its value to the result, which ends at the longest value or at the memory limit. As a window function it also
    // removes the oldest value, which moves the rest once.
    "group_concat", "json_group_array", "json_group_object", "string_agg",
    // An aggregate or window function that keeps numbers, positions or one value.
    "avg", "count", "cume_dist", "dense_rank", "first_value", "lag", "last_value", "lead", "nth_value", "ntile",
    "percent_rank", "rank", "row_number", "sum", "total",
];

/// Functions that return rows and read only their arguments. Each row of `json_each` is a step of its own; the first parses
/// the text.
pub(crate) const TABLE_FUNCTIONS: &[&str] = &["json_each"];

/// Table functions and tables of SQLite itself that are left out.
pub(crate) const OMITTED: &[&CStr] = &[c"json_tree", c"jsonb_tree", c"jsonb_each", c"dbstat", c"fts3tokenize"];

/// Returns `true` if a statement may call a function.
pub(crate) fn is_allowed(function: &str) -> bool {
    FUNCTIONS.iter().any(|name| name.eq_ignore_ascii_case(function)) || cfg!(test) && function == "stall"
}

/// Registers the replacements.
///
/// A call is one instruction, which cannot be interrupted. SQLite's `trim` and `unhex` with a long set of characters, `instr`
/// and `replace` with a long text to look for, and a pattern with many wildcards take seconds on the longest values. These
/// take linear time, or poll the clock, and return the same results.
pub(crate) fn replace_built_in(connection: &Connection, watch: &Arc<Watch>) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("instr", 2, flags, instr)?;
    connection.create_scalar_function("replace", 3, flags, replace)?;
    for (name, start, end) in [("trim", true, true), ("ltrim", true, false), ("rtrim", false, true)] {
        connection.create_scalar_function(name, 1, flags, move |context| trim(context, start, end))?;
        connection.create_scalar_function(name, 2, flags, move |context| trim(context, start, end))?;
    }
    connection.create_scalar_function("unhex", 1, flags, unhex)?;
    connection.create_scalar_function("unhex", 2, flags, unhex)?;
    add(connection)?;
    #[cfg(test)]
    crate::sql_guard::tests::add_stall(connection)?;
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

/// The time limit passed while matching.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interrupted;

/// Comparisons between two polls of the clock.
const STRIDE: u32 = 8192;

/// One part of a pattern.
#[derive(Debug, PartialEq)]
enum Part {
    /// Any number of characters.
    Any,
    /// Any single character.
    One,
    Character(char),
    /// One of these, or none of these, as ranges.
    Set {
        ranges: Vec<(char, char)>,
        negated: bool,
    },
}

#[derive(Debug, PartialEq)]
pub(crate) struct Pattern {
    parts: Vec<Part>,
    /// ASCII letters match regardless of case.
    folded: bool,
    /// It ends in an escape character or an open set, and matches nothing.
    broken: bool,
    /// The character that makes the next one literal.
    pub(crate) escape: Option<char>,
}

impl Pattern {
    /// The pattern of `x LIKE pattern ESCAPE escape`.
    pub(crate) fn like(pattern: &str, escape: Option<char>) -> Pattern {
        let mut parts = Vec::new();
        let mut characters = pattern.chars();
        let mut broken = false;
        while let Some(character) = characters.next() {
            parts.push(match character {
                _ if Some(character) == escape => match characters.next() {
                    Some(meant) => Part::Character(meant.to_ascii_lowercase()),
                    None => {
                        broken = true;
                        break;
                    }
                },
                '%' => Part::Any,
                '_' => Part::One,
                other => Part::Character(other.to_ascii_lowercase()),
            });
        }
        Pattern { parts, folded: true, broken, escape }
    }

    pub(crate) fn glob(pattern: &str) -> Pattern {
        let mut parts = Vec::new();
        let mut characters = pattern.chars();
        let mut broken = false;
        while let Some(character) = characters.next() {
            parts.push(match character {
                '*' => Part::Any,
                '?' => Part::One,
                '[' => match set(&mut characters) {
                    Some(set) => set,
                    None => {
                        broken = true;
                        break;
                    }
                },
                other => Part::Character(other),
            });
        }
        Pattern { parts, folded: false, broken, escape: None }
    }

    /// Returns `true` if all of `text` matches. Takes O(length of the text · length of the pattern) and polls `is_over`
    /// now and then.
    pub(crate) fn matches(&self, text: &str, is_over: &dyn Fn() -> bool) -> Result<bool, Interrupted> {
        if self.broken {
            return Ok(false);
        }
        let mut rest = text;
        let mut at = 0;
        // The position after the last part that matches any number of characters, and the text it has not consumed yet.
        // Only that part can ever need to consume more.
        let mut retry: Option<(usize, &str)> = None;
        let mut compared = 0_u32;
        loop {
            compared += 1;
            if compared.is_multiple_of(STRIDE) && is_over() {
                return Err(Interrupted);
            }
            if self.parts.get(at) == Some(&Part::Any) {
                at += 1;
                if at == self.parts.len() {
                    return Ok(true);
                }
                retry = Some((at, rest));
                continue;
            }
            let mut characters = rest.chars();
            match (self.parts.get(at), characters.next()) {
                (None, None) => return Ok(true),
                (Some(part), Some(character)) if self.is_match(part, character) => {
                    at += 1;
                    rest = characters.as_str();
                    continue;
                }
                // A later start reaches the end of the text no earlier.
                (_, None) => return Ok(false),
                _ => {}
            }
            let Some((part, from)) = retry else {
                return Ok(false);
            };
            let mut characters = from.chars();
            characters.next();
            retry = Some((part, characters.as_str()));
            rest = characters.as_str();
            at = part;
        }
    }

    fn is_match(&self, part: &Part, character: char) -> bool {
        match part {
            Part::Any => false,
            Part::One => true,
            Part::Character(wanted) if self.folded => character.to_ascii_lowercase() == *wanted,
            Part::Character(wanted) => character == *wanted,
            Part::Set { ranges, negated } => {
                ranges.iter().any(|(from, to)| (*from..=*to).contains(&character)) != *negated
            }
        }
    }
}

/// The set after a `[`; `None` if it is not closed.
fn set(characters: &mut std::str::Chars<'_>) -> Option<Part> {
    let mut ranges = Vec::new();
    let mut next = characters.next()?;
    let negated = next == '^';
    if negated {
        next = characters.next()?;
    }
    // A bracket in first position belongs to the set.
    let mut last: Option<char> = None;
    if next == ']' {
        ranges.push((']', ']'));
        next = characters.next()?;
    }
    while next != ']' {
        let following = characters.clone().next()?;
        match last {
            Some(from) if next == '-' && following != ']' => {
                characters.next();
                ranges.push((from, following));
                last = None;
            }
            _ => {
                ranges.push((next, next));
                last = Some(next);
            }
        }
        next = characters.next()?;
    }
    Some(Part::Set { ranges, negated })
}

/// A function of one number, with its name.
type OfOne = (&'static str, fn(f64) -> f64);

/// A function of two numbers, with its name.
type OfTwo = (&'static str, fn(f64, f64) -> f64);

/// Registers the functions.
///
/// As in SQLite, an argument or result that is not a number gives NULL.
pub(crate) fn add(connection: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    let rounding: [OfOne; 3] = [("ceil", f64::ceil), ("ceiling", f64::ceil), ("floor", f64::floor)];
    for (name, round) in rounding {
        connection.create_scalar_function(name, 1, flags, move |context| {
            Ok(match number(context, 0) {
                // A whole number stays one.
                Some(Value::Integer(whole)) => Some(Value::Integer(whole)),
                Some(Value::Real(real)) => Some(Value::Real(round(real))),
                _ => None,
            })
        })?;
    }
    let of_one: [OfOne; 6] = [
        ("exp", f64::exp),
        ("sqrt", f64::sqrt),
        ("ln", |x| logarithm(x, f64::ln)),
        ("log", |x| logarithm(x, f64::log10)),
        ("log10", |x| logarithm(x, f64::log10)),
        ("log2", |x| logarithm(x, f64::log2)),
    ];
    for (name, function) in of_one {
        connection.create_scalar_function(name, 1, flags, move |context| {
            Ok(real(context, 0).map(function).filter(|result| !result.is_nan()))
        })?;
    }
    let of_two: [OfTwo; 4] = [
        ("pow", f64::powf),
        ("power", f64::powf),
        ("mod", |x, y| x % y),
        ("log", |base, x| logarithm(x, f64::ln) / logarithm(base, f64::ln)),
    ];
    for (name, function) in of_two {
        connection.create_scalar_function(name, 2, flags, move |context| {
            let arguments = real(context, 0).zip(real(context, 1));
            Ok(arguments.map(|(x, y)| function(x, y)).filter(|result| !result.is_nan()))
        })?;
    }
    Ok(())
}

/// A number has a logarithm only above zero.
fn logarithm(x: f64, of: impl Fn(f64) -> f64) -> f64 {
    if x > 0.0 { of(x) } else { f64::NAN }
}

fn real(context: &Context<'_>, at: usize) -> Option<f64> {
    match number(context, at)? {
        Value::Integer(whole) => Some(whole as f64),
        Value::Real(real) => Some(real),
        _ => None,
    }
}

/// An argument as a number, even if it is a text that spells one.
fn number(context: &Context<'_>, at: usize) -> Option<Value> {
    match context.get_raw(at) {
        ValueRef::Integer(whole) => Some(Value::Integer(whole)),
        ValueRef::Real(real) => Some(Value::Real(real)),
        ValueRef::Text(text) => {
            let text = str::from_utf8(text).ok()?.trim_matches(|character: char| character.is_ascii_whitespace());
            // In SQL, `inf` and `nan` are not numbers.
            if !text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte)) {
                return None;
            }
            text.parse().map(Value::Integer).or_else(|_| text.parse().map(Value::Real)).ok()
        }
        ValueRef::Null | ValueRef::Blob(_) => None,
    }
}
