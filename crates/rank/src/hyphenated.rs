//! Names with hyphens, and which of them no ordinary English looks like.
//!
//! `Get-ChildItem`, `my_lib-core` and `--dry-run` are names wherever they stand. `font-size` is spelled as `well-known` is, so only
//! the rest of the query can say that it is a name.

use crate::definition::has_inner_capital;

/// Most words of a hyphenated name.
const MOST_WORDS: usize = 12;

/// Returns `true` for words joined by single hyphens, with a letter at the beginning.
pub(crate) fn is_hyphenated(name: &str) -> bool {
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
pub(crate) fn is_spelled(name: &str) -> bool {
    let mut words = name.split('-');
    is_hyphenated(name)
        && (words.clone().any(|word| word.trim_matches('_').contains('_'))
            || words.clone().any(has_inner_capital) && words.all(|word| word.starts_with(char::is_uppercase)))
}

/// The name of an option, without its dashes, if it has several words: `dry-run` of `--dry-run`. `term` can have marks around it.
pub(crate) fn option(term: &str) -> Option<&str> {
    let term = term.trim_start_matches(['`', '\'', '"', '(', '[', '{', '“', '‘', '«']);
    let rest = term.strip_prefix("--")?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && !"-_".contains(c)).unwrap_or(rest.len());
    let name = rest[..end].trim_end_matches('-');
    is_hyphenated(name).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_english_where_their_spelling_does() {
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
    }

    #[test]
    fn an_option_is_known_by_its_dashes() {
        for term in ["--dry-run", "`--dry-run`", "(--dry-run),", "--dry-run=yes"] {
            assert_eq!(option(term), Some("dry-run"), "{term}");
        }
        for term in ["--force", "-dry-run", "dry-run", "--", "a--b-c", "---"] {
            assert_eq!(option(term), None, "{term}");
        }
    }
}
