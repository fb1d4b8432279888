//! Other phrasings of a query. Each is gathered on its own, and their rankings are merged.

use crate::Error;
use std::fmt;
use std::str::FromStr;

/// The most characters of a phrasing.
const MOST_CHARACTERS: usize = 800;

/// The kind of a phrasing, which sets the weight of its ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum VariantKind {
    /// The same need in other words.
    #[default]
    Intent,
    /// Files and directories where the answer may be.
    Paths,
    /// The shape of the wanted code.
    Code,
}

impl VariantKind {
    /// All kinds by name.
    pub const NAMES: [&str; 3] = ["intent", "paths", "code"];

    /// Returns the weight of the ranks of a phrasing. The query itself has that of an intent.
    pub(super) fn weight(self) -> f64 {
        match self {
            VariantKind::Intent => 1.0,
            VariantKind::Paths => 0.95,
            VariantKind::Code => 0.9,
        }
    }
}

impl fmt::Display for VariantKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            VariantKind::Intent => "intent",
            VariantKind::Paths => "paths",
            VariantKind::Code => "code",
        })
    }
}

/// Another phrasing of a query's need.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variant {
    /// Its words, at most 800 characters.
    pub text: String,
    /// Its kind.
    pub kind: VariantKind,
    /// The weight of its ranks, 0 to 1. `None`: the weight of its kind, 1 for an intent, 0.95 for paths, 0.9 for
    /// code.
    pub weight: Option<f64>,
}

/// Parses `TEXT`, or `intent:TEXT`, `paths:TEXT`, `code:TEXT`.
impl FromStr for Variant {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (kind, text) = match text.split_once(':') {
            Some(("intent", rest)) => (VariantKind::Intent, rest),
            Some(("paths", rest)) => (VariantKind::Paths, rest),
            Some(("code", rest)) => (VariantKind::Code, rest),
            _ => (VariantKind::Intent, text),
        };
        let text = text.trim().to_owned();
        if text.is_empty() {
            return Err(Error::argument("variant", "\"\"", "some words, or intent:…, paths:…, code:… with some words"));
        }
        Ok(Variant { text, kind, weight: None })
    }
}

impl Variant {
    /// Returns its weight.
    ///
    /// # Errors
    /// Its text is empty or too long, or its weight is not in the range 0 to 1.
    pub(super) fn checked(&self) -> Result<f64, Error> {
        let length = self.text.chars().count();
        if self.text.trim().is_empty() || length > MOST_CHARACTERS {
            let allowed = format!("1 to {MOST_CHARACTERS} characters");
            return Err(Error::argument("variant", format!("{length} characters"), allowed));
        }
        match self.weight {
            Some(weight) if !(0.0..=1.0).contains(&weight) => {
                Err(Error::argument("variant weight", weight.to_string(), "0 to 1"))
            }
            weight => Ok(weight.unwrap_or(self.kind.weight())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_says_its_kind_in_front() {
        let read = |text: &str| text.parse::<Variant>().map(|variant| (variant.kind, variant.text));
        assert_eq!(read("code:fn retry(").ok(), Some((VariantKind::Code, "fn retry(".into())));
        assert_eq!(read("paths: src/net").ok(), Some((VariantKind::Paths, "src/net".into())));
        assert_eq!(read("std::fmt").ok(), Some((VariantKind::Intent, "std::fmt".into())), "not every colon is a kind");
        assert!(read("code: ").is_err());
    }

    #[test]
    fn weights_come_from_the_kind_and_lengths_are_bounded() {
        let weight = |text: &str| text.parse::<Variant>().expect("a variant").checked();
        assert_eq!(weight("x").ok(), Some(1.0));
        assert_eq!(weight("paths:x").ok(), Some(0.95));
        assert_eq!(weight("code:x").ok(), Some(0.9));
        assert!(weight(&"é".repeat(800)).is_ok(), "characters, not bytes");
        let error = weight(&"x".repeat(801)).expect_err("one too many").to_string();
        assert!(error.contains("801 characters") && error.contains("1 to 800"), "{error}");
        let heavy = Variant { text: "x".into(), weight: Some(1.5), ..Variant::default() };
        assert!(heavy.checked().is_err());
    }
}
