//! Patterns for names of symbols.

/// Separators between the parts of a qualified name, of all languages.
const SEPARATORS: [&str; 4] = ["::", ".", "#", "/"];
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

    fn matches(pattern: &str, symbol: &str) -> bool {
        SymbolPatterns::new(&[pattern.to_owned()]).matches(symbol)
    }

    #[test]
    fn a_plain_name_is_the_last_part_or_the_whole() {
        for symbol in ["open", "Store::open", "a::Store::open", "Store.open", "Store#open", "pkg/open", "close, open"] {
            assert!(matches("open", symbol), "{symbol}");
        }
        for symbol in ["open::inner", "Open", "reopen", "Store::open_all", "Store::reopen", ""] {
            assert!(!matches("open", symbol), "{symbol}");
        }
    }

    #[test]
    fn a_qualified_name_ends_at_a_border_of_parts() {
        assert!(matches("Store::open", "Store::open"));
        assert!(matches("Store::open", "crate::Store::open"));
        assert!(!matches("Store::open", "MyStore::open"));
        assert!(!matches("Store::open", "Store::open::inner"));
        assert!(!matches("Store::open", "Store.open"), "separators are part of the name");
        assert!(matches("net/http.Get", "go/net/http.Get"));
        assert!(matches("Map<K, V>::get", "Map<K, V>::get"));
    }

    #[test]
    fn an_asterisk_leaves_open_how_a_name_goes_on() {
        assert!(matches("open*", "Store::open_all"));
        assert!(matches("open*", "open"));
        assert!(!matches("open*", "Store::reopen"));
        assert!(matches("open*", "close, open_files"), "each of a list");
        assert!(matches("Store::o*", "crate::Store::open"));
        assert!(!matches("Store::o*", "crate::Store::close"));
        assert!(matches("*", "anything"));
    }

    #[test]
    fn the_last_names_of_a_list() {
        let names = |symbols| last_names(symbols).collect::<Vec<_>>();
        assert_eq!(names("a::Store::open"), ["open"]);
        assert_eq!(names("LIMIT, net/http.Get, Door#lock"), ["LIMIT", "Get", "lock"]);
        assert!(names("").is_empty());
    }

    #[test]
    fn a_pattern_of_nothing_matches_nothing() {
        assert!(!matches("", "open"));
        assert!(!matches("", "Store::"));
    }

    proptest! {
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
