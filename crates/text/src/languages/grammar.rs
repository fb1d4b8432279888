//! The grammar of a language: its parser, and its queries for definitions and references.

use std::borrow::Cow;
use std::fmt;

/// A grammar with its queries. Each grammar exists once, so equality is identity.
pub(crate) struct Grammar {
    pub(crate) language: fn() -> tree_sitter::Language,
    /// Queries for definitions: the grammar's own tags, if they are good, and additions.
    pub(crate) definitions: &'static [&'static str],
    /// Queries for references.
    pub(crate) references: &'static [&'static str],
    /// Depth of the tree down to which definitions are searched. Types in types in namespaces need some depth, and more
    /// takes time.
    pub(crate) depth: u32,
    pub(crate) naming: Naming,
    /// Rewrites a text for the parser, which would not understand it as it is.
    pub(crate) rewrite: Option<Rewrite>,
    pub(crate) title: Option<Title>,
}

impl Grammar {
    /// The text that the parser reads.
    pub(crate) fn parsed_text<'text>(&self, text: &'text str) -> Cow<'text, str> {
        let rewritten = self.rewrite.and_then(|rewrite| rewrite(text));
        debug_assert!(rewritten.as_ref().is_none_or(|rewritten| rewritten.len() == text.len()));
        rewritten.map_or(Cow::Borrowed(text), Cow::Owned)
    }
}

/// Returns a text of the same length and lines, in which names and definitions stand at the same places; `None` to leave it as
/// it is.
pub(crate) type Rewrite = fn(&str) -> Option<String>;

/// Finds the first line of the documentation of a file among its first rows, in a language with such a convention.
pub(crate) type Title = for<'text> fn(&[&'text str]) -> Option<&'text str>;

impl PartialEq for Grammar {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Grammar {}

impl fmt::Debug for Grammar {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Grammar").field("definitions", &self.definitions).finish_non_exhaustive()
    }
}

/// The form of a qualified name.
pub(crate) struct Naming {
    /// Separator before a type or module inside another.
    pub(crate) nested: &'static str,
    /// Separator before a function of a type.
    pub(crate) member: &'static str,
    /// True if functions of a module are methods, as in languages that mix modules into classes.
    pub(crate) modules_have_methods: bool,
    /// The end of a signature without a bracket or `=` behind it.
    pub(crate) ends: Ends,
    /// True if consecutive functions of one name are the clauses of one, as in languages with pattern matching.
    pub(crate) clauses: bool,
}

impl Naming {
    /// Names separated by dots, and bodies in braces.
    pub(crate) const DOTS: Naming =
        Naming { nested: ".", member: ".", modules_have_methods: false, ends: Ends::Brace, clauses: false };
}

/// The character that ends a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    /// An opening brace.
    Brace,
    /// A colon outside brackets.
    Colon,
    /// A line end outside brackets.
    Line,
}
