//! Whether a question asks for code or for a guide.

use crate::QueryNames;

/// What a question asks for by its wording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lean {
    /// The code that does something: an identifier, "where is … implemented", "function that …".
    Code,
    /// Instructions: "how do I …", "guide", "configure".
    Guide,
    /// Both: "how do I use `WalkBuilder`".
    Both,
}

/// Words in a row that ask for code.
const CODE: &[&str] = &[
    "class that", "class which", "code for", "code that", "code which", "defined", "definition of", "function for",
    "function that", "function to", "function which", "implementation of", "implemented", "method for", "method that",
    "method to", "method which", "struct that", "trait that", "type that", "where are", "where do", "where does",
    "where is", "which class", "which file", "which files", "which function", "which method", "which module",
    "which struct", "which trait", "which type",
];

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
    /// assert_eq!(lean("where is the retry limit checked"), Some(Lean::Code));
    /// assert_eq!(lean("parse_config"), Some(Lean::Code));
    /// assert_eq!(lean("How do I change the port?"), Some(Lean::Guide));
    /// assert_eq!(lean("retry limit"), None);
    /// ```
    pub fn of(query: &str, names: &QueryNames) -> Option<Lean> {
        let words = query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).take(MOST_WORDS);
        let words: Vec<String> = words.map(str::to_lowercase).collect();
        let text = format!(" {} ", words.join(" "));
        let any = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(&format!(" {phrase} ")));
        match (names.has_identifier() || any(CODE), any(GUIDE)) {
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
    fn whole_words_show_what_is_asked_for() {
        let lean = |query: &str| Lean::of(query, &QueryNames::of(query));
        assert_eq!(lean("how do I use WalkBuilder"), Some(Lean::Both));
        assert_eq!(lean("undefined behaviour"), None, "not defined");
        assert_eq!(lean("which function opens the socket"), Some(Lean::Code));
        assert_eq!(lean("installation on Windows"), Some(Lean::Guide));
        assert_eq!(lean(""), None);
    }
}
