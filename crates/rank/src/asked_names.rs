//! The names that a query asks for by their exact spelling, whose definitions answer it.
//!
//! `FromRequestParts`, `parse_config`, `MAX_SIZE`, `open()`, `Config::parse`, `Router.route` and `` `open` `` are names whatever else
//! the query says. A capitalized word such as `Router` is one if it stands alone, or where the query says that it is (the `Router`
//! type, where is `Router` defined). A common word in lower case never is: "where is the index opened" asks for no function `index`.

use crate::entries::GENERIC;
use crate::proper_names;
use crate::query_names::{has_inner_capital, is_minor, last_part, name_parts, same_letters};

/// Most names of one query.
const MOST_NAMES: usize = 8;

/// Weight of a name, relative to a word of the query's content.
const NAME: f64 = 2.0;

/// Least share of a query's weight that its names have where they are what it asks for. In "how are wrong numbers reported by
/// `parse_config`" the name only says where.
const ASKED: f64 = 0.4;

/// Words that say that a capitalized word beside them is a name.
const KINDS: &[&str] = &[
    "class", "enum", "exception", "fn", "func", "function", "impl", "interface", "macro", "method", "object", "record",
    "struct", "trait", "type", "union",
];

/// Words after a capitalized word that say that it is a name.
const DEFINED: &[&str] = &["declared", "defined", "implemented"];

/// Holders that name no scope of their own.
const RELATIVE: &[&str] = &["crate", "cls", "self", "Self", "super", "this"];

/// A name that a query asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedName {
    /// The name as spelled, without what qualifies it: `parse` of `Config::parse`.
    pub name: String,
    /// The names before it, outermost first.
    holders: Vec<String>,
    /// True if the name alone is spelled as one, so that it is enough without its holder.
    own: bool,
    /// True if it is spelled as no word is: `parse_config`, `WalkBuilder`; not `open` or `Router`.
    spelled: bool,
}

/// The fit of a definition to a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameFit {
    /// Only the name itself is the same. It counts where nothing fits better.
    Bare,
    /// The name, and what qualifies it, if anything does: within the definition's own name, or its path.
    Whole,
    /// The definition's own name ends with the whole qualified name: `Phoenix.Socket`, but not a `Socket` in `phoenix.js`.
    Qualified,
}

/// The names that a query asks for.
///
/// ```
/// use tamis_rank::AskedNames;
///
/// let names = |query: &str| AskedNames::from_query(query).iter().map(|name| name.name.clone()).collect::<Vec<_>>();
/// assert_eq!(names("where is FromRequestParts implemented"), ["FromRequestParts"]);
/// assert_eq!(names("what does Router::route check"), ["route"]);
/// assert!(names("where is the index opened").is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AskedNames {
    names: Vec<AskedName>,
    share: f64,
    alone: bool,
}

impl AskedNames {
    /// Reads a query: its first eight such names, each once. O(its length).
    pub fn from_query(query: &str) -> Self {
        let mut asked = AskedNames::default();
        let terms: Vec<&str> = query.split_whitespace().collect();
        let word = |at: usize| terms.get(at).map(|term| bare(term).to_lowercase()).unwrap_or_default();
        let (mut named, mut other) = (0.0, 0.0);
        for (at, term) in terms.iter().enumerate() {
            let beside = |words: &[&str], at: usize| words.contains(&word(at).as_str());
            let said = terms.len() == 1
                || beside(KINDS, at + 1)
                || at > 0 && beside(KINDS, at - 1)
                || beside(DEFINED, at + 1)
                || at > 1
                    && ["definition of", "implementation of"].contains(&&*format!("{} {}", word(at - 2), word(at - 1)));
            match name(term, said) {
                Some(name) => {
                    named += NAME;
                    if asked.names.len() < MOST_NAMES && !asked.names.contains(&name) {
                        asked.names.push(name);
                    }
                }
                None => other += if is_minor(&word(at)) || word(at).is_empty() { 0.05 } else { 1.0 },
            }
        }
        asked.share = if named > 0.0 { named / (named + other) } else { 0.0 };
        asked.alone = other < 1.0;
        asked
    }

    /// Returns `true` if the query says nothing besides the names but words of its form: "where is `open` defined".
    pub fn are_alone(&self) -> bool {
        self.alone
    }

    /// Returns `true` if the query asks for no name.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns `true` if the names are what the query asks for, and not only where something happens.
    pub fn is_subject(&self) -> bool {
        self.share >= ASKED
    }

    /// The names in the order of the query.
    pub fn iter(&self) -> impl Iterator<Item = &AskedName> {
        self.names.iter()
    }
}

impl AskedName {
    /// Returns how well a symbol of a file fits the name; `None` if it has another one. `symbol` is a qualified name, or several
    /// separated by commas. O(length of both).
    pub fn fit(&self, symbol: &str, path: &str) -> Option<NameFit> {
        symbol.split(", ").filter_map(|symbol| self.fit_of_one(symbol, path)).max()
    }

    /// Returns `true` if the name is spelled as no word is and begins that of a symbol: `parse_conf` and `Reader::parse_config`.
    /// `symbol` can be several, as in [`fit`](Self::fit).
    pub fn begins(&self, symbol: &str) -> bool {
        let mut names = symbol.split(", ").filter_map(last_part);
        self.spelled && names.any(|name| name.starts_with(&self.name))
    }

    /// Returns `true` if the name may stand for a definition that fits it barely: it is spelled as a name without its holder.
    pub fn is_enough(&self) -> bool {
        self.own
    }

    /// Returns `true` if a definition answers a sentence that has the name among other words, by the definition's fit and whether
    /// it is in the file of the name. "The list is open" does not ask for every function `open`.
    pub fn is_asked_in_sentence(&self, fit: NameFit, own_file: bool) -> bool {
        self.spelled || own_file || fit > NameFit::Bare && !self.holders.is_empty()
    }

    /// Returns `true` if a file has the name, or that of its holder: `src/router.rs` and `src/router/mod.rs` for `Router::new`.
    /// O(length of the path).
    pub fn is_file_name(&self, path: &str) -> bool {
        let mut parts = path.rsplit('/');
        let file = parts.next().unwrap_or_default();
        let stem = file.split('.').find(|part| !part.is_empty()).unwrap_or(file);
        let subject = if GENERIC.contains(&&*stem.to_lowercase()) { parts.next().unwrap_or_default() } else { stem };
        let subject = subject.replace('-', "_");
        std::iter::once(&self.name).chain(self.holders.last()).any(|name| same_letters(name, &subject))
    }

    fn fit_of_one(&self, symbol: &str, path: &str) -> Option<NameFit> {
        let parts: Vec<&str> = name_parts(symbol).collect();
        let (last, outer) = parts.split_last()?;
        if *last != self.name {
            return None;
        }
        let Some(holder) = self.holders.last() else { return Some(NameFit::Whole) };
        if outer.ends_with(&self.holders.iter().map(String::as_str).collect::<Vec<_>>()) {
            return Some(NameFit::Qualified);
        }
        let in_path = || path.split(['/', '.', '-']).any(|part| same_letters(part, holder));
        let held = outer.iter().any(|part| same_letters(part, holder)) || in_path();
        Some(if held { NameFit::Whole } else { NameFit::Bare })
    }
}

/// A term without the marks around it.
fn bare(term: &str) -> &str {
    term.trim_matches(|c: char| !c.is_alphanumeric() && c != '_' && c != '$')
}

/// The name that a term of a query is. `said`: the query says that it is one, if it is capitalized.
fn name(term: &str, said: bool) -> Option<AskedName> {
    let start = term.find(|c: char| c.is_alphanumeric() || c == '_' || c == '$')?;
    let ticked = term[..start].ends_with('`');
    let rest = &term[start..];
    // The rest of a call, a type or an index is not part of the name.
    let end = rest.find(|c: char| !(c.is_alphanumeric() || "_$:.#-".contains(c))).unwrap_or(rest.len());
    let called = rest[end..].starts_with('(') && (rest[end..].starts_with("()") || !rest[end..].contains(')'));
    let called = called || rest[end..].starts_with("::<") || rest[end..].starts_with("!(");
    let name = rest[..end].trim_end_matches([':', '.', '#', '-']);
    let ticked = ticked && rest[end..].contains('`');
    // Of an address, a path, an option or an assignment nothing is a name.
    if term[..start].contains(['/', '-', '@', '=']) || rest[end..].contains(['/', '=', '@']) {
        return None;
    }
    let all: Vec<&str> = name_parts(name).collect();
    let (last, outer) = all.split_last()?;
    if !all.iter().all(|part| is_word(part)) {
        return None;
    }
    let holders: Vec<String> =
        outer.iter().filter(|part| !RELATIVE.contains(part)).map(|&part| part.to_owned()).collect();
    // English has hyphens too, so they make a name only where something else does.
    let hyphenated = last.contains('-');
    let capital = |part: &str| part.chars().next().is_some_and(char::is_uppercase);
    let spelled = if hyphenated { proper_names::is_spelled(last) } else { is_spelled(last) };
    let qualified = !outer.is_empty();
    let titled = said && (hyphenated || capital(last) && last.chars().count() > 1);
    if !(spelled || qualified || called || ticked || titled) {
        return None;
    }
    let own = spelled || name.contains("::") && capital(last) || holders.is_empty();
    Some(AskedName { name: (*last).to_owned(), holders, own, spelled })
}

/// Returns `true` for letters, digits and underscores with a letter at the beginning, and for several such words with hyphens.
fn is_word(part: &str) -> bool {
    if part.contains('-') {
        return proper_names::is_hyphenated(part);
    }
    part.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
        && part.chars().find(|c| *c != '_' && *c != '$').is_some_and(char::is_alphabetic)
}

/// Returns `true` for an inner capital or an underscore: the spellings that words do not have.
fn is_spelled(part: &str) -> bool {
    let plain = part.trim_matches('_');
    has_inner_capital(part)
        || plain.contains('_')
        || part.starts_with('_') && !part.ends_with('_')
        || part.starts_with("__")
        || part.contains('$')
}

// Exact finds: the definition of the name that a query asks for, the text of the message that it repeats, and the file that it
// names.
//
// Scores say how much a passage has to do with a query. An exact find is what was asked for, and comes first.

/// Most exact finds that come first. Where more define a name, it says too little to put them all before what fits the rest of
/// the query.
pub const MOST_EXACT: usize = 8;

/// An exact find, better ones greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExactFind {
    /// A passage of a file that the query names: `src/retry.rs`.
    File,
    /// The words of a message in a text for people: a page that explains it, a comment.
    Mention,
    /// A constant or a module of the name.
    Constant,
    /// The text that makes a message.
    Message,
    /// A type, function, method or macro of the name.
    Definition,
    /// Such a definition in the file of that name: `Router` in `router.rs`.
    OwnFile,
    /// The passage with this line, from 1, that the query names: `src/retry.rs:40`.
    Line(u32),
}

impl ExactFind {
    /// Its name: `file`, `mention`, `constant`, `message`, `definition` or `line`.
    pub fn name(self) -> &'static str {
        match self {
            ExactFind::File => "file",
            ExactFind::Mention => "mention",
            ExactFind::Constant => "constant",
            ExactFind::Message => "message",
            ExactFind::Definition | ExactFind::OwnFile => "definition",
            ExactFind::Line(_) => "line",
        }
    }
}

/// Returns the positions of the exact finds that come first, in their order: better ones first, then by value. Those of ordinary
/// text (`main`) leave no place to those of tests, examples and copies, unless the query names their file. O(n log n).
///
/// ```
/// use tamis_rank::{ExactFind, put_first};
///
/// let finds = [None, Some(ExactFind::Constant), Some(ExactFind::Definition), Some(ExactFind::Definition)];
/// assert_eq!(put_first(&finds, &[true, true, true, false], &[0.9, 0.5, 0.3, 0.8]), [2, 1]);
/// ```
pub fn put_first(finds: &[Option<ExactFind>], main: &[bool], values: &[f64]) -> Vec<usize> {
    let found = |at: &usize| finds[*at].is_some();
    let all = || (0..finds.len().min(main.len()).min(values.len())).filter(found);
    let any_main = all().any(|at| main[at]);
    let is_named = |at: usize| matches!(finds[at], Some(ExactFind::File | ExactFind::Line(_)));
    let mut first: Vec<usize> = all().filter(|&at| main[at] || !any_main || is_named(at)).collect();
    let value = |at: usize| if values[at].is_finite() { values[at] } else { f64::NEG_INFINITY };
    first.sort_by(|&a, &b| finds[b].cmp(&finds[a]).then(value(b).total_cmp(&value(a))));
    first.truncate(MOST_EXACT);
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names(query: &str) -> Vec<String> {
        AskedNames::from_query(query).iter().map(|name| name.name.clone()).collect()
    }

    #[test]
    fn a_name_is_known_by_its_spelling_or_by_what_stands_beside_it() {
        for case in [
            "WalkDir => WalkDir", "how does WalkDir skip => WalkDir", "axum::extract::WalkDir => WalkDir",
            "Router.route => route", "what does do_it() return? => do_it", "open() => open",
            "who calls open(path, mode) => open", "why is `open` slow => open", "Router => Router",
            "the Router type => Router", "trait Handler => Handler", "where is Router defined => Router",
            "MAX_SIZE => MAX_SIZE", "_private => _private", "Vec<T> => Vec", "self.flush_all => flush_all",
            "Close-InnerGate => Close-InnerGate", "what does Get-AnItem do => Get-AnItem", "valve-open => valve-open",
            "who calls `valve-open` => valve-open", "where is valve-up defined => valve-up",
        ] {
            let (query, name) = case.split_once(" => ").expect("two parts");
            assert_eq!(names(query), [name], "{query}");
        }
    }

    #[test]
    fn a_common_word_is_no_name() {
        for query in [
            "open", "index", "where is the index opened", "Open the file", "how are paths handled on Windows",
            "the HTTP request", "src/lib.rs and https://example.org/a_b", "--max_size=3", "_emphasis_ on words",
            "version 1.2.3", "a well-known list", "--dry-run", "GitHub-hosted runners", "and/or",
            "it ends. Then the next", "",
        ] {
            assert!(names(query).is_empty(), "{query}: {:?}", names(query));
        }
    }

    #[test]
    fn what_qualifies_a_name_must_fit_where_anything_does() {
        let fit = |query: &str, symbol: &str, path: &str| {
            AskedNames::from_query(query).iter().next().expect("a name").fit(symbol, path)
        };
        assert_eq!(fit("Router::route", "Router::route", "src/routing.rs"), Some(NameFit::Qualified));
        assert_eq!(fit("App.Phoenix.Socket", "My.App.Phoenix.Socket", "lib/socket.ex"), Some(NameFit::Qualified));
        assert_eq!(fit("Phoenix.Socket", "Socket", "priv/phoenix.js"), Some(NameFit::Whole));
        assert_eq!(fit("Router::route", "MethodRouter::route", "src/a.rs"), Some(NameFit::Bare));
        assert_eq!(fit("Router::route", "Router", "src/a.rs"), None);
        assert_eq!(fit("axum::extract::Path", "Path", "axum/src/extract/path.rs"), Some(NameFit::Whole));
        assert_eq!(fit("client.get()", "Client::get", "src/a.rs"), Some(NameFit::Whole));
        assert_eq!(fit("MAX_SIZE", "MIN_SIZE, MAX_SIZE", "src/a.rs"), Some(NameFit::Whole));
        assert_eq!(fit("fetchAll", "FetchAll", "src/a.rs"), None, "the case counts");
    }

    fn first(query: &str) -> AskedName {
        AskedNames::from_query(query).iter().next().expect("a name").clone()
    }

    #[test]
    fn a_file_of_the_name_is_known_by_its_stem_or_its_directory() {
        for (query, path, is_file_name) in [
            ("Router", "src/router.rs", true),
            ("Router", "src/router/mod.rs", true),
            ("Router", "src/routing.rs", false),
            ("Router::new", "src/Router.ts", true),
            ("WalkBuilder", "walk-builder.test.ts", true),
            ("parse_config", "pkg/parseConfig.go", true),
            ("Router", "router/route.rs", false),
        ] {
            assert_eq!(first(query).is_file_name(path), is_file_name, "{query} in {path}");
        }
    }

    #[test]
    fn a_plain_word_in_a_sentence_asks_for_no_definition_elsewhere_and_a_name_among_many_is_no_subject() {
        for (query, alone, elsewhere) in [
            ("where is `open` defined", true, false),
            ("why is `open` slow", false, false),
            ("parent() of a node returns null", false, false),
            ("how does WalkBuilder skip links", false, true),
            ("what does Pool.open check", false, true),
        ] {
            let (names, name) = (AskedNames::from_query(query), first(query));
            assert_eq!(names.are_alone(), alone, "{query}");
            assert_eq!(name.is_asked_in_sentence(NameFit::Whole, false), elsewhere, "{query}");
            assert!(name.is_asked_in_sentence(NameFit::Whole, true), "{query}");
        }
        assert!(AskedNames::from_query("how does FromRequestParts extract").is_subject());
        let many = "how are wrong numbers and broken dates reported by parse_config";
        assert!(!AskedNames::from_query(many).is_subject());
    }

    #[test]
    fn the_definition_in_the_file_of_its_name_comes_first_and_tests_where_nothing_else_does() {
        let finds = [ExactFind::Definition, ExactFind::Constant, ExactFind::OwnFile].map(Some);
        assert_eq!(put_first(&finds, &[true; 3], &[0.9, 0.8, 0.1]), [2, 0, 1]);
        let finds = [Some(ExactFind::Message), Some(ExactFind::Mention)];
        assert_eq!(put_first(&finds, &[false, true], &[1.0, 0.1]), [1]);
        assert_eq!(put_first(&finds, &[false, false], &[0.1, 1.0]), [0, 1]);
        assert_eq!(put_first(&[Some(ExactFind::Mention), Some(ExactFind::File)], &[true, false], &[0.1, 1.0]), [0, 1]);
        assert!(put_first(&[], &[], &[]).is_empty());
    }

    proptest! {
        #[test]
        fn any_query_is_read(query in "\\PC{0,60}", symbol in "\\PC{0,20}") {
            for name in AskedNames::from_query(&query).iter() {
                prop_assert!(!name.name.is_empty());
                name.fit(&symbol, "a/b.rs");
            }
        }

        #[test]
        fn finds_come_best_first_and_nothing_else_does(values in prop::collection::vec((0u8..4, any::<bool>(), -1.0f64..1.0), 0..40)) {
            let kinds = [ExactFind::Mention, ExactFind::Constant, ExactFind::Message];
            let finds: Vec<Option<ExactFind>> = values.iter().map(|(kind, ..)| kinds.get(usize::from(*kind)).copied()).collect();
            let main: Vec<bool> = values.iter().map(|(_, main, _)| *main).collect();
            let values: Vec<f64> = values.iter().map(|(.., value)| *value).collect();
            let first = put_first(&finds, &main, &values);
            prop_assert!(first.len() <= MOST_EXACT && first.iter().all(|&at| finds[at].is_some()));
            prop_assert!(first.windows(2).all(|pair| finds[pair[0]] >= finds[pair[1]]));
            prop_assert_eq!(first.is_empty(), finds.iter().all(Option::is_none));
        }
    }
}
