//! What a query says besides its words: `lang:rust`, `path:src/**`, `symbol:Name`, `kind:function`, `"exact phrase"`, `-word`.
//!
//! Whatever has another form is a word to search for. So is everything but a language in a query of several lines or many words,
//! which somebody pasted.

use super::candidate::Candidate;
use tamis_rank::RequiredTerms;
use tamis_store::{Filter, StoredPassage};
use tamis_text::{Kind, Language};

/// Most words of a query with operators.
const MOST_WORDS: usize = 32;

/// A query without its operators.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Parsed {
    /// The words to search for.
    pub text: String,
    /// The language that the query names, by canonical name; a preference.
    pub language: Option<&'static str>,
    /// Only paths that match one of these globs; empty: all.
    pub paths: Vec<String>,
    /// Only symbols with one of these names; empty: all.
    pub symbols: Vec<String>,
    /// Only these kinds of passage; empty: all.
    pub kinds: Vec<String>,
    /// What the passages hold and do not hold.
    pub words: WordFilter,
}

/// The words that a passage must and must not hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WordFilter {
    /// The phrases between double quotation marks.
    phrases: RequiredTerms,
    /// The words after a minus sign.
    excluded: Vec<RequiredTerms>,
}

/// One operator of a query.
enum Operator {
    Language(&'static str),
    Path(String),
    Symbol(String),
    Kind(String),
    Exclude(RequiredTerms),
}

impl Parsed {
    /// Takes the operators out of a query. The last language counts.
    pub fn of(query: &str) -> Self {
        let mut parsed = Parsed::default();
        let mut words = Vec::new();
        let mut quoted = false;
        let written =
            !query.trim().contains('\n') && query.split_whitespace().take(MOST_WORDS + 1).count() <= MOST_WORDS;
        for word in query.split_whitespace() {
            // Nothing between quotation marks is an operator.
            let marks = word.matches('"').count();
            let operator = Operator::of(word).filter(|operator| written || matches!(operator, Operator::Language(_)));
            match operator.filter(|_| !quoted && marks == 0) {
                Some(Operator::Language(name)) => parsed.language = Some(name),
                Some(Operator::Path(glob)) => parsed.paths.push(glob),
                Some(Operator::Symbol(name)) => parsed.symbols.push(name),
                Some(Operator::Kind(name)) => parsed.kinds.push(name),
                Some(Operator::Exclude(word)) => parsed.words.excluded.push(word),
                None => words.push(word),
            }
            quoted ^= marks % 2 == 1;
        }
        // A minus sign excludes from something.
        if words.is_empty() && !parsed.words.excluded.is_empty() {
            return Parsed { text: query.trim().to_owned(), ..Parsed::default() };
        }
        // Without an operator the text stays as written, including line ends.
        let whole = words.len() == query.split_whitespace().count();
        parsed.text = if whole { query.trim().to_owned() } else { words.join(" ") };
        if written {
            parsed.words.phrases = phrases(&parsed.text);
        }
        parsed
    }

    /// Adds its filters to those of a request; a filter in the query takes the place of the same one in the request.
    pub fn narrow(self, filter: Filter) -> Filter {
        let or = |own: Vec<String>, given: Vec<String>| if own.is_empty() { given } else { own };
        Filter {
            path_globs: or(self.paths, filter.path_globs),
            symbols: or(self.symbols, filter.symbols),
            kinds: or(self.kinds, filter.kinds),
            ..filter
        }
    }
}

impl Operator {
    fn of(word: &str) -> Option<Operator> {
        if let Some(excluded) = word.strip_prefix('-') {
            // `-n` and `--offline` are options of a command, which people ask about.
            let is_word = excluded.chars().count() > 2 && excluded.chars().all(char::is_alphanumeric);
            return is_word.then(|| Operator::Exclude(RequiredTerms::of(&format!("\"{excluded}\""))));
        }
        let (key, value) = word.split_once(':').filter(|(_, value)| !value.is_empty() && !value.starts_with(':'))?;
        match key.to_ascii_lowercase().as_str() {
            "lang" | "language" => Language::resolve(value).map(|language| Operator::Language(language.name)),
            "path" => Some(Operator::Path(value.to_owned())),
            "symbol" => Some(Operator::Symbol(value.to_owned())),
            "kind" => value.parse::<Kind>().is_ok().then(|| Operator::Kind(value.to_owned())),
            _ => None,
        }
    }
}

/// The phrases between double quotation marks.
fn phrases(text: &str) -> RequiredTerms {
    let parts: Vec<&str> = text.split('"').collect();
    // A mark without a partner quotes nothing.
    let quoted = parts.iter().enumerate().take(parts.len().saturating_sub(1)).filter(|(at, _)| at % 2 == 1);
    let quoted: Vec<String> = quoted.map(|(_, phrase)| format!("\"{phrase}\"")).collect();
    RequiredTerms::of(&quoted.join(" "))
}

impl WordFilter {
    /// Returns `true` if every passage passes.
    pub fn is_empty(&self) -> bool {
        self.phrases.is_empty() && self.excluded.is_empty()
    }

    /// Leaves the candidates that hold all phrases, if any candidate does, and none of the excluded words. `passages` are those of
    /// the candidates, in their order.
    pub fn retain(&self, candidates: &mut Vec<Candidate>, passages: &mut Vec<StoredPassage>) {
        if self.is_empty() {
            return;
        }
        let allowed = passages.iter().map(|passage| !self.excluded.iter().any(|word| holds(word, passage)));
        let mut kept: Vec<bool> = allowed.collect();
        let quoted: Vec<bool> = passages.iter().map(|passage| holds(&self.phrases, passage)).collect();
        // An exact find joins the pool from anywhere, and must not empty it of everything else.
        let of_leg = candidates.iter().map(|candidate| candidate.exact.is_none());
        if quoted.iter().zip(&kept).zip(of_leg).any(|((quoted, kept), of_leg)| *quoted && *kept && of_leg) {
            kept.iter_mut().zip(&quoted).for_each(|(kept, quoted)| *kept &= quoted);
        }
        let mut of_candidates = kept.iter();
        candidates.retain(|_| of_candidates.next().is_none_or(|kept| *kept));
        let mut of_passages = kept.iter();
        passages.retain(|_| of_passages.next().is_none_or(|kept| *kept));
    }
}

/// Whether a passage holds all terms in its text, its names or its path.
fn holds(terms: &RequiredTerms, passage: &StoredPassage) -> bool {
    super::required::share(terms, passage) >= 1.0
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
            let parsed = Parsed::of(query);
            assert_eq!((parsed.text.as_str(), parsed.language), (text, language), "{query}");
        }
    }

    #[test]
    fn operators_leave_the_words() {
        let parsed = Parsed::of("path:src/** retry limit symbol:Client* kind:function -test");
        assert_eq!(parsed.text, "retry limit");
        assert_eq!(
            (parsed.paths.as_slice(), parsed.symbols.as_slice()),
            (&["src/**".into()][..], &["Client*".into()][..])
        );
        assert_eq!((parsed.kinds.as_slice(), parsed.words.excluded.len()), (&["function".into()][..], 1));
    }

    #[test]
    fn what_is_no_operator_is_a_word() {
        for query in [
            "kind:nonsense x",
            "std::path::Path",
            "path: x",
            "what does -n do",
            "the option --offline",
            "a-b x",
            "foo:bar x",
            "-excluded",
            "the list\n-first\n-second",
            "say \"path:src and -word\" aloud",
        ] {
            let parsed = Parsed::of(query);
            assert_eq!(parsed.text, query);
            assert!(parsed.paths.is_empty() && parsed.kinds.is_empty() && parsed.words.excluded.is_empty(), "{query}");
        }
    }

    #[test]
    fn double_marks_quote_a_phrase() {
        let phrases =
            |query: &str| Parsed::of(query).words.phrases.iter().map(|term| term.text.clone()).collect::<Vec<_>>();
        assert_eq!(phrases("why \"connection reset\" and \"broken pipe\" come"), ["connection reset", "broken pipe"]);
        assert!(phrases("a 5\" screen, don't 'quote' `this`").is_empty());
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
