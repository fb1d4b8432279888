//! Filters restrict the passages of a query, inside both retrievers. With patterns for names of symbols.

use std::borrow::Cow;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use unicode_normalization::UnicodeNormalization;

use crate::error::{Result, StoreError};
use crate::record::{DocumentId, PassageId};

/// A restriction on passages. An empty list does not restrict, so the default passes everything.
///
/// ```
/// use tamis_store::Filter;
///
/// let filter = Filter {
///     namespaces: vec!["tamis".into()],
///     path_globs: vec!["src/**/*.rs".into(), "!*_test.rs".into()],
///     ..Filter::default()
/// };
/// assert!(!filter.is_empty());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Filter {
    /// Namespaces, any of them.
    pub namespaces: Vec<String>,
    /// Collections, any of them.
    pub collections: Vec<String>,
    /// Languages of the passage, any of them.
    pub languages: Vec<String>,
    /// Kinds of passage, any of them.
    pub kinds: Vec<String>,
    /// Roles of the passage, any of them.
    pub roles: Vec<String>,
    /// Globs on the document's path. One of those without a leading `!` must match, if there are any, and none of those with it.
    /// A glob without a slash matches at any depth; a glob that matches a directory matches everything in it.
    pub path_globs: Vec<String>,
    /// Passages, any of them.
    pub ids: Vec<PassageId>,
    /// Names of symbols, any of them, case-sensitive. `open` matches the whole qualified name or its last part. `Store::open`,
    /// with a separator (`::`, `.`, `#`, `/` or `\`), matches the whole name or its last parts. An asterisk at the end, as in
    /// `open*`, matches any continuation.
    pub symbols: Vec<String>,
    /// Conditions on attributes of the document, all of them.
    pub attributes: Vec<AttributeCondition>,
    /// Authors of the passage, any of them, case-insensitive.
    pub authors: Vec<String>,
    /// The dates between which passages pass.
    pub dates: DateRange,
}

/// A range of dates. The passage's date counts, else the document's, else that of its file. A passage without any date passes only the
/// default, which has no bounds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct DateRange {
    /// The earliest date.
    pub since: Option<DateBound>,
    /// The date before which passages pass.
    pub until: Option<DateBound>,
}

/// A bound of dates, in nanoseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DateBound {
    /// The moment.
    pub moment_ns: i64,
    /// The bound for dates without a time, which are stored as midnight in UTC: a day is one where the asker is.
    pub day_ns: i64,
}

impl DateBound {
    /// A moment that is the bound for dates without a time too.
    pub fn at(moment_ns: i64) -> Self {
        DateBound { moment_ns, day_ns: moment_ns }
    }
}

/// The nanoseconds of a day. A date that is a multiple of it has no time.
pub(crate) const DAY_NS: i64 = 86_400_000_000_000;

/// A condition on an attribute of documents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct AttributeCondition {
    /// The attribute's name.
    pub name: String,
    /// Values of which the document must have one, case-insensitive.
    pub any_of: Vec<String>,
}

impl AttributeCondition {
    /// Makes the condition that an attribute has one of these values.
    pub fn new<V: Into<String>>(name: impl Into<String>, any_of: impl IntoIterator<Item = V>) -> AttributeCondition {
        AttributeCondition { name: name.into(), any_of: any_of.into_iter().map(Into::into).collect() }
    }
}

impl Filter {
    /// Makes a filter for one namespace.
    pub fn namespace(namespace: impl Into<String>) -> Filter {
        Filter { namespaces: vec![namespace.into()], ..Filter::default() }
    }

    /// Returns `true` if it passes everything.
    pub fn is_empty(&self) -> bool {
        self == &Filter::default()
    }

    /// Returns `true` if it restricts namespaces alone.
    pub(crate) fn is_by_namespace(&self) -> bool {
        *self == Filter { namespaces: self.namespaces.clone(), ..Filter::default() }
    }

    /// Returns `true` if it restricts documents as a whole.
    pub(crate) fn asks_of_documents(&self) -> bool {
        let Filter { namespaces, collections, languages, path_globs, attributes, .. } = self;
        [namespaces, collections, languages, path_globs].iter().any(|values| !values.is_empty())
            || !attributes.is_empty()
    }

    fn is_by_date(&self) -> bool {
        self.dates != DateRange::default()
    }

    /// Returns `true` if it restricts properties that can change while the passages stay: dates and attributes.
    pub(crate) fn is_by_properties(&self) -> bool {
        self.is_by_date() || !self.attributes.is_empty()
    }

    /// Returns `true` if it restricts documents alone, provided all passages have their document's language.
    pub(crate) fn is_by_document(&self) -> bool {
        self.kinds.is_empty()
            && self.roles.is_empty()
            && self.ids.is_empty()
            && self.symbols.is_empty()
            && self.authors.is_empty()
            && !self.is_by_date()
    }
}

/// Folds the case of a text. It goes through upper case, because several lower-case letters can share a capital: `straße`
/// becomes `STRASSE`, and a final sigma becomes a sigma.
pub(crate) fn folded(text: &str) -> String {
    text.to_uppercase().to_lowercase()
}

/// A path with composed letters (NFC). Names of files from a Mac are often decomposed, and look the same.
fn composed(path: &str) -> Cow<'_, str> {
    if path.is_ascii() { Cow::Borrowed(path) } else { Cow::Owned(path.nfc().collect()) }
}

/// The globs of [`Filter::path_globs`], compiled.
///
/// ```
/// use tamis_store::PathGlobs;
///
/// let globs = PathGlobs::new(&["src".into(), "!*_test.rs".into()])?;
/// assert!(globs.matches("src/door/lock.rs") && !globs.matches("src/lock_test.rs"));
/// # Ok::<(), tamis_store::StoreError>(())
/// ```
#[derive(Debug)]
pub struct PathGlobs {
    include: Option<GlobSet>,
    exclude: Option<GlobSet>,
}

impl PathGlobs {
    /// Compiles globs.
    ///
    /// # Errors
    /// A glob is invalid; the error names it.
    pub fn new(globs: &[String]) -> Result<PathGlobs> {
        let (exclude, include): (Vec<&String>, Vec<&String>) = globs.iter().partition(|glob| glob.starts_with('!'));
        Ok(PathGlobs { include: compile(&include)?, exclude: compile(&exclude)? })
    }

    /// Returns `true` if a path passes.
    pub fn matches(&self, path: &str) -> bool {
        let path = &*composed(path);
        self.include.as_ref().is_none_or(|globs| globs.is_match(path))
            && !self.exclude.as_ref().is_some_and(|globs| globs.is_match(path))
    }
}

fn compile(globs: &[&String]) -> Result<Option<GlobSet>> {
    if globs.is_empty() {
        return Ok(None);
    }
    let mut set = GlobSetBuilder::new();
    for given in globs {
        let failed =
            |error: globset::Error| StoreError::Glob { glob: (*given).clone(), reason: error.kind().to_string() };
        let given_form = composed(given);
        let glob = given_form.strip_prefix('!').unwrap_or(&given_form);
        let glob = match glob.strip_prefix('/') {
            Some(anchored) => anchored.to_owned(),
            None if glob.trim_end_matches('/').contains('/') => glob.to_owned(),
            None => format!("**/{glob}"),
        };
        let glob = glob.trim_end_matches('/');
        for pattern in [glob.to_owned(), format!("{glob}/**")] {
            set.add(GlobBuilder::new(&pattern).literal_separator(true).build().map_err(failed)?);
        }
    }
    set.build().map(Some).map_err(|error| StoreError::Glob {
        glob: globs.iter().map(|glob| glob.as_str()).collect::<Vec<_>>().join(", "),
        reason: error.kind().to_string(),
    })
}

/// A set of small numbers, with one bit for each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct BitSet {
    words: Vec<u64>,
}

impl BitSet {
    pub(crate) fn insert(&mut self, number: u64) {
        let word = (number / 64) as usize;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (number % 64);
    }

    /// Its numbers, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> {
        let numbers = |(place, &word): (usize, &u64)| {
            (0..64).filter(move |bit| word & (1 << bit) != 0).map(move |bit| place as u64 * 64 + bit)
        };
        self.words.iter().enumerate().filter(|(_, word)| **word != 0).flat_map(numbers)
    }

    #[inline]
    pub(crate) fn contains(&self, number: u64) -> bool {
        self.words.get((number / 64) as usize).is_some_and(|word| word & (1 << (number % 64)) != 0)
    }
}

/// A filter resolved against the store's content, for both retrievers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    /// The numbers of the namespaces that pass, ascending; `None` for all.
    pub(crate) namespaces: Option<Vec<u32>>,
    /// All documents of the namespaces pass.
    pub(crate) whole: bool,
    /// Documents that pass; `None` for all.
    pub(crate) documents: Option<BitSet>,
    /// Passages that pass; `None` for all passages of the documents.
    pub(crate) passages: Option<BitSet>,
    /// The number of passages that pass.
    pub(crate) count: u64,
}

impl Selection {
    pub(crate) fn is_everything(&self) -> bool {
        self.documents.is_none() && self.passages.is_none()
    }

    /// Returns `true` if a passage's namespace decides whether it passes.
    #[inline]
    pub(crate) fn is_by_namespace(&self) -> bool {
        self.whole || self.is_everything()
    }

    #[inline]
    pub(crate) fn contains(&self, passage: PassageId, document: DocumentId) -> bool {
        match (&self.documents, &self.passages) {
            (None, None) => true,
            (_, Some(passages)) => passages.contains(passage.0),
            (Some(documents), None) => documents.contains(u64::from(document.0)),
        }
    }
}

/// Separators between the parts of a qualified name, of all languages.
const SEPARATORS: [&str; 5] = ["::", ".", "#", "/", "\\"];
/// The separator between symbols that share a passage.
const LIST_SEPARATOR: &str = ", ";

/// The patterns of a filter, any of which may match.
#[derive(Debug)]
pub(crate) struct SymbolPatterns {
    patterns: Vec<Pattern>,
}

#[derive(Debug)]
struct Pattern {
    name: String,
    /// Any continuation matches.
    open: bool,
    /// It has more than one part.
    qualified: bool,
}

impl SymbolPatterns {
    pub(crate) fn new(patterns: &[String]) -> SymbolPatterns {
        let pattern = |given: &String| {
            let (name, open) = match given.trim().strip_suffix('*') {
                Some(name) => (name, true),
                None => (given.trim(), false),
            };
            Pattern {
                name: name.to_owned(),
                open,
                qualified: SEPARATORS.iter().any(|separator| name.contains(separator)),
            }
        };
        SymbolPatterns { patterns: patterns.iter().map(pattern).collect() }
    }

    /// Returns `true` without any patterns, so that every passage passes.
    pub(crate) fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Returns `true` if a pattern matches one of a passage's symbols.
    pub(crate) fn matches(&self, symbols: &str) -> bool {
        // The list is tried as one name too, because a name may contain the separator, as in `Map<K, V>`.
        let names = || std::iter::once(symbols).chain(symbols.split(LIST_SEPARATOR));
        self.patterns.iter().any(|pattern| names().any(|name| pattern.matches(name)))
    }
}

impl Pattern {
    fn matches(&self, symbol: &str) -> bool {
        if self.fits(symbol) {
            return true;
        }
        let mut parts = parts(symbol);
        if self.qualified {
            parts.any(|rest| self.fits(rest))
        } else {
            parts.last().is_some_and(|last| self.fits(last))
        }
    }

    fn fits(&self, name: &str) -> bool {
        if self.open { name.starts_with(&self.name) } else { name == self.name }
    }
}

/// The last part of the name of each of a passage's symbols.
pub(crate) fn last_names(symbols: &str) -> impl Iterator<Item = &str> {
    symbols.split(LIST_SEPARATOR).map(|name| parts(name).last().unwrap_or(name)).filter(|name| !name.is_empty())
}

/// The suffixes of a qualified name that start at a part, without the whole name.
fn parts(symbol: &str) -> impl Iterator<Item = &str> {
    symbol.char_indices().filter_map(move |(at, _)| {
        let rest = &symbol[at..];
        let separator = SEPARATORS.iter().find(|separator| rest.starts_with(**separator))?;
        Some(&rest[separator.len()..]).filter(|rest| !rest.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn globs(globs: &[&str]) -> PathGlobs {
        PathGlobs::new(&globs.iter().map(|&glob| glob.to_owned()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn globs_match_as_people_expect_and_exclusions_win_and_stand_alone() {
        assert!(globs(&["*.rs"]).matches("src/deep/lib.rs") && globs(&["src/*.rs"]).matches("src/lib.rs"));
        assert!(!globs(&["src/*.rs"]).matches("src/deep/lib.rs"));
        assert!(globs(&["src/**/*.rs"]).matches("src/deep/lib.rs") && globs(&["src/**/*.rs"]).matches("src/lib.rs"));
        assert!(globs(&["docs/"]).matches("docs/guide/install.md") && globs(&["docs"]).matches("a/docs/install.md"));
        assert!(!globs(&["/docs"]).matches("a/docs/install.md") && globs(&["/docs"]).matches("docs/install.md"));
        assert!(globs(&["*.{md,rst}", "*.txt"]).matches("readme.rst"));
        let decomposed = "U\u{308}bersicht.md";
        assert!(globs(&["Übersicht.md"]).matches(decomposed) && globs(&[decomposed]).matches("a/Übersicht.md"));
        let only = globs(&["!tests/"]);
        assert!(only.matches("src/lib.rs") && !only.matches("tests/all.rs"));
        let both = globs(&["*.rs", "!*_test.rs"]);
        assert!(both.matches("src/a.rs") && !both.matches("src/a_test.rs"));
    }

    #[test]
    fn case_makes_no_difference_in_any_script_and_a_bad_glob_is_named() {
        for case in
            ["Bug = bUG", "Über = ÜBER", "straße = STRASSE", "ПОДДЕРЖКА = поддержка", "ΟΔΟΣ = οδοσ", "οδος = ΟΔΟΣ"]
        {
            let (one, other) = case.split_once(" = ").expect("two parts");
            assert_eq!(folded(one), folded(other), "{one}");
        }
        assert_ne!(folded("bug"), folded("bugs"));
        assert_eq!(folded("問題"), "問題");
        let error = PathGlobs::new(&["src/[".to_owned()]).unwrap_err();
        assert!(error.to_string().contains("\"src/[\""), "{error}");
    }

    fn matches(pattern: &str, symbol: &str) -> bool {
        SymbolPatterns::new(&[pattern.to_owned()]).matches(symbol)
    }

    #[test]
    fn a_plain_name_is_the_last_part_or_the_whole_and_a_qualified_name_ends_at_a_border_of_parts() {
        for symbol in [
            "open", "Store::open", "a::Store::open", "Store.open", "Store#open", "pkg/open", "App\\open", "close, open",
        ] {
            assert!(matches("open", symbol), "{symbol}");
        }
        for symbol in ["open::inner", "Open", "reopen", "Store::open_all", "Store::reopen", ""] {
            assert!(!matches("open", symbol), "{symbol}");
        }
        assert!(matches("Store::open", "Store::open"));
        assert!(matches("Store::open", "crate::Store::open"));
        assert!(!matches("Store::open", "MyStore::open") && !matches("Store::open", "Store::open::inner"));
        assert!(!matches("Store::open", "Store.open"), "separators are part of the name");
        assert!(matches("net/http.Get", "go/net/http.Get"));
        assert!(matches("Map<K, V>::get", "Map<K, V>::get"));
    }

    #[test]
    fn an_asterisk_leaves_open_how_a_name_of_a_list_goes_on_and_nothing_matches_nothing() {
        assert!(matches("open*", "Store::open_all"));
        assert!(matches("open*", "open"));
        assert!(!matches("open*", "Store::reopen"));
        assert!(matches("open*", "close, open_files"), "each of a list");
        assert!(matches("Store::o*", "crate::Store::open"));
        assert!(!matches("Store::o*", "crate::Store::close"));
        assert!(matches("*", "anything"));
        let names = |symbols| last_names(symbols).collect::<Vec<_>>();
        assert_eq!(names("a::Store::open"), ["open"]);
        assert_eq!(names("LIMIT, net/http.Get, Door#lock"), ["LIMIT", "Get", "lock"]);
        assert!(names("").is_empty());
        assert!(!matches("", "open") && !matches("", "Store::"));
    }

    proptest! {
        #[test]
        fn a_bit_set_is_a_set(numbers in proptest::collection::vec(0u64..5000, 0..200), probe in 0u64..6000) {
            let mut bits = BitSet::default();
            numbers.iter().for_each(|&number| bits.insert(number));
            let set: HashSet<u64> = numbers.into_iter().collect();
            prop_assert_eq!(bits.contains(probe), set.contains(&probe));
            prop_assert!(set.iter().all(|&number| bits.contains(number)));
            prop_assert_eq!(bits.iter().collect::<Vec<_>>(), set.into_iter().collect::<std::collections::BTreeSet<_>>().into_iter().collect::<Vec<_>>());
        }

        #[test]
        fn any_pattern_meets_any_symbol(pattern in "\\PC{0,12}", symbol in "\\PC{0,20}") {
            matches(&pattern, &symbol);
        }

        #[test]
        fn every_part_and_every_suffix_of_parts_is_found(parts in prop::collection::vec("[a-z]{1,6}", 1..5), from in 0usize..5) {
            let symbol = parts.join("::");
            let suffix = parts[from.min(parts.len() - 1)..].join("::");
            prop_assert!(matches(&suffix, &symbol));
            let open = suffix.clone() + "*";
            prop_assert!(matches(&open, &symbol));
            let longer = format!("x{suffix}");
            prop_assert_eq!(matches(&longer, &symbol), longer == symbol);
        }
    }
}
