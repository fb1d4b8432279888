//! Mathematical functions that the bundled SQLite lacks.
//!
//! As in SQLite, an argument or result that is not a number gives NULL.

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Result};

/// A function of one number, with its name.
type OfOne = (&'static str, fn(f64) -> f64);

/// A function of two numbers, with its name.
type OfTwo = (&'static str, fn(f64, f64) -> f64);

/// Registers the functions.
pub(super) fn add(connection: &Connection) -> Result<()> {
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
