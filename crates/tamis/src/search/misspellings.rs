//! Misspelt words of a query, read as words of the index.
//!
//! Only a word that no searched passage has in any form is read as another one. It stays as it is if it is between quotation marks or
//! part of a name, and if it is English: a right word that the index lacks says that there is no answer.

use std::ops::Range;

use tamis_embed::WordPiece;
use tamis_store::{Filter, NearWord};

use super::answer::Reading;
use super::context::Context;

/// Fewest characters of a word that is read as another one, and of that one.
const SHORTEST: usize = 4;

/// Most characters of a short word.
const LONGEST_SHORT: usize = 5;

/// How much more frequent the word that is meant has to be than another one as near.
const CLEAR: u64 = 3;

/// Returns the readings of the misspelt words of a query, and the query with them. An index that cannot be read gives none, which
/// the search itself reports.
pub(crate) fn read_misspelt(context: &Context<'_>, text: &str, filter: &Filter) -> (String, Vec<Reading>) {
    let mut read = text.to_owned();
    let mut readings: Vec<Reading> = Vec::new();
    let doubtful = doubtful_words(text);
    if doubtful.is_empty() {
        return (read, readings);
    }
    let words: Vec<&str> = doubtful.iter().map(|range| &text[range.clone()]).collect();
    let near = context.index.store.near_words(&words, filter).unwrap_or_default();
    for ((range, word), near) in doubtful.iter().zip(words).zip(near).rev() {
        let Some(read_as) = meant(word, near) else { continue };
        read.replace_range(range.clone(), &read_as);
        readings.insert(0, Reading { word: word.to_owned(), read_as });
    }
    (read, readings)
}

/// The words of a query that can be misspelt, by their places.
fn doubtful_words(text: &str) -> Vec<Range<usize>> {
    let mut doubtful = Vec::new();
    let marks = text.matches('"').count();
    let (mut at, mut before) = (0, 0);
    for token in text.split_inclusive(char::is_whitespace) {
        let start = at;
        at += token.len();
        // A mark without a partner quotes nothing.
        let is_quoted = before % 2 == 1 && before < marks;
        before += token.matches('"').count();
        let begin = token.trim_start_matches('(');
        let word = begin.trim_end_matches(|c: char| c.is_whitespace() || ".,;:!?)".contains(c));
        let mut letters = word.chars();
        let is_plain = letters.next().is_some_and(char::is_alphabetic)
            && letters.all(|letter| letter.is_alphabetic() && !letter.is_uppercase());
        if is_plain && !is_quoted && word.chars().count() >= SHORTEST && !is_english(&word.to_lowercase()) {
            let start = start + token.len() - begin.len();
            doubtful.push(start..start + word.len());
        }
    }
    doubtful
}

/// The regular endings of English words, and those that stand for the end of the word.
const ENDINGS: [&str; 25] = [
    "es", "s", "ed", "d", "ing", "ings", "ly", "ers", "er", "rs", "r", "y", "ness", "less", "ful", "able", "ment",
    "ised", "ized", "ising", "isation", "ization", "en", "ened", "ening",
];
const REPLACED_ENDINGS: [(&str, &str); 6] =
    [("ies", "y"), ("ied", "y"), ("ier", "y"), ("iest", "y"), ("ing", "e"), ("able", "e")];

/// Words of computing that the vocabulary lacks.
const COMPUTING: [&str; 84] = [
    "async", "autocomplete", "backoff", "backslash", "blob", "boolean", "breadcrumb", "bundler", "callback", "caret",
    "checksum", "coroutine", "cron", "crud", "cursor", "dataframe", "deadlock", "debounce", "decoder", "deque", "diff",
    "docker", "embedding", "encoder", "encrypt", "endian", "enum", "glob", "goroutine", "hostname", "hyperlink",
    "idempotent", "indent", "iterator", "json", "keyring", "latency", "lexer", "lint", "linter", "locale", "malloc",
    "middleware", "minify", "mixin", "modal", "monad", "monorepo", "mutex", "namespace", "newline", "nonce",
    "paginate", "parser", "placeholder", "pointer", "quantize", "quaternion", "rebase", "recursion", "recursive",
    "refactor", "regex", "repo", "sandbox", "sanitize", "scheduler", "schema", "scrollbar", "semaphore", "separator",
    "shader", "shard", "shim", "sidebar", "snippet", "struct", "stub", "subnet", "timezone", "trie", "tuple",
    "webhook", "yaml",
];

/// Prefixes that make English words of others.
const PREFIXES: [&str; 12] = ["anti", "auto", "de", "dis", "inter", "mis", "multi", "non", "over", "pre", "re", "un"];

/// Returns `true` for a word of the built-in models' vocabulary, and for a regular form of one.
fn is_english(word: &str) -> bool {
    let knows = |word: &str| {
        word.len() >= SHORTEST && (WordPiece::uncased_bert().id(word).is_some() || COMPUTING.contains(&word))
    };
    let has =
        |ending: &str, instead: &str| word.strip_suffix(ending).is_some_and(|base| knows(&format!("{base}{instead}")));
    // `tailwind` is made of two words.
    let is_compound = || {
        let parts = word.char_indices().map(|(at, _)| word.split_at(at));
        parts.into_iter().any(|(first, second)| knows(first) && knows(second))
    };
    knows(word)
        || is_compound()
        || PREFIXES.iter().any(|prefix| word.strip_prefix(prefix).is_some_and(is_english))
        || ENDINGS.iter().any(|ending| has(ending, ""))
        || REPLACED_ENDINGS.iter().any(|(ending, instead)| has(ending, instead))
}

/// The word that is meant: the nearest one by the most common slip, and of several the most frequent one. None if another one is about
/// as likely.
fn meant(word: &str, near: Vec<NearWord>) -> Option<String> {
    let first = word.chars().next()?;
    let lower = word.to_lowercase();
    let mut near: Vec<(Slip, NearWord)> = near
        .into_iter()
        // People rarely miss the first letter: `decrypting` is not `encrypting`.
        .filter(|near| near.word.chars().count() >= SHORTEST && near.word.starts_with(first.to_ascii_lowercase()))
        .filter_map(|near| Some((slip(&lower, &near)?, near)))
        .collect();
    near.sort_by_key(|(slip, near)| (*slip, u64::MAX - near.passages));
    let (slip, best) = near.first()?;
    let is_unclear = |(other, near): &(Slip, NearWord)| other == slip && near.passages * CLEAR > best.passages;
    if near.get(1).is_some_and(is_unclear) {
        return None;
    }
    let mut letters = best.word.chars();
    let capital = letters.next().filter(|_| first.is_uppercase()).map(|first| first.to_uppercase().to_string());
    Some(capital.map_or_else(|| best.word.clone(), |capital| capital + letters.as_str()))
}

/// The way in which a word is misspelt, the most common first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Slip {
    /// Two letters changed places, one is missing, or one is doubled.
    Letter,
    /// Another letter in one place.
    Replaced,
    /// Two edits.
    Two,
}

/// The slip that makes a word of another one. None for what is rather another word.
fn slip(word: &str, near: &NearWord) -> Option<Slip> {
    let [letters, others] = [word, &near.word].map(|word| word.chars().collect::<Vec<char>>());
    let sorted = |letters: &[char]| {
        let mut sorted = letters.to_vec();
        sorted.sort_unstable();
        sorted
    };
    match near.distance {
        // A regular form of a stem need not be a word, and two edits away there is one of almost any word.
        // Nor do people miss two letters of a word: `postgres` is not `postes`.
        2 => (is_english(&near.word) && letters.len().abs_diff(others.len()) <= 1).then_some(Slip::Two),
        1 if letters.len() < others.len() || sorted(&letters) == sorted(&others) => Some(Slip::Letter),
        // `sprite` is not `spite`, but `tokkens` are `tokens`.
        1 if letters.len() > others.len() => {
            let mut doubled = letters.windows(2).enumerate().filter(|(_, pair)| pair[0] == pair[1]);
            let without =
                |at: usize| letters.iter().enumerate().filter(move |(place, _)| *place != at).map(|(_, letter)| letter);
            doubled.any(|(at, _)| without(at).eq(&others)).then_some(Slip::Letter)
        }
        // `serde` is not `serve`, and another last letter makes another form.
        1 => {
            let is_clear = letters.len() > LONGEST_SHORT && letters.last() == others.last();
            (is_clear && is_english(&near.word)).then_some(Slip::Replaced)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubtful(text: &str) -> Vec<&str> {
        doubtful_words(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn only_plain_words_that_are_not_english_are_doubtful() {
        assert_eq!(doubtful("Wher is the mantainance (windwo)?"), ["Wher", "mantainance", "windwo"]);
        for text in [
            "retry_limti", "parseCofnig", "HTPP", "utf8x", "src/mantain", "`mantain`", "re-tyr", "+mantain",
            "-mantain", "abx", "schema", "shards", "tries", "decrypting", "sharpen", "flattened", "tailwind", "leaky",
            "localisation", "\"the mantainance\" windows", "throttles closed mongolia", "don't", "",
        ] {
            assert!(doubtful(text).is_empty(), "{text}: {:?}", doubtful(text));
        }
        assert_eq!(doubtful("the \"mantain windwo\" mantain 5\" screeen"), ["mantain", "screeen"]);
    }

    #[test]
    fn the_nearest_and_most_frequent_word_is_meant_unless_another_is_as_likely() {
        let near = |words: &[(&str, usize, u64)]| {
            words.iter().map(|&(word, distance, passages)| NearWord { word: word.into(), distance, passages }).collect()
        };
        let meant = |word: &str, words: &[(&str, usize, u64)]| meant(word, near(words));
        assert_eq!(meant("recieve", &[("receive", 1, 2), ("relieve", 1, 9)]).as_deref(), Some("receive"));
        assert_eq!(meant("Recieve", &[("receive", 1, 9), ("relieve", 2, 90)]).as_deref(), Some("Receive"));
        assert_eq!(meant("lcok", &[("clock", 1, 90), ("lock", 1, 1)]).as_deref(), Some("lock"));
        assert_eq!([meant("decrypting", &[("encrypting", 2, 9)]), meant("serde", &[("serve", 1, 9)])], [None, None]);
        assert_eq!(meant("lokc", &[("look", 1, 3), ("lock", 1, 8)]).as_deref(), Some("lock"));
        assert_eq!(meant("tokkens", &[("tokens", 1, 3)]).as_deref(), Some("tokens"));
        assert_eq!(meant("sprite", &[("spite", 1, 9)]), None);
        assert_eq!(meant("pluins", &[("plains", 1, 9), ("plugins", 1, 2)]).as_deref(), Some("plugins"));
        assert_eq!(meant("maintainance", &[("maintenance", 2, 2)]).as_deref(), Some("maintenance"));
        assert_eq!([meant("postgres", &[("postes", 2, 9)]), meant("dampem", &[("dampes", 1, 9)])], [None, None]);
        assert_eq!(meant("ovne", &[("oven", 1, 1), ("one", 1, 9)]).as_deref(), Some("oven"));
        assert_eq!(meant("lcok", &[]), None);
    }
}
