//! Comments in discussions that say nothing.

use crate::definition::{for_each_word, has_inner_capital, is_minor};

/// The longest text that is looked at, in bytes. Longer ones say something.
const LONGEST: usize = 300;

/// Most words of a comment that says nothing whatever the query is: "same here".
const FEW_WORDS: usize = 2;

/// Most words of a comment that says nothing unless it has a word of the query, and of one that also refers to something else.
const SOME_WORDS: usize = 5;
const SOME_WORDS_WITH_REFERENCE: usize = 7;

/// Returns `true` if a comment in a discussion says nothing: a vote, a sign of presence ("+1", "same here", "any update?"), a bare
/// reference ("Closing in favour of #12"). O(length).
///
/// No list of phrases decides this, but the number of words besides references. A few words say something if one of them is a value or
/// a piece of code, or a word of the query that is not in the title, which all comments have in common.
///
/// ```
/// use tamis_rank::is_empty_comment;
///
/// let says_nothing = |text| is_empty_comment(text, "Cache is stale", "stale results after an upgrade");
/// assert!(says_nothing("+1") && says_nothing("Any update on this?") && says_nothing("Closing in favour of #12."));
/// assert!(!says_nothing("Set `cache.ttl` to 0") && !says_nothing("only after an upgrade"));
/// ```
pub fn is_empty_comment(text: &str, title: &str, query: &str) -> bool {
    let text = text.trim();
    if text.is_empty() || text.len() > LONGEST || text.contains('`') {
        return false;
    }
    let (mut words, mut refers) = (Vec::new(), false);
    for term in text.split_whitespace() {
        if is_reference(term) {
            refers = true;
        } else if is_content(term) {
            return false;
        } else if term.chars().any(char::is_alphabetic) {
            words.push(term);
        }
    }
    let count: usize = words.iter().map(|word| length_in_words(word)).sum();
    let most = if refers { SOME_WORDS_WITH_REFERENCE } else { SOME_WORDS };
    count <= FEW_WORDS || count <= most && !adds(&words, title, query)
}

/// Returns `true` if one of the words is in the query and not in the title.
fn adds(words: &[&str], title: &str, query: &str) -> bool {
    let content = |text: &str| {
        let mut found: Vec<String> = Vec::new();
        for_each_word(text, |word| {
            let word = word.to_lowercase();
            if !is_minor(&word) && word.chars().count() > 2 {
                found.push(word);
            }
            true
        });
        found
    };
    let (query, title) = (content(query), content(title));
    content(&words.join(" ")).iter().any(|word| query.contains(word) && !title.contains(word))
}

/// `#12`, `owner/repo#12`, `ABC-12`, `@name`, an address, the hash of a commit.
fn is_reference(term: &str) -> bool {
    let term = term.trim_matches(|c: char| !c.is_alphanumeric() && !"#@/".contains(c));
    let numbered = |mark: char| {
        term.rsplit_once(mark).filter(|(_, number)| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
    };
    let is_key = |key: &str| key.len() > 1 && key.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
    let is_hash = (7..=40).contains(&term.len())
        && term.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        && term.bytes().any(|b| b.is_ascii_digit());
    term.contains("://")
        || term.starts_with('@')
        || numbered('#').is_some()
        || numbered('-').is_some_and(|(key, _)| is_key(key))
        || is_hash
}

/// A value or a piece of code: `v2`, `1.4`, `--force`, `retry_limit`, `src/main`, `isOpen()`.
fn is_content(term: &str) -> bool {
    let inner = term.trim_matches(|c: char| !c.is_alphanumeric());
    let digits = inner.bytes().any(|b| b.is_ascii_digit());
    // `+1` and `-1` are votes.
    let votes = term.trim_end_matches(['.', '!', ',']).strip_prefix(['+', '-']);
    let is_vote = votes.is_some_and(|votes| !votes.is_empty() && votes.bytes().all(|b| b.is_ascii_digit()));
    let is_flag = term.strip_prefix('-').is_some_and(|flag| flag.starts_with(|c: char| c == '-' || c.is_alphabetic()));
    (digits && !is_vote)
        || (is_flag && !inner.is_empty())
        || inner.contains(['_', '=', '/', '\\', '.', ':', '(', '<', '{', '$'])
        || has_inner_capital(inner)
}

/// The number of words that a term counts for. Chinese, Japanese and Thai put no spaces between words of about two letters.
fn length_in_words(term: &str) -> usize {
    let unspaced = |c: &char| matches!(u32::from(*c), 0x0E00..=0x0EFF | 0x3040..=0x30FF | 0x3400..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF);
    term.chars().filter(unspaced).count().div_ceil(2).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn comments_of_presence_and_references_say_nothing() {
        let query = "network does not come up after resume";
        for text in [
            "+1",
            "-1!",
            "👍",
            "Same here.",
            "me too",
            "any update?",
            "Any updates on this?",
            "I have the same problem",
            "cc @ada @bob",
            "Duplicate of #12",
            "Closing as a duplicate of owner/repo#12.",
            "See https://example.org/a/b?c=d",
            "Siehe ABC-123",
            "Fixed in 1f09ab3c",
            "我也遇到了",
            "同样的问题",
        ] {
            assert!(is_empty_comment(text, "Network is down", query), "{text}");
        }
        for text in [
            "Set `x` to y",
            "Fixed in 1.4.2",
            "Use --force",
            "Edit retry_limit",
            "only after resume",
            "Restart the network manager and log in again",
            "清除缓存后重启服务器即可解决这个问题",
            "See src/main.rs",
            "",
        ] {
            assert!(!is_empty_comment(text, "Network is down", query), "{text}");
        }
        assert!(is_empty_comment("The network is down", "Network is down", query), "the title says so");
    }

    proptest! {
        #[test]
        fn a_long_comment_says_something(text in "\\PC{0,80}", words in prop::collection::vec("[a-z]{3,8}", 8..40)) {
            is_empty_comment(&text, &text, &text);
            prop_assert!(!is_empty_comment(&words.join(" "), &text, &text));
        }
    }
}
