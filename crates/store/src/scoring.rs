//! The key that makes scores of recorded searches comparable.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// The pipeline that scored a recorded search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum ScoringKind {
    /// A search over files, pages and imports.
    #[default]
    Search,
    /// A search over memories, which fade with age.
    Memories,
    /// A search over issues, ranked by the ranks of their passages.
    Issues,
    /// Evidence ranked by similarity.
    Evidence,
}

impl ScoringKind {
    const ALL: [ScoringKind; 4] =
        [ScoringKind::Search, ScoringKind::Memories, ScoringKind::Issues, ScoringKind::Evidence];

    /// Returns the name in the text form.
    pub fn as_str(self) -> &'static str {
        match self {
            ScoringKind::Search => "search",
            ScoringKind::Memories => "memories",
            ScoringKind::Issues => "issues",
            ScoringKind::Evidence => "evidence",
        }
    }
}

/// Everything that determines the meaning of a score, apart from the model and the legs. Scores of two searches are
/// comparable when their keys are equal.
///
/// The text form is stable: the kind, the fusion, then the settings by name, as in
/// `search; fusion=convex 0.5; pool=100; usage=0.9`. A `;`, `=` or `%` inside a name or value is written as `%3B`, `%3D`
/// or `%25`.
///
/// ```
/// use tamis_store::{ScoringKey, ScoringKind};
///
/// let key = ScoringKey::new(ScoringKind::Search, "convex 0.5").with("usage", 0.9).with("pool", 100);
/// assert_eq!(key.to_string(), "search; fusion=convex 0.5; pool=100; usage=0.9");
/// assert_eq!(key.to_string().parse(), Ok(key));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub struct ScoringKey {
    /// The pipeline.
    pub kind: ScoringKind,
    /// The fusion whose values the cut read, in its own text form; empty where unknown.
    pub fusion: String,
    /// Everything else that moves scores, by name.
    pub settings: BTreeMap<String, String>,
}

/// The setting of searches that count entries.
const ENTRIES: &str = "entries";

impl ScoringKey {
    /// Makes a key without settings.
    pub fn new(kind: ScoringKind, fusion: impl fmt::Display) -> ScoringKey {
        ScoringKey { kind, fusion: fusion.to_string(), settings: BTreeMap::new() }
    }

    /// Adds a setting.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl fmt::Display) -> ScoringKey {
        self.settings.insert(name.into(), value.to_string());
        self
    }

    /// The key of a search whose cut read one value for each entry, that of its best passage.
    #[must_use]
    pub fn counting_entries(self) -> ScoringKey {
        self.with(ENTRIES, "best")
    }

    /// The key of the same search if its cut read one value for each passage.
    #[must_use]
    pub fn counting_passages(mut self) -> ScoringKey {
        self.settings.remove(ENTRIES);
        self
    }

    /// Returns true if the cut read one value for each entry.
    pub fn counts_entries(&self) -> bool {
        self.settings.contains_key(ENTRIES)
    }
}

impl fmt::Display for ScoringKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}; fusion={}", self.kind.as_str(), escaped(&self.fusion))?;
        self.settings.iter().try_for_each(|(name, value)| write!(formatter, "; {}={}", escaped(name), escaped(value)))
    }
}

/// A text that is not a scoring key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a scoring key; expected something like \"search; fusion=convex 0.5; pool=100\"")]
pub struct ScoringKeyError {
    text: String,
}

impl FromStr for ScoringKey {
    type Err = ScoringKeyError;

    fn from_str(text: &str) -> Result<ScoringKey, ScoringKeyError> {
        let parse = || {
            let mut parts = text.split("; ");
            let name = parts.next()?;
            let kind = ScoringKind::ALL.into_iter().find(|kind| kind.as_str() == name)?;
            let mut key = ScoringKey::new(kind, unescaped(parts.next()?.strip_prefix("fusion=")?));
            for part in parts {
                let (name, value) = part.split_once('=')?;
                key.settings.insert(unescaped(name), unescaped(value));
            }
            Some(key)
        };
        parse().ok_or_else(|| ScoringKeyError { text: text.to_owned() })
    }
}

/// The characters with a meaning in the text form, with their escapes. `%` comes first, so that no escape is escaped again.
const ESCAPES: [(&str, &str); 3] = [("%", "%25"), (";", "%3B"), ("=", "%3D")];

fn escaped(text: &str) -> String {
    ESCAPES.iter().fold(text.to_owned(), |text, (plain, escape)| text.replace(plain, escape))
}

fn unescaped(text: &str) -> String {
    ESCAPES.iter().rev().fold(text.to_owned(), |text, (plain, escape)| text.replace(escape, plain))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_text_of_another_form_is_refused() {
        for text in ["", "convex 0.5", "search", "search; pool=100", "search; fusion=a; pool", "other; fusion=a"] {
            let error = text.parse::<ScoringKey>().unwrap_err();
            assert!(error.to_string().contains(&format!("{text:?}")), "{error}");
        }
    }

    proptest! {
        #[test]
        fn every_key_reads_back(fusion in "\\PC{0,9}", settings in prop::collection::btree_map("\\PC{0,9}", "\\PC{0,9}", 0..5)) {
            let key = ScoringKey { kind: ScoringKind::Issues, fusion, settings };
            prop_assert_eq!(key.to_string().parse(), Ok(key));
        }
    }
}
