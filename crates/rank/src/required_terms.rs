//! The terms that an answer must hold as they are written: identifiers, quoted phrases and numbers.
//!
//! A passage can answer a question in other words. But nothing replaces `retry_limit`, `"connection reset"` or `8446`: where no
//! passage holds them, the rest of the query matches by chance.

use crate::proper_names;
use crate::query_names::{has_inner_capital, name_parts};

/// Most terms of one query. A pasted log has hundreds, and the first ones say as much.
const MOST_TERMS: usize = 16;

/// Most characters of a quoted phrase.
const LONGEST_PHRASE: usize = 200;

/// Most parts between hyphens that are looked at by themselves. Rules in text are long rows of hyphens.
const MOST_HYPHENS: usize = 8;

/// Fewest digits of a whole number that is required. Smaller ones count things: two pages, 30 days.
const FEWEST_DIGITS: usize = 3;

/// What follows the digits of a quantity or an ordinal: `10ms`, `5GB`, `2nd`.
const UNITS: &[&str] = &[
    "b", "d", "em", "fps", "g", "gb", "h", "hz", "k", "kb", "kg", "km", "m", "mb", "min", "mm", "ms", "nd", "ns", "px",
    "rd", "s", "st", "tb", "th", "us", "x",
];

/// The kinds of term that an answer must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequiredKind {
    /// A name that is spelled as one: `parse_config`, `parseConfig`, `Config::parse`, `parse()`, `sha256`, `utf-8`,
    /// `Get-ChildItem`, `--dry-run`.
    Identifier,
    /// Words joined by hyphens that are the whole query: `font-size`. English has such words too, so they are required only where
    /// some passage holds them ([`RequiredTerms::retain_held`]).
    Hyphenated,
    /// Words between quotation marks, in this order. They can be a title, a term or irony as well as a text to find, so
    /// they are required only where some passage holds them ([`RequiredTerms::retain_held`]).
    Phrase,
    /// A number with three digits or more, or with a point: `8446`, `3.2.1`.
    Number,
}

/// A term that an answer must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequiredTerm {
    /// What it is.
    pub kind: RequiredKind,
    /// The term as it stands in the query, without the marks around it.
    pub text: String,
    /// What to look for, in lower case: the parts of a qualified identifier, without underscores and hyphens; the words of
    /// a phrase; a number as it is.
    parts: Vec<String>,
}

/// The terms of a query that an answer must hold.
///
/// ```
/// use tamis_rank::RequiredTerms;
///
/// let terms = RequiredTerms::from_query("why does retryLimit give \"connection reset\" after 8446 calls");
/// let texts: Vec<&str> = terms.iter().map(|term| term.text.as_str()).collect();
/// assert_eq!(texts, ["retryLimit", "connection reset", "8446"]);
/// assert_eq!(terms.share(&["fn retry_limit() -> u32 { 8446 }"]), Some(2.0 / 3.0));
/// assert!(RequiredTerms::from_query("how do I bake sourdough bread").is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequiredTerms {
    terms: Vec<RequiredTerm>,
}

impl RequiredTerms {
    /// Reads a query: its first sixteen such terms, each once. O(its length).
    pub fn from_query(query: &str) -> Self {
        let mut found = RequiredTerms::default();
        for segment in segments(query) {
            match segment {
                Segment::Quoted(text) => found.add(quoted(text)),
                Segment::Plain(text) => text.split_whitespace().for_each(|word| found.add(term(word))),
            }
        }
        if found.is_empty() {
            found.add(hyphenated(query));
        }
        found
    }

    /// Returns `true` if nothing is required.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The terms in the order of the query.
    pub fn iter(&self) -> impl Iterator<Item = &RequiredTerm> {
        self.terms.iter()
    }

    /// The share of the terms that a passage holds in any of its `texts` (body, symbol, title, path), 0 to 1; `None` if
    /// nothing is required. O(terms · length of the texts).
    ///
    /// Case does not count. An identifier is found in any style (`retry_limit` for `retryLimit`) but not inside a longer one,
    /// and a qualified one by its parts, which the body and the symbol can hold apart. A phrase is found across line breaks.
    pub fn share(&self, texts: &[&str]) -> Option<f64> {
        if self.terms.is_empty() {
            return None;
        }
        let held = self.terms.iter().filter(|term| term.is_in(texts)).count();
        Some(held as f64 / self.terms.len() as f64)
    }

    /// Leaves out the phrases and the hyphenated words that no searched text holds, by `stands`. O(terms · cost of `stands`).
    ///
    /// ```
    /// use tamis_rank::RequiredTerms;
    ///
    /// let text = "fn retry_limit() -> u32";
    /// let mut terms = RequiredTerms::from_query("why does retryLimit give \"too many tries\"");
    /// terms.retain_held(|term| term.is_in(&[text]));
    /// assert_eq!(terms.share(&[text]), Some(1.0));
    /// ```
    pub fn retain_held(&mut self, stands: impl Fn(&RequiredTerm) -> bool) {
        let is_certain = |term: &RequiredTerm| matches!(term.kind, RequiredKind::Identifier | RequiredKind::Number);
        self.terms.retain(|term| is_certain(term) || stands(term));
    }

    fn add(&mut self, term: Option<RequiredTerm>) {
        let Some(term) = term else { return };
        if self.terms.len() < MOST_TERMS && self.terms.iter().all(|known| known.parts != term.parts) {
            self.terms.push(term);
        }
    }
}

impl RequiredTerm {
    /// Returns `true` if a passage holds the term in any of its `texts`, as [`RequiredTerms::share`] counts it. O(length of the texts).
    pub fn is_in(&self, texts: &[&str]) -> bool {
        let any = |holds: &dyn Fn(&str) -> bool| texts.iter().any(|text| holds(text));
        match self.kind {
            RequiredKind::Identifier | RequiredKind::Hyphenated => {
                self.parts.iter().all(|part| any(&|text| holds_identifier(text, part)))
            }
            RequiredKind::Phrase => any(&|text| holds_phrase(text, &self.parts)),
            RequiredKind::Number => self.parts.iter().all(|number| any(&|text| holds_number(text, number))),
        }
    }
}

/// A part of a query, by whether it stands between quotation marks.
enum Segment<'a> {
    Plain(&'a str),
    Quoted(&'a str),
}

/// Divides a query at its quotation marks. A mark without a partner quotes nothing, nor does an apostrophe.
fn segments(query: &str) -> Vec<Segment<'_>> {
    let mut segments = Vec::new();
    let (mut plain, mut skip) = (0, 0);
    let mut before = None;
    for (at, open) in query.char_indices() {
        if at < skip {
            before = Some(open);
            continue;
        }
        let from = at + open.len_utf8();
        let opens = !before.is_some_and(char::is_alphanumeric);
        if let Some(end) = closing(open).filter(|_| opens).and_then(|close| quotation(&query[from..], close)) {
            segments.extend([Segment::Plain(&query[plain..at]), Segment::Quoted(&query[from..from + end.start])]);
            skip = from + end.end;
            plain = skip;
        }
        before = Some(open);
    }
    segments.push(Segment::Plain(&query[plain..]));
    segments
}

/// Where the mark that ends a quotation stands in the text after its first mark.
fn quotation(text: &str, close: char) -> Option<std::ops::Range<usize>> {
    let mut characters = text.char_indices().take(LONGEST_PHRASE).peekable();
    while let Some((at, character)) = characters.next() {
        let ends = !characters.peek().is_some_and(|(_, next)| next.is_alphanumeric());
        if character == close && at > 0 && ends {
            return Some(at..at + close.len_utf8());
        }
    }
    None
}

/// The mark that closes a quotation. Single marks and backticks quote too, as in the messages of programs.
fn closing(open: char) -> Option<char> {
    match open {
        '"' | '\'' | '`' => Some(open),
        '“' | '„' => Some('”'),
        '‘' => Some('’'),
        '«' => Some('»'),
        _ => None,
    }
}

/// A quotation as a term. A single word is required too, whatever its spelling.
fn quoted(text: &str) -> Option<RequiredTerm> {
    let text = text.trim();
    let own = Some(text).filter(|text| !text.contains(char::is_whitespace)).and_then(term);
    let parts: Vec<String> = words(text).map(squashed).collect();
    own.or_else(|| {
        (!parts.is_empty()).then(|| RequiredTerm { kind: RequiredKind::Phrase, text: text.to_owned(), parts })
    })
}

/// The term that a word of the query is, if it is one.
fn term(word: &str) -> Option<RequiredTerm> {
    // Addresses of the web and of mail are repeated by few passages.
    if word.contains("://") || word.contains('@') {
        return None;
    }
    if let Some(name) = proper_names::option(word) {
        let (text, parts) = (format!("--{name}"), vec![squashed(name)]);
        return Some(RequiredTerm { kind: RequiredKind::Identifier, text, parts });
    }
    let name = word.trim_start_matches(is_mark).trim_end_matches(is_mark);
    let called = is_qualified(name) && word.contains(&format!("{name}()"));
    let (kind, parts) = if is_number(name) {
        (RequiredKind::Number, vec![name.to_owned()])
    } else if called || is_spelled_as_name(name) || is_designation(name) || proper_names::is_spelled(name) {
        (RequiredKind::Identifier, name_parts(name).map(squashed).filter(|part| !part.is_empty()).collect())
    } else {
        return None;
    };
    (!parts.is_empty()).then(|| RequiredTerm { kind, text: name.to_owned(), parts })
}

/// A query that is nothing but words joined by hyphens, with or without marks around them: `font-size`, `valve-open?`.
fn hyphenated(query: &str) -> Option<RequiredTerm> {
    let name = query.trim_matches(is_mark);
    let is_word = |part: &str| part.chars().all(|c| c.is_alphanumeric() || c == '_');
    let is_name = name_parts(name).any(proper_names::is_hyphenated)
        && name_parts(name).all(|part| proper_names::is_hyphenated(part) || is_word(part));
    is_name.then(|| RequiredTerm {
        kind: RequiredKind::Hyphenated,
        text: name.to_owned(),
        parts: name_parts(name).map(squashed).collect(),
    })
}

fn is_mark(character: char) -> bool {
    !character.is_alphanumeric() && character != '_'
}

/// The letters and digits of a name in lower case.
pub fn squashed(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns `true` for a number that names something: three digits or more, or a point inside, as versions have.
fn is_number(name: &str) -> bool {
    let digits = name.chars().filter(char::is_ascii_digit).count();
    name.chars().all(|c| c.is_ascii_digit() || c == '.') && (digits >= FEWEST_DIGITS || name.contains('.'))
}

/// Returns `true` for the spelling of a name in code: an underscore, an inner capital, `::`; but not for `and/or` or `node.js`.
fn is_spelled_as_name(name: &str) -> bool {
    // `_private` is a name, and `_this_` is a word with emphasis.
    let underscored =
        |part: &str| part.trim_matches('_').contains('_') || part.starts_with('_') && !part.ends_with('_');
    let is_spelled = |part: &str| underscored(part) || part.starts_with("__") || has_inner_capital(part);
    is_qualified(name) && (name.contains("::") || name_parts(name).any(is_spelled))
}

/// Returns `true` for one identifier, or several with separators between them.
fn is_qualified(name: &str) -> bool {
    let is_identifier =
        |part: &str| part.chars().all(|c| c.is_alphanumeric() || c == '_') && part.chars().any(char::is_alphabetic);
    name_parts(name).all(is_identifier)
}

/// Returns `true` for letters and digits that name something together (`sha256`, `utf-8`, `XJ-4471`, `3des`), as quantities,
/// ordinals and dates do not (`10ms`, `2nd`, `12-hour`).
fn is_designation(name: &str) -> bool {
    let whole = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
    let mixed = name.chars().any(char::is_alphabetic) && name.chars().any(|c| c.is_ascii_digit());
    let unit = name.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').to_lowercase();
    let counts = unit.len() < name.len() && (UNITS.contains(&unit.as_str()) || unit.starts_with('-'));
    whole && mixed && !counts
}

/// The runs of letters and digits.
fn words(text: &str) -> impl Iterator<Item = &str> + Clone {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Compares letters and digits with `lower`, which is in lower case.
fn is_same(word: &str, lower: &str) -> bool {
    word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).eq(lower.chars())
}

/// Whether a text holds an identifier in any style. Parts between hyphens count by themselves and together: `sha256-based`
/// holds `sha256`, and `--retry-limit` holds `retryLimit`.
fn holds_identifier(text: &str, identifier: &str) -> bool {
    let tokens = text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
    tokens.filter(|token| token.len() >= identifier.len()).any(|token| {
        if is_same(token, identifier) {
            return true;
        }
        let starts = std::iter::once(0).chain(token.match_indices('-').map(|(at, _)| at + 1));
        let ends = token.match_indices('-').map(|(at, _)| at).chain(std::iter::once(token.len()));
        let ends: Vec<usize> = ends.take(MOST_HYPHENS).collect();
        starts
            .take(MOST_HYPHENS)
            .any(|start| ends.iter().filter(|&&end| end > start).any(|&end| is_same(&token[start..end], identifier)))
    })
}

/// Whether a text holds these words one after another.
fn holds_phrase(text: &str, phrase: &[String]) -> bool {
    let mut left = words(text);
    loop {
        let mut from = left.clone();
        if phrase.iter().all(|wanted| from.next().is_some_and(|word| is_same(word, wanted))) {
            return true;
        }
        if left.next().is_none() {
            return false;
        }
    }
}

/// Whether a text holds a number, not inside a longer one.
fn holds_number(text: &str, number: &str) -> bool {
    text.split(|c: char| !c.is_ascii_digit() && c != '.').any(|found| found.trim_matches('.') == number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(query: &str) -> Vec<String> {
        RequiredTerms::from_query(query).iter().map(|term| term.text.clone()).collect()
    }

    fn share(query: &str, text: &str) -> Option<f64> {
        RequiredTerms::from_query(query).share(&[text])
    }

    #[test]
    fn names_quotations_and_numbers_are_required_and_words_are_not() {
        let cases: [(&str, &[&str]); 16] = [
            ("where is parse_config called", &["parse_config"]),
            ("parseConfig", &["parseConfig"]),
            ("what does Config::parse return?", &["Config::parse"]),
            ("bestMatch.reset", &["bestMatch.reset"]),
            ("when is flush() needed", &["flush"]),
            ("sha256 or utf-8, XJ-4471", &["sha256", "utf-8", "XJ-4471"]),
            ("error 404 since version 3.2.1", &["404", "3.2.1"]),
            ("\"connection reset by peer\" on upload", &["connection reset by peer"]),
            ("“no such file” or 'broken pipe'", &["no such file", "broken pipe"]),
            ("what is a `walker`", &["walker"]),
            ("`--retry-limit` of 10", &["--retry-limit"]),
            ("Get-ChildItem -Recurse", &["Get-ChildItem"]),
            ("what does --dry-run=yes print", &["--dry-run"]),
            ("font-size", &["font-size"]),
            ("gate.core/valve-open?", &["gate.core/valve-open"]),
            ("parseConfig, then parseConfig again", &["parseConfig"]),
        ];
        let nothing = [
            "a well-known, up-to-date list", "GitHub-hosted runners", "it's the dogs' bed, isn't it",
            "sourdough bread", "how many of 10 items take 30ms or 5GB", "the 2nd of 12-hour shifts",
            "and/or e.g. node.js at https://a.b/c_d", "mail to a_b@example.org", "HTTP and TCP/IP in Paris, _now_",
            "an open \"quotation", "\"\" ''", "",
        ]
        .map(|query| (query, &[][..]));
        for (query, expected) in cases.into_iter().chain(nothing) {
            assert_eq!(texts(query), expected, "{query}");
        }
    }

    #[test]
    fn an_identifier_is_found_in_any_style_and_not_inside_a_longer_one() {
        for text in ["let retry_limit = 3;", "RetryLimit", "pass --retry-limit N", "RETRY_LIMIT-based", "(retryLimit)"]
        {
            assert_eq!(share("retryLimit", text), Some(1.0), "{text}");
        }
        assert_eq!(share("font-size", "style.fontSize = 3"), Some(1.0));
        assert_eq!(share("Close-InnerGate", "Close-InnerGateValve; Close InnerGate"), Some(0.0));
        for text in ["retryLimits", "max_retry_limit", "the limit of a retry", "retry limit", ""] {
            assert_eq!(share("retryLimit", text), Some(0.0), "{text}");
        }
    }

    #[test]
    fn the_parts_of_a_qualified_name_can_stand_apart() {
        let terms = RequiredTerms::from_query("bestMatch.reset");
        assert_eq!(terms.share(&["fn reset(&mut self) {}", "BestMatch::reset"]), Some(1.0));
        assert_eq!(terms.share(&["fn reset(&mut self) {}"]), Some(0.0));
        assert_eq!(terms.share(&["the best match of sourdough bread"]), Some(0.0));
    }

    #[test]
    fn a_phrase_is_found_in_its_order_and_across_lines() {
        let query = "\"connection reset by peer\"";
        assert_eq!(share(query, "Error: Connection\n  reset, by peer."), Some(1.0));
        assert_eq!(share(query, "connection connection reset by peer"), Some(1.0));
        assert_eq!(share(query, "reset by peer: connection"), Some(0.0));
        assert_eq!(share(query, "connection reset by"), Some(0.0));
    }

    #[test]
    fn only_phrases_and_hyphenated_words_need_not_stand_anywhere() {
        let mut terms = RequiredTerms::from_query("parse_config says \"no such key\" and \"broken pipe\" for 8446");
        terms.retain_held(|phrase| phrase.is_in(&["error: broken pipe"]));
        let texts: Vec<&str> = terms.iter().map(|term| term.text.as_str()).collect();
        assert_eq!(texts, ["parse_config", "broken pipe", "8446"]);
        let mut english = RequiredTerms::from_query("well-known");
        english.retain_held(|term| term.is_in(&["it is known well"]));
        assert!(english.is_empty());
    }

    #[test]
    fn a_number_is_found_as_a_whole() {
        for (query, text, expected) in [
            ("8446", "RFC 8446.", 1.0),
            ("8446", "rfc8446", 1.0),
            ("8446", "18446", 0.0),
            ("3.2.1", "since v3.2.1", 1.0),
            ("3.2.1", "since 3.2.10", 0.0),
            ("2024", "on 2024-05-01", 1.0),
        ] {
            assert_eq!(share(query, text), Some(expected), "{query} in {text}");
        }
    }

    #[test]
    fn the_share_counts_terms_of_which_a_pasted_log_gives_no_more_than_sixteen() {
        assert_eq!(share("retryLimit 8446", "retry_limit"), Some(0.5));
        assert_eq!(share("how do I bake bread", "bread"), None);
        let log: String = (0..500).map(|line| format!("job_{line} failed\n")).collect();
        assert_eq!(RequiredTerms::from_query(&log).iter().count(), MOST_TERMS);
    }

    proptest! {
        #[test]
        fn a_query_holds_all_that_it_requires(query in "[a-zA-Z0-9_.:()\"' -]{0,80}") {
            let terms = RequiredTerms::from_query(&query);
            prop_assert!(terms.is_empty() || terms.share(&[&query]) == Some(1.0), "{terms:?}");
        }

        #[test]
        fn any_query_and_text_give_a_share(query in "\\PC{0,60}", text in "\\PC{0,60}") {
            let share = share(&query, &text);
            prop_assert!(share.is_none_or(|share| (0.0..=1.0).contains(&share)));
        }
    }
}
