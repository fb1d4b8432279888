//! Words: of a text, for comparing two; of kinds and languages, as people write them; and of a message without paths.

use tamis_text::{LANGUAGES, Language};

use crate::Error;

/// Returns the words of a text in lower case, each once, ascending.
pub(crate) fn words_of(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut words: Vec<String> = words.map(str::to_lowercase).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// Returns a message without absolute paths, for a caller who may not know where things are on this machine. Only the last part of each
/// stays.
pub(crate) fn without_paths(message: &str) -> String {
    let is_path = |word: &str| word.starts_with('/') && word.len() > 1 || word.get(1..3) == Some(":\\");
    let shown = |word: &str| {
        let start = word.find(|first: char| first.is_alphanumeric() || first == '/').unwrap_or_default();
        let (before, word) = word.split_at(start);
        match is_path(word) {
            true => format!("{before}{}", word.rsplit(['/', '\\']).next().unwrap_or_default()),
            false => format!("{before}{word}"),
        }
    };
    message.split(' ').map(shown).collect::<Vec<_>>().join(" ")
}

// Kinds of passages in words.

/// Returns the kind of a passage in words, as those call it who write its language: a Go interface is no trait.
///
/// ```
/// use tamis::kind_in_words;
///
/// assert_eq!(kind_in_words("trait", Some("go")), "interface");
/// assert_eq!(kind_in_words("trait", Some("rust")), "trait");
/// assert_eq!(kind_in_words("pull_request", None), "pull request");
/// ```
pub fn kind_in_words(kind: &str, language: Option<&str>) -> String {
    if kind != "trait" {
        return kind.replace('_', " ");
    }
    let word = match language {
        None | Some("rust" | "scala" | "groovy") => "trait",
        Some("swift" | "elixir" | "objectivec" | "clojure") => "protocol",
        Some("haskell") => "type class",
        Some("cpp") => "concept",
        Some("protobuf") => "service",
        Some(_) => "interface",
    };
    word.to_owned()
}

// Languages as people write them, for every request that filters by language or prefers one.

/// Lowest similarity of a name that is suggested instead of an unknown one.
const MIN_SIMILARITY: f64 = 0.5;

/// The canonical names behind names, aliases and file extensions, sorted. TypeScript and JavaScript include their dialects with
/// markup.
///
/// # Errors
/// A name is that of no language.
pub(crate) fn canonical(names: &[String]) -> Result<Vec<String>, Error> {
    let mut languages = Vec::new();
    for name in names {
        let found = Language::selection(name);
        if found.is_empty() {
            return Err(Error::argument("languages", format!("{name:?}"), allowed(name)));
        }
        languages.extend(found.iter().map(|language| language.name.to_owned()));
    }
    languages.sort();
    languages.dedup();
    Ok(languages)
}

/// The canonical name behind a name, an alias or a file extension. `argument` is the one that names it.
///
/// # Errors
/// It is that of no language.
pub(crate) fn one(argument: &'static str, name: &str) -> Result<String, Error> {
    let found = Language::resolve(name).map(|language| language.name.to_owned());
    found.ok_or_else(|| Error::argument(argument, format!("{name:?}"), allowed(name)))
}

/// What a language can be, with the name that is nearest to an unknown one.
pub(crate) fn allowed(unknown: &str) -> String {
    let unknown = unknown.trim().trim_start_matches('.').to_lowercase();
    let names = LANGUAGES.iter().flat_map(|one| std::iter::once(one.name).chain(one.aliases.split_whitespace()));
    let nearest = names
        .map(|name| (strsim::normalized_damerau_levenshtein(&unknown, name), name))
        .filter(|(similarity, _)| *similarity >= MIN_SIMILARITY)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let meant = nearest.map(|(_, name)| format!("; did you mean {name}?")).unwrap_or_default();
    format!("a language such as rust, python, markdown, or a file extension such as rs{meant}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_without_paths_keeps_the_last_part_of_each() {
        for (message, expected) in [
            ("model e5 cannot be used: /srv/models/e5: no such file", "model e5 cannot be used: e5: no such file"),
            ("`/srv/a b/x.db` (/tmp/x) and C:\\data\\x", "`a b/x.db` (x) and x"),
            ("covers 1/2 of src/a.rs; run `tamis index`", "covers 1/2 of src/a.rs; run `tamis index`"),
        ] {
            assert_eq!(without_paths(message), expected);
        }
    }

    #[test]
    fn languages_go_by_name_alias_and_extension_and_an_unknown_one_names_the_nearest() {
        for case in [
            "rust: rust", "Rust: rust", "rs: rust", ".py: python", "C++: cpp", "c#: csharp", "Objective-C: objectivec",
            "bash: shell", "golang: go", "ts: typescript", "typescript: tsx typescript", "common-lisp: common_lisp",
        ] {
            let (text, expected) = case.split_once(": ").expect("names");
            let expected = expected.split(' ').map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(canonical(&[text.to_owned()]).ok(), Some(expected), "{text}");
        }
        let refused = |name: &str| canonical(&[name.to_owned()]).expect_err("refused").to_string();
        assert!(refused("pyton").contains("did you mean python?"), "{}", refused("pyton"));
        assert!(refused("qqqqqq").ends_with("such as rs"), "{}", refused("qqqqqq"));
        assert!(one("prefer_lang", "").is_err());
    }
}
