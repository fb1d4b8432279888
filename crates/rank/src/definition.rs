//! Definition before usage: what defines the name that a query gives ranks before what only uses it.
//!
//! The text around a name is often more like the query than its definition is: a constructor or a caller repeats the name
//! in less text than the definition has. Neither leg can tell the two apart, the symbol of a passage can.

/// What of a definition's standing a member of what is defined has: `Pool::new` where the query says `Pool`.
const MEMBER: f64 = 0.25;

/// What a name that is written in another way has of one in the query's own spelling: `walk_builder` or the words walk
/// builder for `WalkBuilder`.
const OTHER_SPELLING: f64 = 0.9;

/// The share of a query that a name must have for the query to ask for it. What turns a promise into an observable is not
/// named by `promise`, and a question on the rounding in `multipleOf` is not one for its definition.
const NAMING: f64 = 0.5;

/// The weight of an identifier, which is seldom there by chance.
const IDENTIFIER: f64 = 2.0;

/// The most words of a query that are looked at, one bit each. Who writes more does not write a name.
const MOST_WORDS: usize = 64;

/// The weight of a word that says how something is asked, of which a word that says what is asked has 1.
const MINOR: f64 = 0.05;

/// Words that say how something is asked. They count little, since symbols can have them too (`is_empty`, `from_path`).
const MINOR_WORDS: &[&str] = &[
    "a", "all", "an", "and", "any", "are", "as", "at", "be", "by", "can", "class", "code", "constant", "did", "do",
    "does", "enum", "field", "file", "find", "for", "from", "function", "get", "has", "have", "how", "i", "if", "in",
    "into", "is", "it", "its", "macro", "me", "method", "module", "my", "no", "not", "of", "on", "or", "show",
    "struct", "symbol", "that", "the", "this", "to", "trait", "type", "usage", "used", "was", "we", "what", "when",
    "where", "which", "who", "why", "will", "with", "you",
];

/// Their longer ones, by how they begin.
const MINOR_STEMS: &[&str] = &["declar", "defin", "implement", "interface"];

/// The names that a query can mean: its identifiers as they are spelled, and what its other words can be put together to.
///
/// ```
/// use tamis_rank::QueryNames;
///
/// let names = QueryNames::of("where is WalkBuilder defined");
/// assert!(names.standing("WalkBuilder") > 0.8);
/// assert!(names.standing("WalkBuilder::new") < 0.3);
/// assert_eq!(names.standing("Walk"), 0.0);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryNames {
    /// Identifiers, each by its parts from the outermost to the name itself.
    identifiers: Vec<Vec<String>>,
    /// Each word of the rest once, in lower case and in the singular, with its weight; at most [`MOST_WORDS`].
    words: Vec<(String, f64)>,
    /// The weight of all words.
    weight: f64,
}

impl QueryNames {
    /// Reads a query. O(its length).
    ///
    /// A term is an identifier where its spelling says so: `parse_config`, `parseConfig`, `Config.parse`, `parse()`.
    pub fn of(query: &str) -> Self {
        let mut names = QueryNames::default();
        for term in query.split_whitespace().map(trimmed) {
            let called = term.strip_suffix("()");
            let name = called.unwrap_or(term);
            let parts: Vec<String> = parts(name).map(str::to_owned).collect();
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

    /// How well a symbol answers to what the query names, 0 (not at all) to 1 (it is the identifier of the query). `symbol` is a qualified name; several, as a statement that defines more than one has them, are
    /// separated by commas. O(its length).
    pub fn standing(&self, symbol: &str) -> f64 {
        symbol.split(", ").map(|symbol| self.standing_of_one(symbol)).fold(0.0, f64::max)
    }

    fn standing_of_one(&self, symbol: &str) -> f64 {
        let symbol: Vec<&str> = parts(symbol).collect();
        let Some((name, outer)) = symbol.split_last() else { return 0.0 };
        let identified = self.identifiers.iter().map(|identifier| identified(identifier, name, outer));
        let identified = identified.fold(0.0, f64::max) * naming(IDENTIFIER / self.weight);
        let held = outer.split_last().map_or(0.0, |(holder, _)| MEMBER * self.worded(holder, &[]));
        identified.max(self.worded(name, outer)).max(held)
    }

    /// The standing of a name whose words the query all has, and of what it is a member of where it has all of those too.
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

    /// The words of a part of a name, a bit each, if the query has them all; else none.
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

/// What a share of the query's weight says for a name: nothing below [`NAMING`], and less than itself above, since most
/// words of a sentence are not there to name.
fn naming(share: f64) -> f64 {
    if share < NAMING { 0.0 } else { share.min(1.0).powi(2) }
}

/// How a symbol stands to one identifier of the query.
fn identified(identifier: &[String], name: &str, outer: &[&str]) -> f64 {
    let Some((asked, holders)) = identifier.split_last() else { return 0.0 };
    let same = |asked: &str, name: &str| match () {
        () if asked == name => 1.0,
        () if same_letters(asked, name) => OTHER_SPELLING,
        () => 0.0,
    };
    let own = same(asked, name);
    if own > 0.0 {
        // `Config.parse` means that `parse` which is in `Config`.
        let held = holders.last().is_none_or(|holder| outer.iter().any(|part| same_letters(holder, part)));
        return if held { own } else { own * MEMBER };
    }
    MEMBER * outer.iter().map(|part| same(asked, part)).fold(0.0, f64::max)
}

/// A factor on what uses a name where what defines it was found too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DefinitionPrior {
    /// The factor on a candidate that has nothing to do with the name, in (0, 1], where another one defines the very
    /// identifier that is asked for; 1 leaves all alone.
    pub usage: f64,
}

impl Default for DefinitionPrior {
    fn default() -> Self {
        DefinitionPrior { usage: 0.75 }
    }
}

impl DefinitionPrior {
    /// The factor on the ranking value of each candidate, by its symbol. The best standing in the pool has 1, and who
    /// stands lower is ranked down by as much. All have 1 where no candidate defines what the query names. O(n).
    pub fn factors<'a>(&self, names: &QueryNames, symbols: impl Iterator<Item = Option<&'a str>>) -> Vec<f64> {
        let mut factors: Vec<f64> = symbols.map(|symbol| symbol.map_or(0.0, |symbol| names.standing(symbol))).collect();
        let best = factors.iter().copied().fold(0.0, f64::max);
        factors.iter_mut().for_each(|standing| *standing = 1.0 - (1.0 - self.usage) * (best - *standing));
        factors
    }
}

/// A term without the punctuation around it.
fn trimmed(term: &str) -> &str {
    let term = term.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
    let end = term.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
    if term[end.len()..].starts_with("()") { &term[..end.len() + 2] } else { end }
}

/// The parts of a qualified name.
fn parts(name: &str) -> impl Iterator<Item = &str> {
    name.split([':', '.', '#', '/']).filter(|part| !part.is_empty())
}

fn is_identifier(part: &str) -> bool {
    part.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$') && part.chars().any(char::is_alphabetic)
}

/// Whether a capital letter follows a small one, as in `parseConfig` but not in `Parse` or `HTTP`.
fn has_inner_capital(term: &str) -> bool {
    term.chars().zip(term.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase())
}

/// Whether two names have the same letters and digits, whatever their case and their underscores.
fn same_letters(a: &str, b: &str) -> bool {
    let letters = |name| str::chars(name).filter(|c: &char| c.is_alphanumeric()).flat_map(char::to_lowercase);
    letters(a).eq(letters(b))
}

fn same_but_for_case(a: &str, b: &str) -> bool {
    if a.is_ascii() && b.is_ascii() { a.eq_ignore_ascii_case(b) } else { a.to_lowercase() == b.to_lowercase() }
}

/// Hands over the words of an identifier, `parse`, `HTTP`, `Request` and `v2` of `parseHTTPRequest_v2`, while `each` wants
/// more.
fn for_each_word(name: &str, mut each: impl FnMut(&str) -> bool) {
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
    let minor = MINOR_WORDS.binary_search(&word).is_ok() || MINOR_STEMS.iter().any(|stem| word.starts_with(stem));
    if minor { MINOR } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn standing(query: &str, symbol: &str) -> f64 {
        QueryNames::of(query).standing(symbol)
    }

    #[test]
    fn the_minor_words_can_be_searched() {
        assert!(MINOR_WORDS.is_sorted());
    }

    #[test]
    fn an_identifier_is_known_by_its_spelling() {
        assert_eq!(standing("parse_config", "parse_config"), 1.0);
        assert_eq!(standing("`parseConfig`?", "Loader.parseConfig"), 1.0);
        assert_eq!(standing("(parse())", "parse"), 1.0);
        assert_eq!(standing("parse", "parse"), OTHER_SPELLING, "a word like others");
    }

    #[test]
    fn a_definition_counts_less_the_more_else_is_asked() {
        let of = |query| standing(query, "parse_config");
        let falling = ["parse_config", "where is parse_config defined", "when does parse_config fail"];
        assert!(falling.windows(2).all(|pair| of(pair[0]) > of(pair[1])), "{:?}", falling.map(of));
        assert_eq!(of("how are wrong numbers told in parse_config"), 0.0);
    }

    #[test]
    fn a_definition_stands_above_its_members_and_those_above_users() {
        let of = |symbol| standing("LineIter", symbol);
        assert_eq!([of("LineIter"), of("LineIter::new"), of("Printer::print")], [1.0, MEMBER, 0.0]);
    }

    #[test]
    fn another_style_of_the_name_stands_below_its_own_spelling() {
        assert_eq!(standing("walk_builder", "walk_builder"), 1.0);
        let other = standing("walk_builder", "WalkBuilder");
        assert!(other < 1.0 && other > standing("walk_builder", "WalkBuilder::new"), "{other}");
    }

    #[test]
    fn a_qualified_name_means_the_member_of_that_type() {
        for query in ["Config::parse", "Config.parse", "Config#parse()"] {
            assert_eq!(standing(query, "Config::parse"), 1.0, "{query}");
            assert!(standing(query, "Args::parse") < 1.0, "{query}");
        }
    }

    #[test]
    fn words_name_a_symbol_that_has_them_all() {
        assert!((standing("json builder", "JSONBuilder") - OTHER_SPELLING).abs() < 1e-12);
        assert!(standing("find the error handler for an exception", "App._find_error_handler") > 0.3);
        assert_eq!(standing("json builder", "JSONBuilderOptions"), 0.0, "a word of the name is missing in the query");
        let of = |symbol| standing("is quit", symbol);
        assert!(of("Detection::is_quit") > of("quit"), "the minor word counts where the name has it");
    }

    #[test]
    fn a_few_words_of_a_sentence_name_nothing() {
        assert_eq!(standing("how is a promise turned into an observable", "Observable"), 0.0);
        assert_eq!(standing("how is a promise turned into an observable", "Observable.toPromise"), 0.0);
    }

    #[test]
    fn a_part_of_a_name_counts_as_a_whole() {
        let of = |symbol| standing("connection returned to the pool", symbol);
        assert_eq!(of("NewConnectionError.pool"), 0.0, "not by its half and the word in it");
        assert!(of("Connection.pool") > 0.0);
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
    fn plural_and_singular_are_one_name() {
        assert_eq!(standing("flash messages", "flash_message"), standing("flash message", "flash_messages"));
        assert!(standing("flash messages", "flash_message") > 0.8);
    }

    #[test]
    fn each_name_of_a_statement_counts() {
        assert_eq!(standing("combineAll", "combineAll, combineLatest"), 1.0);
    }

    #[test]
    fn what_uses_the_name_is_ranked_down_where_its_definition_was_found_too() {
        let prior = DefinitionPrior { usage: 0.8 };
        let names = QueryNames::of("LineIter");
        let factors = prior.factors(&names, [Some("LineIter::new"), Some("LineIter"), None].into_iter());
        for (factor, expected) in factors.iter().zip([0.85, 1.0, 0.8]) {
            assert!((factor - expected).abs() < 1e-12, "{factors:?}");
        }
        assert_eq!(prior.factors(&names, [Some("print"), None].into_iter()), [1.0, 1.0], "nothing defines it");
        assert_eq!(prior.factors(&QueryNames::of("…?"), [Some("print"), None].into_iter()), [1.0, 1.0]);
    }

    proptest! {
        #[test]
        fn any_query_and_symbol_give_a_share(query in "\\PC{0,60}", symbol in "\\PC{0,60}") {
            let standing = standing(&query, &symbol);
            prop_assert!((0.0..=1.0 + 1e-12).contains(&standing), "{standing}");
        }

        #[test]
        fn a_factor_only_ranks_down(query in "[a-zA-Z_. ]{0,30}", symbols in prop::collection::vec(prop::option::of("[a-zA-Z_:]{0,20}"), 0..20), usage in 0.01..=1.0f64) {
            let prior = DefinitionPrior { usage };
            let factors = prior.factors(&QueryNames::of(&query), symbols.iter().map(|symbol| symbol.as_deref()));
            prop_assert_eq!(factors.len(), symbols.len());
            prop_assert!(factors.iter().all(|&factor| factor <= 1.0 && factor >= usage - 1e-12));
            prop_assert!(factors.is_empty() || factors.contains(&1.0), "{:?}", factors);
        }
    }
}
