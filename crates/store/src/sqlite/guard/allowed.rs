//! The functions that a statement may call, and why no single call of one takes long.
//!
//! One call of a function is one instruction, and SQLite asks only between instructions whether to go on ([`super::watch`]).
//! So a function is allowed only where a call takes time in proportion to its arguments, which are at most
//! [`LONGEST_VALUE`](super::LONGEST_VALUE) each and fifty in number. Length limits on results do not help here: `unhex` gives
//! NULL after comparing each character with all of another text.
//!
//! The tests call every function of this table with its worst arguments and compare that with a reference.

/// Why a call of a function ends soon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Harmless {
    /// It is compiled into the statement's instructions and never called.
    Compiled,
    /// It computes with numbers, or tells the type of its argument. A long text that stands for a number is read once.
    Number,
    /// It reads each argument and writes its result a fixed number of times.
    Linear,
    /// SQLite's own takes quadratic time or is missing; [`super::functions`] or [`super::math`] has one that is linear.
    Replaced,
    /// It takes the length of the text times that of the pattern (at most 1,000), and asks on the way whether to go on.
    Watched,
    /// It reads a text of date, or a format of which each directive gives a fixed number of characters.
    Date,
    /// It parses JSON, nested at most 1,000 deep, and walks along the given paths. A level moves what it holds at most once.
    Json,
    /// A row adds its value to what is gathered, which ends at the longest value or at the memory of a statement. As a window
    /// function it also takes the oldest value out, which moves the rest once.
    Gathering,
    /// An aggregate or window function that keeps numbers, places or one value.
    Rows,
}

use Harmless::{Compiled, Date, Gathering, Json, Linear, Number, Replaced, Rows, Watched};

/// Functions whose result depends on their arguments alone (and, for dates, on the day), and aggregates and window functions
/// of that kind.
///
/// Left out is what edits JSON (`json_patch`, `json_set`, …) and `json_pretty`: they can take time and memory beyond any
/// relation to what they are given, and nobody needs them to read. So is `json_tree`, which looks up every prefix of the path
/// that it is given: 3.4 s for one row.
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

/// Functions that give rows and read nothing but their arguments. Each row of `json_each` is a step of its own; the first
/// parses the text.
pub(super) const TABLE_FUNCTIONS: &[&str] = &["json_each"];

/// Whether a statement may call a function.
pub(super) fn is_allowed(function: &str) -> bool {
    FUNCTIONS.iter().any(|(name, _)| name.eq_ignore_ascii_case(function)) || cfg!(test) && function == "stall"
}
