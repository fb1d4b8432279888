//! Search modes by name.

use crate::Error;
use crate::config::{Mode, Words};
use std::str::FromStr;

impl FromStr for Mode {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let allowed = || format!("one of {}", Mode::NAMES.join(", "));
        Mode::from_word(name).ok_or_else(|| Error::argument("mode", format!("{name:?}"), allowed()))
    }
}
