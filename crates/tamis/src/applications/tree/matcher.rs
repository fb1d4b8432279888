//! The pattern of a `grep`, compiled.

use crate::Error;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

/// The treatment of upper and lower case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LetterCase {
    /// As written.
    #[default]
    Sensitive,
    /// Both are the same.
    Insensitive,
    /// Both are the same, unless the pattern has an upper-case letter.
    Smart,
}

/// A text or regular expression to find.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    /// The text, or the regular expression in the syntax of the `regex` crate. It matches within one line.
    pub text: String,
    /// True if the characters stand for themselves.
    pub literal: bool,
    /// The treatment of upper and lower case.
    pub case: LetterCase,
    /// True if only whole words match.
    pub word: bool,
}

/// Most bytes of a compiled pattern.
const MOST_BYTES: usize = 10 << 20;

/// Most bytes of a pattern.
const LONGEST: usize = 10_000;

impl Pattern {
    /// Compiles the pattern.
    ///
    /// # Errors
    /// The pattern is empty, too long or too large, or no regular expression.
    pub(super) fn compiled(&self) -> Result<RegexMatcher, Error> {
        let shown = || format!("{:?}", self.text.chars().take(80).collect::<String>());
        if self.text.is_empty() {
            return Err(Error::argument("pattern", "\"\"", "a text or a regular expression; files lists all files"));
        }
        if self.text.len() > LONGEST {
            return Err(Error::argument("pattern", shown(), format!("at most {LONGEST} bytes long")));
        }
        let mut builder = RegexMatcherBuilder::new();
        builder
            // `^` and `$` stand for the ends of a line.
            .multi_line(true)
            .fixed_strings(self.literal)
            .case_insensitive(self.case == LetterCase::Insensitive)
            .case_smart(self.case == LetterCase::Smart)
            .word(self.word)
            .crlf(true)
            .size_limit(MOST_BYTES)
            .dfa_size_limit(MOST_BYTES);
        builder.build(&self.text).map_err(|error| {
            let error = error.to_string();
            let fault = error.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            let escape =
                if self.literal { "" } else { "; to find these characters themselves, make the pattern literal" };
            Error::argument("pattern", shown(), format!("a regular expression within one line: {fault}{escape}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grep_matcher::Matcher;

    fn matches(pattern: Pattern, line: &str) -> bool {
        pattern.compiled().expect("a pattern").is_match(line.as_bytes()).expect("matched")
    }

    #[test]
    fn case_words_and_literal_text() {
        let of = |text: &str| Pattern { text: text.into(), ..Pattern::default() };
        assert!(matches(of("a.c"), "abc") && !matches(Pattern { literal: true, ..of("a.c") }, "abc"));
        assert!(matches(Pattern { literal: true, ..of("a(") }, "a("));
        assert!(matches(Pattern { case: LetterCase::Insensitive, ..of("ABC") }, "abc"));
        let smart = |text: &str| Pattern { case: LetterCase::Smart, ..of(text) };
        assert!(matches(smart("abc"), "ABC") && !matches(smart("Abc"), "ABC"));
        assert!(!matches(Pattern { word: true, ..of("open") }, "reopen") && matches(of("x$"), "x\r\n"));
    }

    #[test]
    fn a_bad_pattern_names_the_fault_and_the_way_out() {
        let refused = |text: &str| {
            Pattern { text: text.into(), ..Pattern::default() }.compiled().expect_err("refused").to_string()
        };
        assert!(refused("a(").contains("unclosed group") && refused("a(").contains("literal"), "{}", refused("a("));
        assert!(refused("").contains("files lists"), "{}", refused(""));
        assert!(refused(&"x".repeat(20_000)).contains("at most"));
        assert!(refused("(a{1000}){1000}").len() < 400, "too large: {}", refused("(a{1000}){1000}"));
        assert!(refused("a\nb").contains("within one line"), "{}", refused("a\nb"));
    }
}
