//! The functions that a statement may call, and how each is called here.

use super::expression::Piece;
use super::parser::{Parsed, Parser};
use super::tokens::{Token, identifier};
use crate::sqlite::guard::errors;

/// The most arguments of a call.
const MOST_ARGUMENTS: usize = 50;

/// A kind of function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It computes a value of its arguments.
    Plain,
    /// It computes a value of many rows.
    Aggregate,
    /// It computes a value of a row's neighbours, and needs OVER.
    Window,
}

use Kind::{Aggregate, Plain, Window};

/// A function: its name, its kind, the least and most arguments, and its call. In the call, `#1` to `#3` are arguments and `#*`
/// all of them as texts; `~` is the place of DISTINCT, `^` that of ORDER BY, and `@` that of FILTER and OVER.
struct Function(&'static str, Kind, usize, usize, &'static str);

/// The functions. No single call of one takes long, and none returns more than the longest value: arguments have bounded
/// lengths, what is looked for is short (`sought`), and `bounded` ends what grows.
const FUNCTIONS: &[Function] = &[
    Function("abs", Plain, 1, 1, "abs(#1)"),
    Function("avg", Aggregate, 1, 1, "(avg(~#1^)@)::double precision"),
    Function("ceil", Plain, 1, 1, "ceil(#1)"),
    Function("ceiling", Plain, 1, 1, "ceil(#1)"),
    Function("coalesce", Plain, 2, MOST_ARGUMENTS, ""),
    Function("concat", Plain, 1, MOST_ARGUMENTS, "bounded(concat(#*))"),
    Function("concat_ws", Plain, 2, MOST_ARGUMENTS, "bounded(concat_ws(#*))"),
    Function("count", Aggregate, 0, 1, "count(~#1^)@"),
    Function("cume_dist", Window, 0, 0, "cume_dist()@"),
    Function("dense_rank", Window, 0, 0, "dense_rank()@"),
    Function("exp", Plain, 1, 1, "exp((#1)::double precision)"),
    Function("first_value", Window, 1, 1, "first_value(#1)@"),
    Function("floor", Plain, 1, 1, "floor(#1)"),
    Function("group_concat", Aggregate, 1, 1, "gathered(~(#1)::text, ','^)@"),
    Function("group_concat", Aggregate, 2, 2, "gathered(~(#1)::text, (#2)::text^)@"),
    Function("hex", Plain, 1, 1, "hex(#1)"),
    Function("if", Plain, 2, 3, ""),
    Function("ifnull", Plain, 2, 2, "coalesce(#1, #2)"),
    Function("iif", Plain, 2, 3, ""),
    Function("instr", Plain, 2, 2, "strpos((#1)::text, sought((#2)::text))::bigint"),
    Function("json_array_length", Plain, 1, 1, "json_array_length((#1)::text)"),
    Function(
        "json_group_array",
        Aggregate,
        1,
        1,
        "bounded(concat('[', gathered(~coalesce(to_jsonb(#1)::text, 'null'), ','^)@, ']'))",
    ),
    Function("lag", Window, 1, 1, "lag(#1)@"),
    Function("lag", Window, 2, 2, "lag(#1, (#2)::integer)@"),
    Function("lag", Window, 3, 3, "lag(#1, (#2)::integer, #3)@"),
    Function("last_value", Window, 1, 1, "last_value(#1)@"),
    Function("lead", Window, 1, 1, "lead(#1)@"),
    Function("lead", Window, 2, 2, "lead(#1, (#2)::integer)@"),
    Function("lead", Window, 3, 3, "lead(#1, (#2)::integer, #3)@"),
    Function("left", Plain, 2, 2, "left((#1)::text, (#2)::integer)"),
    Function("length", Plain, 1, 1, "length(#1)"),
    Function("ln", Plain, 1, 1, "ln((#1)::double precision)"),
    Function("log", Plain, 1, 1, "log((#1)::double precision)"),
    Function("log", Plain, 2, 2, "log((#1)::double precision, (#2)::double precision)"),
    Function("log10", Plain, 1, 1, "log((#1)::double precision)"),
    Function("log2", Plain, 1, 1, "log2((#1)::double precision)"),
    Function("lower", Plain, 1, 1, "lower((#1)::text COLLATE \"C\")"),
    Function("ltrim", Plain, 1, 1, "ltrim((#1)::text)"),
    Function("ltrim", Plain, 2, 2, "ltrim((#1)::text, sought((#2)::text))"),
    Function("max", Aggregate, 1, 1, "max(~#1^)@"),
    Function("max", Plain, 2, MOST_ARGUMENTS, ""),
    Function("min", Aggregate, 1, 1, "min(~#1^)@"),
    Function("min", Plain, 2, MOST_ARGUMENTS, ""),
    Function("nth_value", Window, 2, 2, "nth_value(#1, (#2)::integer)@"),
    Function("ntile", Window, 1, 1, "ntile((#1)::integer)@"),
    Function("nullif", Plain, 2, 2, "nullif(#1, #2)"),
    Function("octet_length", Plain, 1, 1, "octet_length((#1)::text)::bigint"),
    Function("percent_rank", Window, 0, 0, "percent_rank()@"),
    Function("pow", Plain, 2, 2, "power((#1)::double precision, (#2)::double precision)"),
    Function("power", Plain, 2, 2, "power((#1)::double precision, (#2)::double precision)"),
    Function("rank", Window, 0, 0, "rank()@"),
    Function("repeat", Plain, 2, 2, "repeat((#1)::text, #2)"),
    Function("replace", Plain, 3, 3, "replace((#1)::text, (#2)::text, (#3)::text)"),
    Function("right", Plain, 2, 2, "right((#1)::text, (#2)::integer)"),
    Function("round", Plain, 1, 1, "round((#1)::double precision)"),
    Function("round", Plain, 2, 2, "round((#1)::double precision, (#2)::bigint)"),
    Function("row_number", Window, 0, 0, "row_number()@"),
    Function("rtrim", Plain, 1, 1, "rtrim((#1)::text)"),
    Function("rtrim", Plain, 2, 2, "rtrim((#1)::text, sought((#2)::text))"),
    Function("sign", Plain, 1, 1, "sign(#1)"),
    Function("sqrt", Plain, 1, 1, "sqrt((#1)::double precision)"),
    Function("string_agg", Aggregate, 2, 2, "gathered(~(#1)::text, (#2)::text^)@"),
    Function("substr", Plain, 2, 2, "substr((#1)::text, (#2)::bigint)"),
    Function("substr", Plain, 3, 3, "substr((#1)::text, (#2)::bigint, (#3)::bigint)"),
    Function("substring", Plain, 2, 2, "substr((#1)::text, (#2)::bigint)"),
    Function("substring", Plain, 3, 3, "substr((#1)::text, (#2)::bigint, (#3)::bigint)"),
    Function("sum", Aggregate, 1, 1, "sum(~#1^)@"),
    Function("total", Aggregate, 1, 1, "coalesce((sum(~#1^)@)::double precision, 0)"),
    Function("trim", Plain, 1, 1, "btrim((#1)::text)"),
    Function("trim", Plain, 2, 2, "btrim((#1)::text, sought((#2)::text))"),
    Function("typeof", Plain, 1, 1, "typeof(#1)"),
    Function("unicode", Plain, 1, 1, "nullif(ascii((#1)::text), 0)::bigint"),
    Function("upper", Plain, 1, 1, "upper((#1)::text COLLATE \"C\")"),
];

/// What a call may be.
const ALLOWED: &str = "functions of text, numbers and JSON that only compute are allowed, and aggregates";

impl Parser<'_> {
    /// A call of a function, after its name.
    pub(super) fn call(&mut self, name: &str) -> Parsed<Piece> {
        if !is_function(name) {
            let error = errors::function_not_among(name, FUNCTIONS.iter().map(|function| function.0), ALLOWED);
            return Err(errors::shortened(error));
        }
        self.take();
        let distinct = self.takes_word("distinct");
        let mut arguments = Vec::new();
        let star = name == "count" && self.takes("*");
        if !star && !matches!(self.token(), Token::Sign(")")) && !self.sees("order") {
            arguments = self.arguments()?;
        }
        let order = if self.takes_word("order") {
            self.expect_word("by")?;
            format!(" ORDER BY {}", self.order_within()?)
        } else {
            String::new()
        };
        self.expect(")")?;
        if arguments.len() > MOST_ARGUMENTS {
            return Err(errors::refusal(format!("too many arguments on function {name}"), "give at most fifty"));
        }
        let count = arguments.len();
        let fitting = FUNCTIONS
            .iter()
            .find(|function| function.0 == name && (function.2..=function.3).contains(&count))
            .ok_or_else(|| errors::refusal(format!("wrong number of arguments to function {name}()"), ALLOWED))?;
        let after = self.after_call(fitting.1)?;
        let is_plain = fitting.1 == Plain;
        if is_plain && (distinct || !order.is_empty()) || fitting.1 == Window && after.is_empty() {
            return Err(errors::refusal(format!("misuse of function {name}()"), ALLOWED));
        }
        let text = if is_plain && fitting.4.is_empty() {
            special(name, &arguments)
        } else {
            filled(fitting.4, &arguments, distinct, &order, &after)
        };
        Ok(Piece::other(text, 1))
    }

    fn arguments(&mut self) -> Parsed<Vec<Piece>> {
        let mut arguments = vec![self.expression()?];
        while self.takes(",") {
            arguments.push(self.expression()?);
        }
        Ok(arguments)
    }

    /// FILTER and OVER.
    fn after_call(&mut self, kind: Kind) -> Parsed<String> {
        let mut after = String::new();
        if kind != Plain && self.sees("filter") && matches!(self.ahead(1), Token::Sign("(")) {
            self.take();
            self.take();
            self.expect_word("where")?;
            after.push_str(&format!(" FILTER (WHERE {})", self.condition()?));
            self.expect(")")?;
        }
        if kind != Plain && self.takes_word("over") {
            if self.takes("(") {
                after.push_str(&format!(" OVER ({})", self.window()?));
            } else {
                after.push_str(&format!(" OVER {}", identifier(&self.name()?)));
            }
        }
        Ok(after)
    }

    /// The windows of a SELECT.
    pub(super) fn windows(&mut self) -> Parsed<String> {
        let mut windows = Vec::new();
        loop {
            let name = self.name()?;
            self.expect_word("as")?;
            self.expect("(")?;
            windows.push(format!("{} AS ({})", identifier(&name), self.window()?));
            if !self.takes(",") {
                return Ok(windows.join(", "));
            }
        }
    }

    /// A window, after its parenthesis.
    fn window(&mut self) -> Parsed<String> {
        let mut parts = Vec::new();
        if self.takes_word("partition") {
            self.expect_word("by")?;
            parts.push(format!("PARTITION BY {}", self.list()?.join(", ")));
        }
        if self.takes_word("order") {
            self.expect_word("by")?;
            parts.push(format!("ORDER BY {}", self.order_within()?));
        }
        for unit in ["rows", "range", "groups"] {
            if self.takes_word(unit) {
                let frame = if self.takes_word("between") {
                    let from = self.bound()?;
                    self.expect_word("and")?;
                    format!("BETWEEN {from} AND {}", self.bound()?)
                } else {
                    self.bound()?
                };
                parts.push(format!("{} {frame}", unit.to_ascii_uppercase()));
            }
        }
        self.expect(")")?;
        Ok(parts.join(" "))
    }

    /// An end of a frame.
    fn bound(&mut self) -> Parsed<String> {
        if self.takes_word("current") {
            self.expect_word("row")?;
            return Ok("CURRENT ROW".to_owned());
        }
        let distance = if self.takes_word("unbounded") { "UNBOUNDED".to_owned() } else { self.expression()?.text };
        if self.takes_word("preceding") {
            return Ok(format!("{distance} PRECEDING"));
        }
        self.expect_word("following")?;
        Ok(format!("{distance} FOLLOWING"))
    }
}

/// Calls that are written as something else.
fn special(name: &str, arguments: &[Piece]) -> String {
    let texts: Vec<&str> = arguments.iter().map(|argument| argument.text.as_str()).collect();
    match (name, arguments) {
        ("if" | "iif", [condition, yes, rest @ ..]) => {
            let no = rest.first().map_or("NULL", |no| no.text.as_str());
            format!("(CASE WHEN {} THEN {} ELSE {no} END)", condition.truth(), yes.text)
        }
        ("min" | "max", [first, rest @ ..]) => {
            let name = if name == "min" { "lesser" } else { "greater" };
            rest.iter().fold(first.text.clone(), |all, next| format!("{name}({all}, {})", next.text))
        }
        _ => format!("{name}({})", texts.join(", ")),
    }
}

/// The call of a function with its arguments in place.
fn filled(call: &str, arguments: &[Piece], distinct: bool, order: &str, after: &str) -> String {
    let mut text = String::new();
    let mut marks = call.chars();
    while let Some(mark) = marks.next() {
        match mark {
            '~' => text.push_str(if distinct { "DISTINCT " } else { "" }),
            '^' => text.push_str(order),
            '@' => text.push_str(after),
            '#' => match marks.next().and_then(|place| place.to_digit(10)) {
                // Without an argument, an aggregate counts rows.
                Some(place) => text.push_str(arguments.get(place as usize - 1).map_or("*", |argument| &argument.text)),
                None => {
                    let all: Vec<String> =
                        arguments.iter().map(|argument| format!("({})::text", argument.text)).collect();
                    text.push_str(&all.join(", "));
                }
            },
            other => text.push(other),
        }
    }
    text
}

/// Returns `true` if there is a function of this name.
pub(super) fn is_function(name: &str) -> bool {
    FUNCTIONS.iter().any(|function| function.0 == name)
}
