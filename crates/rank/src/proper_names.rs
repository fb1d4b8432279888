//! The names in a query: words that stand for one thing and that no other word replaces.

use crate::required::squashed;
use std::collections::HashSet;

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
/// let names = ProperNames::of("How do I set up full text search with Elasticsearch on EC2?");
/// assert_eq!(names.iter().collect::<Vec<_>>(), ["Elasticsearch", "EC2"]);
/// assert_eq!(names.held(&["runs on ec2 alone"]), [false, true]);
/// assert!(ProperNames::of("How is a job retried").is_empty());
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
    pub fn of(query: &str) -> Self {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_found_by_their_spelling() {
        let cases: [(&str, &[&str]); 9] = [
            ("Where are retries handled?", &[]),
            ("Does it work with Redis. Maybe not", &["Redis"]),
            ("HTTP/2 with TLS 1.3", &["HTTP", "TLS"]),
            ("parse_config and JsonReader", &["parse_config", "JsonReader"]),
            ("error 404 after 30 retries", &["404"]),
            ("How To Install The Plugin", &[]),
            ("what is CORS, and why does CORS fail", &["CORS"]),
            ("I said so", &[]),
            ("", &[]),
        ];
        for (query, expected) in cases {
            assert_eq!(ProperNames::of(query).iter().collect::<Vec<_>>(), expected, "{query}");
        }
    }

    #[test]
    fn a_name_is_held_in_any_style_and_not_inside_another() {
        let names = ProperNames::of("the JsonReader of Gson");
        assert_eq!(names.held(&["json_reader", "gson"]), [true, true]);
        assert_eq!(names.held(&["jsonreaders", "gsonic"]), [false, false]);
    }

    proptest! {
        #[test]
        fn any_query_has_bounded_names(query in "\\PC{0,200}") {
            let names = ProperNames::of(&query);
            prop_assert!(names.len() <= MOST_NAMES);
            prop_assert_eq!(names.held(&[&query]).len(), names.len());
        }
    }
}
