//! Flag values read from text; errors say what is allowed.

use tamis::flags::whole;
use tamis_cut::{Rule, parse};

/// A wait in minutes, up to a day.
pub fn minutes(text: &str) -> Result<f64, String> {
    let minutes = text.parse().ok().filter(|minutes| (0.0..=1440.0).contains(minutes));
    minutes.ok_or_else(|| "must be a number of minutes from 0 to 1440".into())
}

/// A count of at least one.
pub fn at_least_one(text: &str) -> Result<usize, String> {
    whole::<1, { usize::MAX }>(text)
}

/// A cut method with its parameters.
pub fn cut(text: &str) -> Result<Box<dyn Rule>, String> {
    parse(text).map_err(|error| error.to_string())
}
