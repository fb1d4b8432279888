//! The amount that the asker wants.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::parameter::Setting;
use crate::value::Value;

/// The amount of answers that the asker wants.
///
/// The right strictness depends on the collection and on the asker. These words let the asker state it for every rule that
/// has a strictness; [`Rule::tuned`](crate::Rule) applies them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Want {
    /// The rule decides.
    #[default]
    Auto,
    /// The one answer, and anything nearly as good.
    One,
    /// The best answers.
    Best,
    /// Everything on the topic.
    All,
}

impl Want {
    /// All words, in order.
    pub const NAMES: &'static [&'static str] = &["auto", "one", "best", "all"];

    /// The word.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The normalized score, between the background (0) and the best candidate (1), at which relevance should end; `None`
    /// where the rule decides.
    pub(crate) fn level(self) -> Option<f64> {
        match self {
            Want::Auto => None,
            Want::One => Some(0.95),
            Want::Best => Some(0.72),
            Want::All => Some(0.45),
        }
    }
}

impl Want {
    /// The weight of recall in relation to precision, in F_β, where the probability of each candidate is known.
    pub(crate) fn beta(self) -> f64 {
        match self {
            Want::One => 0.5,
            Want::Auto | Want::Best => 2.0,
            Want::All => 4.0,
        }
    }
}

impl FromStr for Want {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        [Want::Auto, Want::One, Want::Best, Want::All]
            .into_iter()
            .find(|want| want.name() == name)
            .ok_or_else(|| format!("must be one of {} and is \"{name}\"", Self::NAMES.join(", ")))
    }
}

impl Setting for Want {
    fn to_value(&self) -> Value {
        Value::from(self.name())
    }
    fn from_value(value: &Value) -> Option<Self> {
        value.as_text()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse;

    #[test]
    fn the_words_set_the_strictness_of_the_rules_that_have_one() {
        for (method, want, setting) in [
            ("auto", Want::One, "want=one"),
            ("background", Want::All, "lambda=0.45"),
            ("autocut", Want::All, "jumps=3"),
            ("relative", Want::Best, "share=0.86"),
        ] {
            let (rule, set) = parse(method).unwrap().tuned(want).unwrap();
            assert_eq!(set, setting);
            assert!(rule.to_string().contains(setting), "{rule}");
        }
        assert!(parse("otsu").unwrap().tuned(Want::All).is_none());
        assert!(parse("background").unwrap().tuned(Want::Auto).is_none());
    }

    #[test]
    fn names_are_those_of_the_variants() {
        for name in Want::NAMES {
            assert_eq!(&name.parse::<Want>().unwrap().name(), name);
        }
        assert!("many".parse::<Want>().unwrap_err().contains("one of auto, one, best, all"));
    }
}
