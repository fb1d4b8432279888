//! The pattern of a `grep`, compiled.

use super::grep::GrepRequest;
use crate::Error;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

/// Most bytes of a compiled pattern.
const MOST_BYTES: usize = 10 << 20;

/// Most bytes of a pattern.
const LONGEST: usize = 10_000;

/// Compiles the pattern of a request, in the syntax of the `regex` crate.
///
/// # Errors
/// The pattern is empty, too long or too large, or no regular expression.
pub(super) fn compiled(request: &GrepRequest) -> Result<RegexMatcher, Error> {
    let text = &request.pattern;
    let shown = || format!("{:?}", text.chars().take(80).collect::<String>());
    if text.is_empty() {
        return Err(Error::argument("pattern", "\"\"", "a text or a regular expression; files lists all files"));
    }
    if text.len() > LONGEST {
        return Err(Error::argument("pattern", shown(), format!("at most {LONGEST} bytes long")));
    }
    let mut builder = RegexMatcherBuilder::new();
    builder
        // `^` and `$` stand for the ends of a line.
        .multi_line(true)
        .fixed_strings(request.fixed_strings)
        .case_insensitive(request.ignore_case)
        .case_smart(request.smart_case && !request.ignore_case)
        .word(request.word_regexp)
        .crlf(true)
        .size_limit(MOST_BYTES)
        .dfa_size_limit(MOST_BYTES);
    builder.build(text).map_err(|error| {
        let error = error.to_string();
        let fault = error.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        let escape =
            if request.fixed_strings { "" } else { "; to find these characters themselves, make the pattern literal" };
        Error::argument("pattern", shown(), format!("a regular expression within one line: {fault}{escape}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use grep_matcher::Matcher;

    fn matches(request: GrepRequest, line: &str) -> bool {
        compiled(&request).expect("a pattern").is_match(line.as_bytes()).expect("matched")
    }

    #[test]
    fn case_words_and_literal_text() {
        let of = |text: &str| GrepRequest::new(text);
        assert!(matches(of("a.c"), "abc") && !matches(GrepRequest { fixed_strings: true, ..of("a.c") }, "abc"));
        assert!(matches(GrepRequest { fixed_strings: true, ..of("a(") }, "a("));
        assert!(matches(GrepRequest { ignore_case: true, ..of("ABC") }, "abc"));
        let smart = |text: &str| GrepRequest { smart_case: true, ..of(text) };
        assert!(matches(smart("abc"), "ABC") && !matches(smart("Abc"), "ABC"));
        assert!(!matches(GrepRequest { word_regexp: true, ..of("open") }, "reopen") && matches(of("x$"), "x\r\n"));
    }

    #[test]
    fn a_bad_pattern_names_the_fault_and_the_way_out() {
        let refused = |text: &str| compiled(&GrepRequest::new(text)).expect_err("refused").to_string();
        assert!(refused("a(").contains("unclosed group") && refused("a(").contains("literal"), "{}", refused("a("));
        assert!(refused("").contains("files lists"), "{}", refused(""));
        assert!(refused(&"x".repeat(20_000)).contains("at most"));
        assert!(refused("(a{1000}){1000}").len() < 400, "too large: {}", refused("(a{1000}){1000}"));
        assert!(refused("a\nb").contains("within one line"), "{}", refused("a\nb"));
    }
}
