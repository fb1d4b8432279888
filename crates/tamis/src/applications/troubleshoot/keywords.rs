//! The most useful search words of a problem, found without a model.

use std::collections::HashSet;

/// The least length of a quoted text that counts, in characters.
const QUOTED_CHARACTERS: usize = 5;

/// Words that describe a failure, also within another word (`IOException`, `crashed`).
const FAILURES: [&str; 5] = ["error", "exception", "crash", "fatal", "failed"];

/// The most words after a failure word that belong to it.
const WORDS_AFTER_FAILURE: usize = 4;

/// The least length of a title word that counts, in characters.
const TITLE_CHARACTERS: usize = 3;

/// Opening quotation marks with their closing ones.
const QUOTES: [(char, char); 7] = [
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('\u{201c}', '\u{201d}'),
    ('\u{2018}', '\u{2019}'),
    ('«', '»'),
    ('„', '\u{201c}'),
];

/// Extracts search words, each once (ignoring case): the title's words of three or more characters, texts of five or
/// more characters in quotation marks, failure words (`error`, `exception`, `crash`, `fatal`, `failed`) with up to four
/// words after them, and names in CamelCase or ALLCAPS.
///
/// The title comes first, since a model reads only a limited length.
///
/// ```
/// let words = tamis::troubleshoot::keywords("Login fails", "It says \"no such user\" and error: bad token from AuthServer");
/// assert_eq!(words, ["Login", "fails", "no such user", "error: bad token from AuthServer", "AuthServer"]);
/// ```
#[must_use]
pub fn keywords(title: &str, body: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    found.extend(words(title).filter(|word| word.chars().count() >= TITLE_CHARACTERS).map(str::to_owned));
    let lines = || title.lines().chain(body.lines());
    lines().for_each(|line| quoted(line, &mut found));
    lines().for_each(|line| failures(line, &mut found));
    let names = lines().flat_map(words).filter(|word| is_camel_case(word) || is_all_capitals(word));
    found.extend(names.map(str::to_owned));
    let mut seen = HashSet::new();
    found.retain(|keyword| seen.insert(keyword.to_lowercase()));
    found
}

/// Runs of letters, digits and underscores.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Adds the texts in quotation marks on a line. A mark inside a word is an apostrophe.
fn quoted(line: &str, found: &mut Vec<String>) {
    // A fence's line only begins or ends code.
    if line.trim_start().starts_with("```") {
        return;
    }
    let mut rest = line;
    let mut before: Option<char> = None;
    while let Some(first) = rest.chars().next() {
        let inside = &rest[first.len_utf8()..];
        let opened = QUOTES.iter().find(|(open, _)| *open == first && !before.is_some_and(char::is_alphanumeric));
        let closed = opened.and_then(|&(_, close)| Some((ended(inside, close)?, close)));
        match closed {
            Some((end, close)) => {
                let text = inside[..end].trim();
                if text.chars().count() >= QUOTED_CHARACTERS {
                    found.push(text.to_owned());
                }
                (before, rest) = (Some(close), &inside[end + close.len_utf8()..]);
            }
            None => (before, rest) = (Some(first), inside),
        }
    }
}

/// The position of the closing mark: the first one not followed by a letter or digit.
fn ended(text: &str, close: char) -> Option<usize> {
    let after = |at: usize| text[at + close.len_utf8()..].chars().next();
    text.match_indices(close).map(|(at, _)| at).find(|&at| !after(at).is_some_and(char::is_alphanumeric))
}

/// Adds failure words with the words that explain them, up to the end of the sentence.
fn failures(line: &str, found: &mut Vec<String>) {
    let tokens: Vec<&str> = line.split_whitespace().collect();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let word = token.to_lowercase();
        if !FAILURES.iter().any(|failure| word.contains(failure)) {
            at += 1;
            continue;
        }
        let ends = |token: &&str| token.ends_with(['.', ';', '!', '?']);
        let rest = &tokens[at..tokens.len().min(at + 1 + WORDS_AFTER_FAILURE)];
        let length = rest.iter().position(ends).map_or(rest.len(), |last| last + 1);
        let phrase = rest[..length].join(" ");
        let phrase = phrase.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
        if !phrase.is_empty() {
            found.push(phrase.to_owned());
        }
        at += length;
    }
}

/// `parseConfig`, `NullPointerException`: a capital after a small letter.
fn is_camel_case(word: &str) -> bool {
    word.chars().zip(word.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase())
}

/// `TLS`, `MAX_SIZE`, `E404`: two or more letters or digits, all letters capitals, one letter at least.
fn is_all_capitals(word: &str) -> bool {
    let letters = || word.chars().filter(|c| c.is_alphabetic());
    word.chars().filter(|c| c.is_alphanumeric()).count() >= 2
        && letters().next().is_some()
        && letters().all(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keywords_are_quotations_failures_and_names() {
        let found = |text: &str| {
            let mut found = Vec::new();
            quoted(text, &mut found);
            found
        };
        assert_eq!(found("it says \"no such file\" and 'four'"), ["no such file"]);
        assert_eq!(found("“größer als” and ‘fünfte’ and `a_name`"), ["größer als", "fünfte", "a_name"]);
        assert!(found("it doesn't work and I can't say why").is_empty(), "apostrophes quote nothing");
        assert_eq!(found("'it doesn't start'"), ["it doesn't start"]);
        assert!(found("an open \"quotation goes on").is_empty() && found("```rust").is_empty());

        let found = |text: &str| {
            let mut found = Vec::new();
            failures(text, &mut found);
            found
        };
        assert_eq!(found("then Error: cannot open the socket again today"), ["Error: cannot open the socket"]);
        assert_eq!(found("It crashed. Then nothing"), ["crashed"]);
        assert_eq!(found("java.io.IOException: stream closed"), ["java.io.IOException: stream closed"]);
        assert!(found("all is well").is_empty());

        assert!(is_camel_case("parseConfig") && is_camel_case("NullPointerException") && !is_camel_case("Parser"));
        assert!(is_all_capitals("TLS") && is_all_capitals("MAX_SIZE") && is_all_capitals("E404"));
        assert!(!is_all_capitals("I") && !is_all_capitals("404") && !is_all_capitals("Tls"));

        assert_eq!(keywords("It is a TLS bug", "tls TLS Tls \"TLS bug\""), ["TLS", "bug", "TLS bug"]);
        assert!(keywords("", "").is_empty());
    }

    proptest! {
        #[test]
        fn any_text_gives_each_keyword_once(title in "\\PC{0,60}", body in "[\\PC\n\"'`]{0,200}") {
            let found = keywords(&title, &body);
            let distinct: HashSet<String> = found.iter().map(|keyword| keyword.to_lowercase()).collect();
            prop_assert_eq!(distinct.len(), found.len());
            prop_assert!(found.iter().all(|keyword| !keyword.trim().is_empty()));
            for word in words(&title).filter(|word| word.chars().count() > 2) {
                prop_assert!(distinct.contains(&word.to_lowercase()), "{word}");
            }
        }
    }
}
