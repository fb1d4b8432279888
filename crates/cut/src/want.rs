//! How much is wanted, as the asker says it.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::auto::{Basis, Relevance};
use crate::method::Setting;
use crate::rule::Rule;
use crate::value::Value;

/// How many of the passages that answer are wanted. How strict a cut should be belongs to the collection and to the
/// asker; this is how the asker says it, in words that every rule with a strictness understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Want {
    /// What the rule decides by itself.
    #[default]
    Auto,
    /// The one answer, and what is nearly as good.
    One,
    /// The good answers.
    Some,
    /// Everything on the topic.
    All,
}

impl Want {
    /// All words, in order.
    pub const NAMES: &'static [&'static str] = &["auto", "one", "some", "all"];

    /// The word.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The relevance that the asker's word stands for: a level, and less spread, since the asker knows.
    pub(crate) fn apply(self, relevance: Relevance) -> Relevance {
        match self.level() {
            Some(level) => Relevance { level, spread: 0.06, basis: Basis::Asked, ..relevance },
            None => relevance,
        }
    }

    /// Height between the background and the best at which relevance is to end.
    fn level(self) -> Option<f64> {
        match self {
            Want::Auto => None,
            Want::One => Some(0.95),
            Want::Some => Some(0.72),
            Want::All => Some(0.45),
        }
    }

    /// The rule at the strictness that this word stands for, and what was set; `None` where the rule has none.
    ///
    /// `auto` takes the word itself; `background` and `relative` a share, `autocut` a number of jumps. The other
    /// methods have nothing that says how much is wanted.
    pub fn tune(self, rule: &dyn Rule) -> Option<(Box<dyn Rule>, String)> {
        let level = self.level()?;
        let (name, value) = match rule.name() {
            "auto" => ("want", Value::from(self.name())),
            "background" => ("lambda", Value::from(level)),
            "relative" => ("share", Value::from((1.0 + level) / 2.0)),
            "autocut" => ("jumps", Value::Integer(self as i64)),
            _ => return None,
        };
        let mut settings = rule.settings();
        for setting in settings.iter_mut().filter(|(setting, _)| *setting == name) {
            setting.1 = value.clone();
        }
        let tuned = crate::parse::build(rule.name(), settings).ok()?;
        Some((tuned, format!("{name}={value}")))
    }
}

impl FromStr for Want {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        [Want::Auto, Want::One, Want::Some, Want::All]
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
            ("relative", Want::Some, "share=0.86"),
        ] {
            let (rule, set) = want.tune(parse(method).unwrap().as_ref()).unwrap();
            assert_eq!(set, setting);
            assert!(rule.to_string().contains(setting), "{rule}");
        }
        assert!(Want::All.tune(parse("otsu").unwrap().as_ref()).is_none());
        assert!(Want::Auto.tune(parse("background").unwrap().as_ref()).is_none());
    }

    #[test]
    fn names_are_those_of_the_variants() {
        for name in Want::NAMES {
            assert_eq!(&name.parse::<Want>().unwrap().name(), name);
        }
        assert!("many".parse::<Want>().unwrap_err().contains("one of auto, one, some, all"));
    }
}
