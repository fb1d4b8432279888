//! The trait that every cut method implements.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::cut::{Cut, Value};
use crate::method::{Method, Scale, Setting};
use crate::parse::RuleError;
use crate::pool::Pool;

/// Access to a rule's parameters by name. The declaration of a method implements it.
pub trait Settings {
    /// The method's description: name, summary, parameters.
    fn method(&self) -> &'static Method;

    /// The value of each parameter, in the order of the description.
    fn settings(&self) -> Vec<(&'static str, Value)>;

    /// A rule of the same method with these settings; every other parameter has its default.
    ///
    /// # Errors
    /// An unknown parameter, or a value out of range, with what is allowed.
    fn rebuilt(&self, settings: &[(&str, Value)]) -> Result<Box<dyn Rule>, RuleError>;

    /// Checks that every parameter is within its range, for structs filled in by hand or read from a file. A rule with a
    /// value out of range does not panic, but its answer means little.
    ///
    /// # Errors
    /// [`RuleError::OutOfRange`] or [`RuleError::OutOfOrder`], naming the parameter, the value and what is allowed.
    fn check(&self) -> Result<(), RuleError> {
        self.method().check(&self.settings())
    }

    /// A boxed copy.
    fn boxed(&self) -> Box<dyn Rule>;
}

/// A configured cut method: a pure function from a pool to a cut.
///
/// The defaulted methods declare what a method needs beyond the values of the list. Callers ask them before they gather
/// that data, since gathering takes time.
///
/// ```
/// use tamis_cut::{Pool, Rule, TopScore};
///
/// let pool = Pool::scores([0.8, 0.5, 0.41, 0.39])?;
/// let cut = TopScore::default().cut(&pool);
/// assert_eq!((cut.keep, cut.threshold), (3, Some(0.4)));
/// # Ok::<(), tamis_cut::PoolError>(())
/// ```
pub trait Rule: Settings + fmt::Debug + Send + Sync {
    /// Decides how many of the pool's candidates to keep. Never panics, and gives equal pools equal answers.
    fn cut(&self, pool: &Pool) -> Cut;

    /// The parameter that sets how much to keep, with its value for `want`; `None` where the method has no such parameter.
    fn strictness(&self, want: Want) -> Option<(&'static str, Value)> {
        let _ = want;
        None
    }

    /// Returns true if it decides by how likely candidates are to be relevant: by their probabilities
    /// ([`Pool::with_probabilities`]), or else by a model ([`Pool::with_relevance`]).
    fn reads_relevance(&self) -> bool {
        false
    }

    /// Returns true if it reads, as configured, the number of tokens of each candidate ([`Pool::with_sizes`]).
    fn reads_sizes(&self) -> bool {
        false
    }

    /// Returns true if it reads the similarity that each candidate's language requires ([`RawScores::threshold`]).
    fn reads_thresholds(&self) -> bool {
        false
    }

    /// Returns true if candidates that only their meaning speaks for must reach the similarity that was measured or set for
    /// their language. What falls short is presented to the rule as a passage that has nothing to do with the query.
    fn heeds_measured_thresholds(&self) -> bool {
        false
    }

    /// Returns true if it applies tables of their own to the candidates of some sources ([`Pool::with_source_tables`]).
    fn reads_sources(&self) -> bool {
        false
    }

    /// Returns true if its source defines it on a list of passages. Other methods count entries, which a person takes for one
    /// result: a file, an issue, a session. They get one value per entry.
    fn counts_passages(&self) -> bool {
        false
    }

    /// Returns the configured budget of tokens for the text of an answer, if any.
    fn token_budget(&self) -> Option<usize> {
        None
    }

    /// Returns true if its source defines it on distances adjusted for age. Other methods get such distances only on request.
    fn reads_aged_distances(&self) -> bool {
        false
    }

    /// Admits or refuses a candidate by its own raw scores, before fusion and reranking; `None` for a rule that looks at the
    /// whole list. The pool then carries the counts ([`Pool::with_admitted`]), and the rule keeps all admitted candidates.
    fn admits(&self, candidate: &RawScores) -> Option<Admission> {
        let _ = candidate;
        None
    }

    /// The method's name, as [`parse`](crate::parse()) takes it.
    fn name(&self) -> &'static str {
        self.method().name
    }

    /// The list of a hybrid search that the method is made for.
    fn scale(&self) -> Scale {
        self.method().scale
    }
}

impl dyn Rule {
    /// This rule set to keep as much as `want` says, with the setting as text; `None` where the method has no strictness or
    /// `want` leaves the choice to the rule.
    ///
    /// ```
    /// use tamis_cut::{Want, parse};
    ///
    /// let (rule, setting) = parse("background")?.tuned(Want::One).expect("background has a strictness");
    /// assert_eq!((rule.to_string().as_str(), setting.as_str()), ("background:lambda=0.95", "lambda=0.95"));
    /// # Ok::<(), tamis_cut::RuleError>(())
    /// ```
    pub fn tuned(&self, want: Want) -> Option<(Box<dyn Rule>, String)> {
        want.level()?;
        let (name, value) = self.strictness(want)?;
        let setting = format!("{name}={value}");
        let mut settings = self.settings();
        settings.iter_mut().find(|(known, _)| *known == name)?.1 = value;
        Some((self.rebuilt(&settings).ok()?, setting))
    }
}

impl Clone for Box<dyn Rule> {
    fn clone(&self) -> Self {
        self.boxed()
    }
}

/// The rule as text that [`parse`](crate::parse()) reads back: `METHOD:PARAM=VALUE,…` with every parameter.
impl fmt::Display for dyn Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        for (index, (name, value)) in self.settings().iter().enumerate() {
            write!(f, "{}{name}={value}", if index == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

// Rules that judge each candidate alone, before there is a list.

/// The raw scores of one candidate, before fusion and reranking. Unknown scores are `None`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RawScores {
    /// Cosine similarity to the query, −1 to 1.
    pub similarity: Option<f64>,
    /// Share of the query's IDF mass that the candidate matches, 0 to 1.
    pub coverage: Option<f64>,
    /// Similarity that the candidate's language requires, or the query's language where it names one.
    pub threshold: Option<f64>,
}

/// A rule's decision on one candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// Admitted: similar enough.
    Similarity,
    /// Admitted for the query's words it contains, without enough similarity.
    Words,
    /// Refused.
    Refused,
}

/// Counts of admitted candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Admitted {
    /// By their similarity.
    pub by_similarity: usize,
    /// By their words.
    pub by_words: usize,
}

impl Admitted {
    /// All of them.
    pub fn total(&self) -> usize {
        self.by_similarity + self.by_words
    }
}

impl FromIterator<Admission> for Admitted {
    fn from_iter<I: IntoIterator<Item = Admission>>(admissions: I) -> Self {
        admissions.into_iter().fold(Admitted::default(), |mut admitted, admission| {
            match admission {
                Admission::Similarity => admitted.by_similarity += 1,
                Admission::Words => admitted.by_words += 1,
                Admission::Refused => {}
            }
            admitted
        })
    }
}

impl Pool {
    /// The pool with the number of first candidates that the rule admitted by their raw scores
    /// ([`Rule::admits`](crate::Rule::admits)).
    pub fn with_admitted(self, admitted: Admitted) -> Self {
        self.with(admitted)
    }

    /// Counts of the first candidates that were admitted before the list was made, where the rule was asked.
    pub fn admitted(&self) -> Option<Admitted> {
        self.get().copied()
    }
}

// The amount that the asker wants.

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
