//! Whether a question asks for code or for a guide.
//!
//! Plain words alone never ask for code. "Where is the retry limit checked" is as often answered by a guide, so ranking
//! documentation down would bury as many answers as it lifts.

use crate::QueryNames;

/// What a question asks for by its wording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lean {
    /// Code: the question has an identifier.
    Code,
    /// Instructions: "how do I …", "guide", "configure".
    Guide,
    /// Both: "how do I use `WalkBuilder`".
    Both,
}

/// Words in a row that ask for instructions.
const GUIDE: &[&str] = &[
    "configure", "configuring", "docs", "documentation", "get started", "getting started", "guide", "how can i",
    "how can we", "how can you", "how do i", "how do we", "how do you", "how to", "install", "installation",
    "installing", "manual", "quickstart", "set up", "setting up", "tutorial",
];

/// Most words of a query that are read.
const MOST_WORDS: usize = 64;

impl Lean {
    /// Its name: `code`, `guide` or `both`.
    pub fn name(self) -> &'static str {
        match self {
            Lean::Code => "code",
            Lean::Guide => "guide",
            Lean::Both => "both",
        }
    }

    /// Reads a query; `names` are its own. `None` if it asks for neither. O(its length).
    ///
    /// ```
    /// use tamis_rank::{Lean, QueryNames};
    ///
    /// let lean = |query: &str| Lean::of(query, &QueryNames::of(query));
    /// assert_eq!(lean("who calls parse_config"), Some(Lean::Code));
    /// assert_eq!(lean("How do I change the port?"), Some(Lean::Guide));
    /// assert_eq!(lean("where is the retry limit checked"), None);
    /// ```
    pub fn of(query: &str, names: &QueryNames) -> Option<Lean> {
        let words = query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).take(MOST_WORDS);
        let words: Vec<String> = words.map(str::to_lowercase).collect();
        let text = format!(" {} ", words.join(" "));
        let guide = GUIDE.iter().any(|phrase| text.contains(&format!(" {phrase} ")));
        match (names.has_identifier(), guide) {
            (true, false) => Some(Lean::Code),
            (false, true) => Some(Lean::Guide),
            (true, true) => Some(Lean::Both),
            (false, false) => None,
        }
    }
}

/// The factor on the ranking value of documentation where a question asks for code, and of code where it asks for a guide.
pub const LEAN_FACTOR: f64 = 0.8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_ask_for_code_and_whole_words_for_a_guide() {
        let lean = |query: &str| Lean::of(query, &QueryNames::of(query));
        assert_eq!(lean("how do I use WalkBuilder"), Some(Lean::Both));
        assert_eq!(lean("where is Pool.open defined"), Some(Lean::Code));
        assert_eq!(lean("which function opens the socket"), None, "plain words");
        assert_eq!(lean("installation on Windows"), Some(Lean::Guide));
        assert_eq!(lean("reinstallation on Windows"), None);
        assert_eq!(lean(""), None);
    }
}
