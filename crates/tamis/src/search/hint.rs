//! Language hints in a query, such as `lang:rust`.

use tamis_text::Language;

/// A query without its hints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parsed {
    /// The words to search for.
    pub text: String,
    /// The language that the query names, by canonical name.
    pub language: Option<&'static str>,
}

impl Parsed {
    /// Removes `lang:NAME` and `language:NAME` from a query; the last one counts. A word that does not name a language stays,
    /// since it may be a search term.
    pub fn of(query: &str) -> Self {
        let mut language = None;
        let words = query.split_whitespace().filter(|word| match hinted(word) {
            Some(found) => {
                language = Some(found);
                false
            }
            None => true,
        });
        let words: Vec<&str> = words.collect();
        // Without a hint the text stays as written, including line ends.
        let text = if language.is_some() { words.join(" ") } else { query.trim().to_owned() };
        Parsed { text, language }
    }
}

fn hinted(word: &str) -> Option<&'static str> {
    let (key, name) = word.split_once(':')?;
    if !["lang", "language"].iter().any(|known| key.eq_ignore_ascii_case(known)) || name.is_empty() {
        return None;
    }
    Language::resolve(name).map(|language| language.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::SearchRequest;

    #[test]
    fn a_hint_is_taken_out_of_the_query_by_any_name_of_the_language() {
        for (query, text, language) in [
            ("lang:rust parse config", "parse config", Some("rust")),
            ("parse language:C++ templates", "parse templates", Some("cpp")),
            ("retry LANG:py", "retry", Some("python")),
            ("lang:go lang:rust x", "x", Some("rust")),
            ("what is lang:klingon", "what is lang:klingon", None),
            ("std::lang:: x", "std::lang:: x", None),
            ("a\n  b", "a\n  b", None),
            ("lang:rust", "", Some("rust")),
        ] {
            assert_eq!(Parsed::of(query), Parsed { text: text.into(), language }, "{query}");
        }
    }

    #[test]
    fn the_nearest_to_the_asker_counts_first() {
        let mut request = SearchRequest::new("x");
        let hint = |request: &SearchRequest| request.hint(&Parsed::of(&request.query));
        assert_eq!(hint(&request), None);
        request.caller_path = Some("src/app.tsx".into());
        assert_eq!(hint(&request), Some("tsx"));
        request.languages = vec!["typescript".into(), "tsx".into()];
        assert_eq!(hint(&request), Some("typescript"), "two dialects of one language are one");
        request.languages.push("rust".into());
        assert_eq!(hint(&request), Some("tsx"), "several languages are no hint");
        request.query = "x lang:go".into();
        assert_eq!(hint(&request), Some("go"));
        request.language_hint = Some("java".into());
        assert_eq!(hint(&request), Some("java"));
    }
}
