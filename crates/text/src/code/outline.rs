//! Lists the symbols of a piece of code with their signatures.

use super::collect::collect;
use super::errors;
use super::item::ItemKind;
use super::parsers::Parsers;
use super::queries::Definitions;
use super::references::{grammar, number};
use super::signature::signature;
use crate::Kind;
use crate::bound;
use crate::lines::Lines;

/// A symbol of an outline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineSymbol {
    /// The qualified name as its language writes it, as in [`crate::Passage::symbol`].
    pub name: String,
    /// The kind of definition.
    pub kind: Kind,
    /// Number of symbols around it.
    pub depth: usize,
    /// The line where the definition itself begins, after its comments, counted from 1.
    pub line: u32,
    /// Its last line, inclusive.
    pub end_line: u32,
    /// The definition up to its body, on one line.
    pub signature: String,
    /// True for an implementation, which contains definitions and is none itself.
    pub is_implementation: bool,
    /// True if it is compiled for tests only.
    pub is_test: bool,
}

/// The symbols of `text` in its order, inner ones after the outer ones.
///
/// Definitions inside a function are part of the function. Arguments and limits are those of [`references`](super::references).
///
/// ```
/// use tamis_text::outline;
///
/// let found = outline("src/door.rs", "/// A door.\npub struct Door;\n\nimpl Door {\n    pub fn open(&self) {}\n}\n");
/// let found: Vec<_> = found.iter().map(|one| (one.depth, one.line, one.signature.as_str())).collect();
/// assert_eq!(found, [(0, 2, "pub struct Door"), (0, 4, "impl Door"), (1, 5, "pub fn open(&self)")]);
/// ```
#[must_use]
pub fn outline(path_or_language: &str, text: &str) -> Vec<OutlineSymbol> {
    let Some(grammar) = grammar(path_or_language, text) else {
        return Vec::new();
    };
    let query = Definitions::get(grammar);
    let lines = Lines::new(text);
    Parsers::with(|parsers| {
        let Some(tree) = parsers.parse(grammar, text).filter(|tree| errors::lines(tree).is_some()) else {
            return Vec::new();
        };
        let items = collect(&mut parsers.cursor, query, &tree, &lines, usize::MAX).items;
        if bound::is_exceeded() {
            return Vec::new();
        }
        // Outer items come before inner ones.
        let mut around: Vec<(usize, bool)> = Vec::with_capacity(items.len());
        let mut symbols: Vec<OutlineSymbol> = Vec::with_capacity(items.len());
        for item in &items {
            let parent = item.parent.and_then(|parent| around.get(parent).copied());
            let depth = parent.map_or(0, |(depth, _)| depth + 1);
            let is_test = item.test || parent.is_some_and(|(_, is_test)| is_test);
            around.push((depth, is_test));
            let kind =
                item.passage_kind(item.parent.map(|parent| items[parent].kind), grammar.naming.modules_have_methods);
            let name = item.names.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(", ");
            let signature = signature(&text[item.head..item.bytes.end], grammar.naming.ends);
            let signature = signature.trim_end().to_owned();
            symbols.push(OutlineSymbol {
                signature: if signature.is_empty() { name.clone() } else { signature },
                name,
                kind,
                depth,
                line: number(item.start),
                end_line: number(item.last),
                is_implementation: item.kind == ItemKind::Implementation,
                is_test,
            });
        }
        symbols
    })
}

#[cfg(test)]
mod tests {
    use super::outline;

    #[test]
    fn methods_are_below_their_type_and_tests_are_marked() {
        let text = "class Door:\n    def open(self, key):\n        pass\n\ndef knock() -> None:\n    pass\n";
        let found = outline("python", text);
        let found: Vec<_> =
            found.iter().map(|one| (one.depth, one.line, one.end_line, one.signature.as_str())).collect();
        assert_eq!(
            found,
            [(0, 1, 3, "class Door"), (1, 2, 3, "def open(self, key)"), (0, 5, 6, "def knock() -> None")]
        );
        let text = "fn work() {}\n\n#[cfg(test)]\nmod tests {\n    fn helper() {}\n}\n";
        let tests: Vec<_> = outline("rust", text).iter().map(|one| (one.line, one.is_test)).collect();
        assert_eq!(tests, [(1, false), (4, true), (5, true)]);
        assert!(outline("markdown", "# x").is_empty());
    }
}
