//! The functions that a statement may call. No single call of them takes long.
//!
//! A call is one instruction, and SQLite polls only between instructions ([`super::watch`]). So a function is allowed only if
//! a call takes time linear in its arguments, which are at most [`LONGEST_VALUE`](super::LONGEST_VALUE) each and fifty in
//! number. Limits on the length of results do not help here: `unhex` returns NULL after comparing each character with all of
//! another text.
//!
//! The tests call every function of this table with its worst arguments and compare the time with a reference.

use std::ffi::CStr;

/// The reason why a call ends soon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Harmless {
    /// It is compiled into the statement's instructions and never called.
    Compiled,
    /// It computes with numbers, or returns the type of its argument. A long text in place of a number is read once.
    Number,
    /// It reads each argument and writes its result a fixed number of times.
    Linear,
    /// SQLite's own takes quadratic time or is missing; [`super::functions`] or [`super::math`] has a linear one.
    Replaced,
    /// It takes the length of the text times that of the pattern (at most 1,000), and polls for the limits on the way.
    Watched,
    /// It reads a date, or a format whose directives each produce a fixed number of characters.
    Date,
    /// It parses JSON, nested at most 1,000 deep, and follows the given paths. Each level moves its content at most once.
    Json,
    /// A row adds its value to the result, which ends at the longest value or at the memory limit. As a window function it also
    /// removes the oldest value, which moves the rest once.
    Gathering,
    /// An aggregate or window function that keeps numbers, positions or one value.
    Rows,
}

use Harmless::{Compiled, Date, Gathering, Json, Linear, Number, Replaced, Rows, Watched};

/// Functions whose result depends on their arguments alone (and, for dates, on the day), and aggregates and window functions
/// of that kind.
///
/// Functions that edit JSON (`json_patch`, `json_set`, …) and `json_pretty` are left out: their time and memory have no
/// relation to their arguments, and reading does not need them. So is `json_tree`, which looks up every prefix of its path:
/// 3.4 s for one row.
pub(super) const FUNCTIONS: &[(&str, Harmless)] = &[
    ("->", Json),
    ("->>", Json),
    ("abs", Number),
    ("avg", Rows),
    ("ceil", Replaced),
    ("ceiling", Replaced),
    ("char", Linear),
    ("coalesce", Compiled),
    ("concat", Linear),
    ("concat_ws", Linear),
    ("count", Rows),
    ("cume_dist", Rows),
    ("date", Date),
    ("datetime", Date),
    ("dense_rank", Rows),
    ("exp", Replaced),
    ("first_value", Rows),
    ("floor", Replaced),
    ("format", Linear),
    ("glob", Watched),
    ("group_concat", Gathering),
    ("hex", Linear),
    ("if", Compiled),
    ("ifnull", Compiled),
    ("iif", Compiled),
    ("instr", Replaced),
    ("json", Json),
    ("json_array", Json),
    ("json_array_length", Json),
    ("json_extract", Json),
    ("json_group_array", Gathering),
    ("json_group_object", Gathering),
    ("json_object", Json),
    ("json_quote", Json),
    ("json_type", Json),
    ("json_valid", Json),
    ("julianday", Date),
    ("lag", Rows),
    ("last_value", Rows),
    ("lead", Rows),
    ("length", Linear),
    ("like", Watched),
    ("ln", Replaced),
    ("log", Replaced),
    ("log10", Replaced),
    ("log2", Replaced),
    ("lower", Linear),
    ("ltrim", Replaced),
    ("max", Linear),
    ("min", Linear),
    ("mod", Replaced),
    ("nth_value", Rows),
    ("ntile", Rows),
    ("nullif", Linear),
    ("octet_length", Number),
    ("percent_rank", Rows),
    ("pow", Replaced),
    ("power", Replaced),
    ("printf", Linear),
    ("quote", Linear),
    ("rank", Rows),
    ("replace", Replaced),
    ("round", Number),
    ("row_number", Rows),
    ("rtrim", Replaced),
    ("sign", Number),
    ("soundex", Linear),
    ("sqrt", Replaced),
    ("strftime", Date),
    ("string_agg", Gathering),
    ("substr", Linear),
    ("substring", Linear),
    ("sum", Rows),
    ("time", Date),
    ("timediff", Date),
    ("total", Rows),
    ("trim", Replaced),
    ("typeof", Number),
    ("unhex", Replaced),
    ("unicode", Linear),
    ("unixepoch", Date),
    ("upper", Linear),
];

/// Functions that return rows and read only their arguments. Each row of `json_each` is a step of its own; the first parses
/// the text.
pub(super) const TABLE_FUNCTIONS: &[&str] = &["json_each"];

/// Table functions and tables of SQLite itself that are left out.
pub(super) const OMITTED: &[&CStr] = &[c"json_tree", c"jsonb_tree", c"jsonb_each", c"dbstat", c"fts3tokenize"];

/// Returns `true` if a statement may call a function.
pub(super) fn is_allowed(function: &str) -> bool {
    FUNCTIONS.iter().any(|(name, _)| name.eq_ignore_ascii_case(function)) || cfg!(test) && function == "stall"
}
