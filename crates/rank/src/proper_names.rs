//! The proper names in a query: words that no other word replaces, and names with hyphens.

use std::collections::HashSet;

use crate::query_names::has_inner_capital;
use crate::required_terms::squashed;

/// Most names of one query. A pasted report has dozens, and the first ones say as much.
const MOST_NAMES: usize = 24;

/// Fewest digits of a whole number that is a name. Smaller ones count things.
const FEWEST_DIGITS: usize = 3;

/// The share of capitalised words, in percent, from which capitals say nothing, as in a heading.
const TITLE_CASE: usize = 60;

/// The names in a query: capitalised words inside a sentence, acronyms, words with a digit or an underscore, and inner capitals.
///
/// Unlike [`RequiredTerms`](crate::RequiredTerms) these are evidence, not a condition: a query that names Elasticsearch, of which
/// nothing in the corpus speaks, mostly has no answer there.
///
/// ```
/// use tamis_rank::ProperNames;
///
/// let names = ProperNames::from_query("How do I set up full text search with Elasticsearch on EC2?");
/// assert_eq!(names.iter().collect::<Vec<_>>(), ["Elasticsearch", "EC2"]);
/// assert_eq!(names.held(&["runs on ec2 alone"]), [false, true]);
/// assert!(ProperNames::from_query("How is a job retried").is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProperNames {
    names: Vec<Name>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Name {
    text: String,
    /// Its parts in lower case, as they are looked for.
    parts: Vec<String>,
}

impl ProperNames {
    /// Reads a query: its first 24 names, each once. O(its length).
    pub fn from_query(query: &str) -> Self {
        let words: Vec<&str> = query.split_whitespace().collect();
        let capitalised = words.iter().filter(|word| is_capitalised(trimmed(word))).count();
        let is_title = words.len() > 2 && 100 * capitalised > TITLE_CASE * words.len();
        let mut names: Vec<Name> = Vec::new();
        let mut starts = true;
        for raw in query.split(separates).filter(|raw| !raw.is_empty()) {
            let text = trimmed(raw);
            let is_first = std::mem::replace(&mut starts, raw.ends_with(['.', '?', '!', ':']));
            let parts: Vec<String> = text.split(|c: char| !c.is_alphanumeric() && c != '_').map(squashed).collect();
            let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            let is_name = is_spelled_as_name(text) || is_capitalised(text) && !is_first && !is_title;
            if is_name && names.len() < MOST_NAMES && names.iter().all(|known| known.parts != parts) {
                names.push(Name { text: text.to_owned(), parts });
            }
        }
        ProperNames { names }
    }

    /// Returns `true` if the query has no name.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The number of names.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// The names as written, in the order of the query.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| name.text.as_str())
    }

    /// Returns, for each name, whether any of the texts holds it, in any case or style. O(length of the texts).
    pub fn held(&self, texts: &[&str]) -> Vec<bool> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut tokens: HashSet<String> = HashSet::new();
        for token in texts.iter().flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-')) {
            if token.contains('-') {
                tokens.extend(token.split('-').map(squashed));
            }
            tokens.insert(squashed(token));
        }
        self.names.iter().map(|name| name.parts.iter().all(|part| tokens.contains(part))).collect()
    }
}

fn separates(c: char) -> bool {
    c.is_whitespace() || "()[]{},;=<>\"`'/“”‘’".contains(c)
}

fn trimmed(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_')
}

fn is_capitalised(word: &str) -> bool {
    word.chars().next().is_some_and(char::is_uppercase) && word.chars().nth(1).is_some()
}

/// Returns `true` for a word whose spelling makes it a name wherever it stands.
fn is_spelled_as_name(word: &str) -> bool {
    let count = |of: fn(char) -> bool| word.chars().filter(|&c| of(c)).count();
    let (digits, letters, capitals) =
        (count(|c| c.is_ascii_digit()), count(char::is_alphabetic), count(char::is_uppercase));
    word.chars().nth(1).is_some()
        && (digits > 0 && letters > 0
            || digits >= FEWEST_DIGITS
            || capitals >= 2
            || word.trim_matches('_').contains('_'))
}

// Names with hyphens, and which of them no ordinary English looks like.
//
// `Get-ChildItem`, `my_lib-core` and `--dry-run` are names wherever they stand. `font-size` is spelled as `well-known` is, so only
// the rest of the query can say that it is a name.

/// Most words of a hyphenated name.
const MOST_WORDS: usize = 12;

/// Returns `true` for words joined by single hyphens, with a letter at the beginning.
pub fn is_hyphenated(name: &str) -> bool {
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
    let words = name.split('-').take(MOST_WORDS + 1);
    let count = words.clone().filter(|word| is_word(word)).count();
    count > 1
        && count == words.count()
        && count <= MOST_WORDS
        && name.trim_start_matches(['_', '$']).starts_with(char::is_alphabetic)
}

/// Returns `true` for a hyphenated name that is spelled as no English compound is: with an underscore, or with capitals at the
/// beginning of each word and inside one of them. `GitHub-hosted` is English.
pub fn is_spelled(name: &str) -> bool {
    let mut words = name.split('-');
    is_hyphenated(name)
        && (words.clone().any(|word| word.trim_matches('_').contains('_'))
            || words.clone().any(has_inner_capital) && words.all(|word| word.starts_with(char::is_uppercase)))
}

/// The name of an option, without its dashes, if it has several words: `dry-run` of `--dry-run`. `term` can have marks around it.
pub fn option(term: &str) -> Option<&str> {
    let term = term.trim_start_matches(['`', '\'', '"', '(', '[', '{', '“', '‘', '«']);
    let rest = term.strip_prefix("--")?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && !"-_".contains(c)).unwrap_or(rest.len());
    let name = rest[..end].trim_end_matches('-');
    is_hyphenated(name).then_some(name)
}

// The match of a file's path with the words of a query.

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_found_by_their_spelling_and_held_in_any_style_but_not_inside_another() {
        for case in [
            "Where are retries handled? => ", "Is it with Redis. Maybe not => Redis",
            "HTTP/2 with TLS 1.3 => HTTP TLS", "a_config, GsonIO => a_config GsonIO",
            "error 404 after 30 retries => 404", "How To Install The Plugin => ",
            "what CORS is, why CORS fails => CORS", "I said so => ", " => ",
        ] {
            let (query, expected) = case.split_once(" => ").expect("names");
            assert_eq!(ProperNames::from_query(query).iter().collect::<Vec<_>>().join(" "), expected, "{query}");
        }
        let names = ProperNames::from_query("the JsonReader of Gson");
        assert_eq!(names.held(&["json_reader", "gson"]), [true, true]);
        assert_eq!(names.held(&["jsonreaders", "gsonic"]), [false, false]);
    }

    proptest! {
        #[test]
        fn any_query_has_bounded_names(query in "\\PC{0,200}") {
            let names = ProperNames::from_query(&query);
            prop_assert!(names.len() <= MOST_NAMES);
            prop_assert_eq!(names.held(&[&query]).len(), names.len());
        }
    }

    #[test]
    fn names_are_told_from_english_where_their_spelling_does_and_an_option_is_known_by_its_dashes() {
        for name in ["Get-ChildItem", "Close-InnerGate", "my_lib-core"] {
            assert!(is_hyphenated(name) && is_spelled(name), "{name}");
        }
        for name in ["font-size", "well-known", "GitHub-hosted", "Anglo-Saxon", "up-to-date", "sha256-based"] {
            assert!(is_hyphenated(name) && !is_spelled(name), "{name}");
        }
        for name in ["open", "a--b", "-a-b", "a-", "12-hour", "a b-c", "", "a.b-c"] {
            assert!(!is_hyphenated(name) && !is_spelled(name), "{name}");
        }
        assert!(!is_hyphenated(&["a"; 40].join("-")));
        for term in ["--dry-run", "`--dry-run`", "(--dry-run),", "--dry-run=yes"] {
            assert_eq!(option(term), Some("dry-run"), "{term}");
        }
        for term in ["--force", "-dry-run", "dry-run", "--", "a--b-c", "---"] {
            assert_eq!(option(term), None, "{term}");
        }
    }
}
