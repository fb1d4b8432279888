//! The words of a query that nothing searched has: the plainest reason for an empty answer.

use tamis_store::TermStatistics;

/// Most words returned, of which a sentence names the first.
const MOST: usize = 20;

/// Words that carry nothing of a question's subject, besides those that the lexical index leaves out. That no passage has them says
/// nothing about an answer.
const TRIVIAL: &[&str] = &[
    "actually", "again", "already", "also", "always", "another", "anybody", "anyone", "anything", "anyway", "best",
    "better", "could", "currently", "easiest", "easily", "either", "else", "etc", "even", "ever", "everything",
    "exactly", "explain", "getting", "give", "gives", "going", "good", "happen", "happened", "happening", "happens",
    "hello", "help", "instead", "just", "kind", "know", "let", "lets", "like", "lots", "many", "maybe", "might",
    "much", "must", "need", "needed", "needs", "never", "nothing", "one", "only", "ones", "otherwise", "perhaps",
    "please", "possible", "possibly", "rather", "really", "several", "shall", "should", "simply", "some", "somebody",
    "somehow", "someone", "something", "still", "stuff", "sure", "tell", "thank", "thanks", "them", "thing", "things",
    "tried", "tries", "try", "trying", "very", "want", "wanted", "wants", "way", "ways", "whatever", "whether",
    "would",
];

/// Fewest characters of a word in lower case letters alone that can be one of the subject.
const SHORTEST: usize = 3;

/// Returns the words of `query`, as written, that no passage of the searched namespaces has in any form, and whose absence
/// can mean that there is no answer. `terms` are the query's in
/// the lexical index, without function words; parts of an identifier are not words of their own.
pub(super) fn missing_words(query: &str, terms: &[TermStatistics]) -> Vec<String> {
    let is_missing = |word: &str| {
        let word = word.to_lowercase();
        terms.iter().any(|term| term.document_frequency == 0 && !term.compound && term.term == word)
    };
    let has_weight = |word: &str| {
        let is_short = word.chars().count() < SHORTEST && word.chars().all(|c| c.is_ascii_lowercase());
        !is_short && !TRIVIAL.contains(&word.to_lowercase().as_str())
    };
    let mut missing: Vec<String> = Vec::new();
    for word in query.split(ends_word).map(|word| word.trim_matches(|c: char| !c.is_alphanumeric())) {
        // Of a contraction such as "don't", the lexical index has a part that nobody asked for.
        let word = match word.split_once(['\'', '’']) {
            Some((name, "s")) => name,
            Some(_) => continue,
            None => word,
        };
        let is_known = || missing.iter().any(|known| known.to_lowercase() == word.to_lowercase());
        if missing.len() < MOST && word.chars().nth(1).is_some() && has_weight(word) && is_missing(word) && !is_known()
        {
            missing.push(word.to_owned());
        }
    }
    missing
}

/// Returns `true` for whatever ends a word of a sentence. Characters that join the parts of a name do not.
fn ends_word(c: char) -> bool {
    c.is_whitespace() || "\"‘“”`()[]{}<>,;!?、。，；：！？「」『』（）《》…".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(term: &str, document_frequency: u64, compound: bool) -> TermStatistics {
        TermStatistics { term: term.into(), document_frequency, idf: 1.0, compound }
    }

    #[test]
    fn missing_words_are_named_as_written() {
        let terms = [term("capital", 3, false), term("mongolia", 0, false), term("ulaanbaatar", 0, false)];
        assert_eq!(
            missing_words("Is Mongolia's capital (Ulaanbaatar) in MONGOLIA?", &terms),
            ["Mongolia", "Ulaanbaatar"]
        );
        assert!(missing_words("the capital", &terms).is_empty());
    }

    #[test]
    fn parts_of_a_name_are_no_words() {
        let terms = [term("open_index", 0, true), term("open", 0, false), term("index", 0, false)];
        assert!(missing_words("open_index Store::open", &terms).is_empty());
        assert_eq!(missing_words("open_index, then open.", &terms), ["open"]);
    }

    #[test]
    fn words_without_weight_are_not_named() {
        let terms = ["please", "happens", "ab", "k8s", "ui", "elasticsearch"].map(|word| term(word, 0, false));
        assert_eq!(
            missing_words("Please tell what happens with ab, k8s, UI and Elasticsearch", &terms),
            ["k8s", "UI", "Elasticsearch"]
        );
    }

    #[test]
    fn contractions_and_single_characters_are_no_words() {
        let terms = ["don", "mongolia", "概", "概要"].map(|word| term(word, 0, false));
        assert_eq!(missing_words("Don't, don’t: Mongolia’s 概 「概要」。", &terms), ["Mongolia", "概要"]);
    }
}
