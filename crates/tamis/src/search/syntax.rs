//! What a query says besides its words: `lang:rust`, `path:src/**`, `symbol:Name`, `kind:function`, `"exact phrase"`, `-word`,
//! `-"some phrase"`.
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
    /// The words and phrases after a minus sign.
    excluded: Vec<Exclusion>,
    /// The words with a minus sign that are words of the query, since the index writes them so.
    options: Vec<String>,
}

/// A word or a phrase that no passage may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Exclusion {
    text: String,
    terms: RequiredTerms,
    /// True between quotation marks, where it can be nothing but an exclusion.
    quoted: bool,
}

/// One operator of a query.
enum Operator {
    Language(&'static str),
    Path(String),
    Symbol(String),
    Kind(String),
    Exclude(Exclusion),
}

impl Parsed {
    /// Takes the operators out of a query. The last language counts.
    pub fn new(query: &str) -> Self {
        Parsed::with_options(query, |_| false)
    }

    /// Takes the operators out of a query. A word after a minus sign stays one with it if it is an option by `is_option`.
    pub fn with_options(query: &str, is_option: impl Fn(&str) -> bool) -> Self {
        let mut parsed = Parsed::default();
        let mut words = Vec::new();
        let mut exclusions = Vec::new();
        let mut quoted = false;
        let written =
            !query.trim().contains('\n') && query.split_whitespace().take(MOST_WORDS + 1).count() <= MOST_WORDS;
        let tokens = tokens(query);
        for (at, &token) in tokens.iter().enumerate() {
            let marks = token.matches('"').count();
            let operator =
                Operator::parse(token).filter(|operator| written || matches!(operator, Operator::Language(_)));
            // Nothing between quotation marks is an operator.
            match operator.filter(|operator| !quoted && (marks == 0 || matches!(operator, Operator::Exclude(_)))) {
                Some(Operator::Language(name)) => parsed.language = Some(name),
                Some(Operator::Path(glob)) => parsed.paths.push(glob),
                Some(Operator::Symbol(name)) => parsed.symbols.push(name),
                Some(Operator::Kind(name)) => parsed.kinds.push(name),
                Some(Operator::Exclude(one)) if !one.quoted && is_option(&one.text) => {
                    parsed.words.options.push(one.text);
                    words.push(token);
                }
                Some(Operator::Exclude(one)) => {
                    parsed.words.excluded.push(one);
                    exclusions.push(at);
                }
                None => words.push(token),
            }
            quoted ^= marks % 2 == 1;
        }
        // A minus sign excludes from something.
        if words.is_empty() {
            parsed.words.excluded.clear();
            words = exclusions.into_iter().map(|at| tokens[at]).collect();
        }
        // Without an operator the text stays as written, including line ends.
        let whole = words.len() == tokens.len();
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
    fn parse(word: &str) -> Option<Operator> {
        if let Some(excluded) = word.strip_prefix('-') {
            return Exclusion::parse(excluded).map(Operator::Exclude);
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

impl Exclusion {
    fn parse(text: &str) -> Option<Exclusion> {
        let phrase = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        // `-n` and `--offline` are options of a command, and `-100` is a number.
        let is_word = text.chars().count() > 2
            && text.chars().all(char::is_alphanumeric)
            && !text.starts_with(|first: char| first.is_ascii_digit());
        let excluded = phrase.or_else(|| Some(text).filter(|_| is_word))?.trim();
        let terms = RequiredTerms::of(&format!("\"{excluded}\""));
        // A phrase that is too long is none to the terms.
        let is_one = terms.iter().count() == 1;
        is_one.then(|| Exclusion { text: excluded.to_owned(), terms, quoted: phrase.is_some() })
    }
}

/// The words of a query. An excluded phrase, such as `-"first draft"`, is one.
fn tokens(query: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let (mut rest, mut quoted) = (query.trim(), false);
    while !rest.is_empty() {
        let word = || rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (token, after) = rest.split_at(excluded_phrase(rest).filter(|_| !quoted).unwrap_or_else(word));
        quoted ^= token.matches('"').count() % 2 == 1;
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

/// Where the excluded phrase ends with which a text begins.
fn excluded_phrase(text: &str) -> Option<usize> {
    const BEGINS: &str = "-\"";
    let phrase = text.strip_prefix(BEGINS)?;
    let end = BEGINS.len() + phrase.find('"')? + 1;
    text[end..].chars().next().is_none_or(char::is_whitespace).then_some(end)
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

    /// The words after a minus sign that would be options of a command if the index had them so.
    pub fn possible_options(&self) -> impl Iterator<Item = &str> {
        self.excluded.iter().filter(|one| !one.quoted).map(|one| one.text.as_str())
    }

    /// The words with a minus sign that are words of the query.
    pub fn options(&self) -> &[String] {
        &self.options
    }

    /// The words and phrases that no passage may hold.
    pub fn excluded(&self) -> impl Iterator<Item = &str> {
        self.excluded.iter().map(|one| one.text.as_str())
    }

    /// Leaves the candidates that hold all phrases, if any candidate does, and none of the excluded words.
    pub fn retain(&self, candidates: &mut Vec<Candidate>) {
        if self.is_empty() {
            return;
        }
        candidates.retain(|candidate| !self.excluded.iter().any(|one| holds(&one.terms, &candidate.passage)));
        let quoted = |candidate: &Candidate| holds(&self.phrases, &candidate.passage);
        // An exact find joins the pool from anywhere, and must not empty it of everything else.
        if candidates.iter().any(|candidate| candidate.exact.is_none() && quoted(candidate)) {
            candidates.retain(quoted);
        }
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
            let parsed = Parsed::new(query);
            assert_eq!((parsed.text.as_str(), parsed.language), (text, language), "{query}");
        }
    }

    #[test]
    fn operators_leave_the_words() {
        let parsed = Parsed::new("path:src/** retry limit symbol:Client* kind:function -test");
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
            "kind:nonsense x", "std::path::Path", "path: x", "what does -n do", "the option --offline", "a-b x",
            "foo:bar x", "-excluded", "it fell by -100 or -0.5, to -1e5", "an open -\"mark",
            "the list\n-first\n-second", "say \"path:src and -word\" aloud",
        ] {
            let parsed = Parsed::new(query);
            assert_eq!(parsed.text, query);
            assert!(parsed.paths.is_empty() && parsed.kinds.is_empty() && parsed.words.excluded.is_empty(), "{query}");
        }
    }

    #[test]
    fn a_minus_sign_excludes_a_word_or_a_phrase() {
        for (query, text, excluded) in [
            ("release notes -draft", "release notes", &["draft"][..]),
            ("-draft release -\"first try\" notes", "release notes", &["draft", "first try"]),
            ("release -\"2024\"", "release", &["2024"]),
            ("-\"first try\"", "-\"first try\"", &[]),
            ("path:src/** -draft", "-draft", &[]),
            ("say \"no -\"first try\" at\" all", "say \"no -\"first try\" at\" all", &[]),
        ] {
            let parsed = Parsed::new(query);
            assert_eq!((parsed.text.as_str(), parsed.words.excluded().collect::<Vec<_>>()), (text, excluded.to_vec()));
        }
        assert_eq!(Parsed::new("path:src/** -draft").paths, ["src/**"], "the filter stays");
    }

    #[test]
    fn an_option_stays_a_word() {
        let parsed = Parsed::with_options("java -jar manifest -draft", |word| word == "jar");
        assert_eq!(parsed.text, "java -jar manifest");
        assert_eq!(
            (parsed.words.options(), parsed.words.excluded().collect::<Vec<_>>()),
            (&["jar".into()][..], vec!["draft"])
        );
        let quoted = Parsed::with_options("java -\"jar\" manifest", |_| true);
        assert_eq!((quoted.text.as_str(), quoted.words.options().len()), ("java manifest", 0));
    }

    #[test]
    fn double_marks_quote_a_phrase() {
        let phrases =
            |query: &str| Parsed::new(query).words.phrases.iter().map(|term| term.text.clone()).collect::<Vec<_>>();
        assert_eq!(phrases("why \"connection reset\" and \"broken pipe\" come"), ["connection reset", "broken pipe"]);
        assert!(phrases("a 5\" screen, don't 'quote' `this`").is_empty());
    }

    #[test]
    fn the_nearest_to_the_asker_counts_first() {
        let mut request = SearchRequest::new("x");
        let hint = |request: &SearchRequest| request.hint(&Parsed::new(&request.query));
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
