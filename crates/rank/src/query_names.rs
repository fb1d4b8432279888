//! The names that a query can mean, and rank factors that put the definition of one before its uses.
//!
//! The text around a use is often more similar to the query than the definition: a constructor or a caller repeats the name in
//! less text. Neither retriever can separate the two; the symbol of a passage can.

/// Match of a member, relative to its type: `Pool::new` where the query names `Pool`.
const MEMBER: f64 = 0.25;

/// Match of a name in another spelling, relative to the query's own: `walk_builder`, or the words walk builder, for
/// `WalkBuilder`.
const OTHER_SPELLING: f64 = 0.9;

/// Least share of a query's weight that names a symbol. A question about promises and observables does not ask for the
/// definition of `Promise`, nor a question on the rounding in `multipleOf` for the definition of that function.
const NAMING: f64 = 0.5;

/// Weight of an identifier, which seldom occurs by chance.
const IDENTIFIER: f64 = 2.0;

/// Most words of a query to read, one bit each. A name has fewer.
const MOST_WORDS: usize = 64;

/// Weight of a word of the question's form, relative to a word of its content.
const MINOR: f64 = 0.05;

/// Words of a question's form. They count a little, since symbols can contain them (`is_empty`, `from_path`).
const MINOR_WORDS: &[&str] = &[
    "a", "all", "an", "and", "any", "are", "as", "at", "be", "by", "can", "class", "code", "constant", "did", "do",
    "does", "enum", "field", "file", "find", "for", "from", "function", "get", "has", "have", "how", "i", "if", "in",
    "into", "is", "it", "its", "macro", "me", "method", "module", "my", "no", "not", "of", "on", "or", "show",
    "struct", "symbol", "that", "the", "this", "to", "trait", "type", "usage", "used", "was", "we", "what", "when",
    "where", "which", "who", "why", "will", "with", "you",
];

/// Stems of longer such words.
const MINOR_STEMS: &[&str] = &["declar", "defin", "implement", "interface"];

/// The names that a query can mean: its identifiers as spelled, and the names that its other words can form.
///
/// ```
/// use tamis_rank::QueryNames;
///
/// let names = QueryNames::from_query("where is WalkBuilder defined");
/// assert!(names.match_score("WalkBuilder") > 0.8);
/// assert!(names.match_score("WalkBuilder::new") < 0.3);
/// assert_eq!(names.match_score("Walk"), 0.0);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryNames {
    /// Identifiers, each by its parts from the outermost to the name itself.
    identifiers: Vec<Vec<String>>,
    /// The other words, each once, in lower case and in the singular, with their weights; at most [`MOST_WORDS`].
    words: Vec<(String, f64)>,
    /// The weight of all words.
    weight: f64,
}

impl QueryNames {
    /// Reads a query. O(its length).
    ///
    /// A term is an identifier if it is spelled as one: `parse_config`, `parseConfig`, `Config.parse`, `parse()`, `Get-ChildItem`.
    pub fn from_query(query: &str) -> Self {
        let mut names = QueryNames::default();
        for term in query.split_whitespace().map(trimmed) {
            let called = term.strip_suffix("()");
            let name = called.unwrap_or(term);
            let parts: Vec<String> = name_parts(name).map(str::to_owned).collect();
            let spelled = name.contains('_') || parts.len() > 1 || called.is_some() || has_inner_capital(name);
            if spelled && !parts.is_empty() && parts.iter().all(|part| is_identifier(part)) {
                names.identifiers.push(parts);
            } else {
                for_each_word(name, |word| {
                    let word = singular(word).to_lowercase();
                    if names.words.len() < MOST_WORDS && names.words.iter().all(|(known, _)| *known != word) {
                        let weight = weight(&word);
                        names.words.push((word, weight));
                    }
                    true
                });
            }
        }
        let words: f64 = names.words.iter().map(|(_, weight)| weight).sum();
        names.weight = words + IDENTIFIER * names.identifiers.len() as f64;
        names
    }

    /// Returns `true` if a term of the query is spelled as an identifier.
    pub fn has_identifier(&self) -> bool {
        !self.identifiers.is_empty()
    }

    /// The match of a symbol with the query, 0 (none) to 1 (the query's identifier). `symbol` is a qualified name, or several
    /// separated by commas, as a statement that defines more than one has. O(its length).
    pub fn match_score(&self, symbol: &str) -> f64 {
        symbol.split(", ").map(|symbol| self.match_of_one(symbol)).fold(0.0, f64::max)
    }

    fn match_of_one(&self, symbol: &str) -> f64 {
        let symbol: Vec<&str> = name_parts(symbol).collect();
        let Some((name, outer)) = symbol.split_last() else { return 0.0 };
        let identified = self.identifiers.iter().map(|identifier| identified(identifier, name, outer));
        let identified = identified.fold(0.0, f64::max) * naming(IDENTIFIER / self.weight);
        let held = outer.split_last().map_or(0.0, |(holder, _)| MEMBER * self.worded(holder, &[]));
        identified.max(self.worded(name, outer)).max(held)
    }

    /// The match of a name whose words are all in the query, and of the types around it whose words are too.
    fn worded(&self, name: &str, outer: &[&str]) -> f64 {
        let mut matched = self.cover(name);
        if matched == 0 {
            return 0.0;
        }
        for part in outer {
            matched |= self.cover(part);
        }
        let words = self.words.iter().enumerate().filter(|(at, _)| matched & (1 << at) > 0);
        OTHER_SPELLING * naming(words.map(|(_, (_, weight))| weight).sum::<f64>() / self.weight)
    }

    /// The words of a part of a name, one bit each, if all of them are in the query; otherwise none.
    fn cover(&self, part: &str) -> u64 {
        let mut found = 0;
        for_each_word(part, |word| {
            let word = singular(word);
            match self.words.iter().position(|(known, _)| same_but_for_case(word, known)) {
                Some(at) => found |= 1 << at,
                None => found = 0,
            }
            found > 0
        });
        found
    }
}

/// The match that a share of the query's weight gives: 0 below [`NAMING`], and its square above, since most words of a
/// sentence name nothing.
fn naming(share: f64) -> f64 {
    if share < NAMING { 0.0 } else { share.min(1.0).powi(2) }
}

/// The match of a symbol with one identifier of the query.
fn identified(identifier: &[String], name: &str, outer: &[&str]) -> f64 {
    let Some((asked, holders)) = identifier.split_last() else { return 0.0 };
    let same = |asked: &str, name: &str| match () {
        () if asked == name => 1.0,
        () if same_letters(asked, name) => OTHER_SPELLING,
        () => 0.0,
    };
    let own = same(asked, name);
    if own > 0.0 {
        // `Config.parse` means the `parse` of `Config`.
        let held = holders.last().is_none_or(|holder| outer.iter().any(|part| same_letters(holder, part)));
        return if held { own } else { own * MEMBER };
    }
    MEMBER * outer.iter().map(|part| same(asked, part)).fold(0.0, f64::max)
}

/// The factor on the ranking value of a candidate where another one defines the identifier asked for.
pub const USAGE_FACTOR: f64 = 0.75;

/// Ranks the uses of a name below its definition where both were found: returns the factor on each candidate's value, by its
/// symbol. The best match in the pool gets 1, and weaker ones are ranked down in proportion, to [`USAGE_FACTOR`] where they do not
/// match at all. All get 1 where no candidate defines a name of the query. O(n).
pub fn definition_factors<'a>(names: &QueryNames, symbols: impl Iterator<Item = Option<&'a str>>) -> Vec<f64> {
    let mut factors: Vec<f64> = symbols.map(|symbol| symbol.map_or(0.0, |symbol| names.match_score(symbol))).collect();
    let best = factors.iter().copied().fold(0.0, f64::max);
    factors.iter_mut().for_each(|score| *score = 1.0 - (1.0 - USAGE_FACTOR) * (best - *score));
    factors
}

/// A term without the punctuation around it.
fn trimmed(term: &str) -> &str {
    let term = term.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
    let end = term.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
    if term[end.len()..].starts_with("()") { &term[..end.len() + 2] } else { end }
}

/// The parts of a qualified name: `Config`, `parse` of `Config::parse`.
pub(crate) fn name_parts(name: &str) -> impl DoubleEndedIterator<Item = &str> {
    name.split([':', '.', '#', '/', '\\']).filter(|part| !part.is_empty())
}

/// Returns a name without its qualifiers; `None` if it has only punctuation.
pub fn last_part(name: &str) -> Option<&str> {
    name_parts(name).next_back()
}

fn is_identifier(part: &str) -> bool {
    crate::proper_names::is_spelled(part)
        || part.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$') && part.chars().any(char::is_alphabetic)
}

/// Returns true if a capital follows a small letter, as in `parseConfig` but not in `Parse` or `HTTP`.
pub fn has_inner_capital(term: &str) -> bool {
    term.chars().zip(term.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase())
}

/// Compares two names by letters and digits, ignoring case and underscores.
pub fn same_letters(a: &str, b: &str) -> bool {
    let letters = |name| str::chars(name).filter(|c: &char| c.is_alphanumeric()).flat_map(char::to_lowercase);
    letters(a).eq(letters(b))
}

fn same_but_for_case(a: &str, b: &str) -> bool {
    if a.is_ascii() && b.is_ascii() { a.eq_ignore_ascii_case(b) } else { a.to_lowercase() == b.to_lowercase() }
}

/// Calls `each` with the words of an identifier, such as `parse`, `HTTP`, `Request` and `v2` of `parseHTTPRequest_v2`, until
/// it returns false.
pub fn for_each_word(name: &str, mut each: impl FnMut(&str) -> bool) {
    let mut start = None;
    let mut previous = '_';
    let mut characters = name.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let inside = character.is_alphanumeric();
        let next_is_small = characters.peek().is_some_and(|(_, next)| next.is_lowercase());
        let humped = character.is_uppercase() && (!previous.is_uppercase() || next_is_small);
        if let Some(first) = start.filter(|_| !inside || humped) {
            if !each(&name[first..at]) {
                return;
            }
            start = None;
        }
        if inside && start.is_none() {
            start = Some(at);
        }
        previous = character;
    }
    if let Some(first) = start {
        each(&name[first..]);
    }
}

/// A word without the ending of an English plural.
fn singular(word: &str) -> &str {
    match word.strip_suffix(['s', 'S']) {
        Some(rest) if rest.len() > 2 && !rest.ends_with(['s', 'u', 'i', 'S', 'U', 'I']) => rest,
        _ => word,
    }
}

fn weight(word: &str) -> f64 {
    if is_minor(word) { MINOR } else { 1.0 }
}

/// Returns `true` for a word of a question's form, in lower case.
pub fn is_minor(word: &str) -> bool {
    MINOR_WORDS.binary_search(&word).is_ok() || MINOR_STEMS.iter().any(|stem| word.starts_with(stem))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn match_score(query: &str, symbol: &str) -> f64 {
        QueryNames::from_query(query).match_score(symbol)
    }

    #[test]
    fn the_minor_words_can_be_searched() {
        assert!(MINOR_WORDS.is_sorted());
    }

    #[test]
    fn names_have_their_scores() {
        const OBSERVABLE: &str = "how is a promise turned into an observable";
        for (query, symbol, expected) in [
            ("parse_config", "parse_config", 1.0),
            ("`parseConfig`?", "Loader.parseConfig", 1.0),
            ("(parse())", "parse", 1.0),
            // A word like others.
            ("parse", "parse", OTHER_SPELLING),
            ("how are wrong numbers told in parse_config", "parse_config", 0.0),
            ("LineIter", "LineIter", 1.0),
            ("LineIter", "LineIter::new", MEMBER),
            ("LineIter", "Printer::print", 0.0),
            ("walk_builder", "walk_builder", 1.0),
            ("Config::parse", "Config::parse", 1.0),
            ("Config.parse", "Config::parse", 1.0),
            ("Config#parse()", "Config::parse", 1.0),
            ("json builder", "JSONBuilder", OTHER_SPELLING),
            // A word of the name is missing in the query.
            ("json builder", "JSONBuilderOptions", 0.0),
            (OBSERVABLE, "Observable", 0.0),
            (OBSERVABLE, "Observable.toPromise", 0.0),
            // Not by its half and the word in it.
            ("connection returned to the pool", "NewConnectionError.pool", 0.0),
            ("combineAll", "combineAll, combineLatest", 1.0),
            ("flash messages", "flash_message", match_score("flash message", "flash_messages")),
        ] {
            let score = match_score(query, symbol);
            assert!((score - expected).abs() < 1e-12, "{query}, {symbol}: {score}, not {expected}");
        }
    }

    #[test]
    fn a_better_name_scores_more() {
        for [better, worse] in [
            ["parse_config, parse_config", "where is parse_config defined, parse_config"],
            ["where is parse_config defined, parse_config", "when does parse_config fail, parse_config"],
            ["walk_builder, walk_builder", "walk_builder, WalkBuilder"],
            ["walk_builder, WalkBuilder", "walk_builder, WalkBuilder::new"],
            ["Config::parse, Config::parse", "Config::parse, Args::parse"],
            ["Config#parse(), Config::parse", "Config#parse(), Args::parse"],
            ["connection returned to the pool, Connection.pool", "json builder, JSONBuilderOptions"],
            // The minor word counts where the name has it.
            ["is quit, Detection::is_quit", "is quit, quit"],
        ] {
            let score = |case: &str| case.split_once(", ").map(|(query, symbol)| match_score(query, symbol));
            assert!(score(better) > score(worse), "{better}; {worse}");
        }
        assert!(match_score("flash messages", "flash_message") > 0.8);
        assert!(match_score("find the error handler for an exception", "App._find_error_handler") > 0.3);
    }

    #[test]
    fn words_of_an_identifier() {
        let words = |name| {
            let mut words = Vec::new();
            for_each_word(name, |word| {
                words.push(word.to_owned());
                true
            });
            words
        };
        assert_eq!(words("parseHTTPRequest_v2"), ["parse", "HTTP", "Request", "v2"]);
        assert_eq!(words("__init__"), ["init"]);
        assert_eq!(words("größeÄndern"), ["größe", "Ändern"]);
        assert!(words("_").is_empty() && words("").is_empty());
    }

    #[test]
    fn what_uses_the_name_is_ranked_down_where_its_definition_was_found_too() {
        let names = QueryNames::from_query("LineIter");
        let factors = definition_factors(&names, [Some("LineIter::new"), Some("LineIter"), None].into_iter());
        for (factor, expected) in factors.iter().zip([0.8125, 1.0, 0.75]) {
            assert!((factor - expected).abs() < 1e-12, "{factors:?}");
        }
        assert_eq!(definition_factors(&names, [Some("print"), None].into_iter()), [1.0, 1.0], "nothing defines it");
        assert_eq!(definition_factors(&QueryNames::from_query("…?"), [Some("print"), None].into_iter()), [1.0, 1.0]);
    }

    proptest! {
        #[test]
        fn any_query_and_symbol_give_a_share(query in "\\PC{0,60}", symbol in "\\PC{0,60}") {
            let score = match_score(&query, &symbol);
            prop_assert!((0.0..=1.0 + 1e-12).contains(&score), "{score}");
        }

        #[test]
        fn a_factor_only_ranks_down(query in "[a-zA-Z_. ]{0,30}", symbols in prop::collection::vec(prop::option::of("[a-zA-Z_:]{0,20}"), 0..20)) {
            let factors = definition_factors(&QueryNames::from_query(&query), symbols.iter().map(|symbol| symbol.as_deref()));
            prop_assert_eq!(factors.len(), symbols.len());
            prop_assert!(factors.iter().all(|factor| (USAGE_FACTOR - 1e-12..=1.0).contains(factor)));
            prop_assert!(factors.is_empty() || factors.contains(&1.0), "{:?}", factors);
        }
    }
}
