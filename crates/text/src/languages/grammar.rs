//! The grammar of a language: its parser, and its queries for definitions and references.

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
    pub(crate) title: Option<Title>,
}

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
}

impl Naming {
    /// Names separated by dots, and bodies in braces.
    pub(crate) const DOTS: Naming = Naming { nested: ".", member: ".", modules_have_methods: false, ends: Ends::Brace };
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
