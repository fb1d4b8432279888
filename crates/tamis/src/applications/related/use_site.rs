//! The place of a name's use, the text before it, and its definition.

/// The qualifier before a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before<'a> {
    /// Nothing: `open(…)`.
    Nothing,
    /// The root of a package or the parent of a module: `crate::open(…)`.
    Root,
    /// The value that the code itself belongs to: `self.open(…)`.
    Own,
    /// A type or a module: `store::open(…)`.
    Path(&'a str),
    /// A variable, a type or a module: `store.open(…)`.
    Named(&'a str),
    /// A value known only by its shape: `stores[0].open(…)`.
    Value,
}

/// A definition, by its symbol and place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Defined<'a> {
    /// Qualified name; several, separated by commas, if the passage has them.
    pub symbol: &'a str,
    pub kind: &'a str,
    pub namespace: &'a str,
    pub path: &'a str,
    pub language: Option<&'a str>,
    pub is_test: bool,
}

/// The place of a name's use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site<'a> {
    pub namespace: &'a str,
    pub path: &'a str,
    pub language: Option<&'a str>,
    /// The type that the code belongs to.
    pub owner: Option<&'a str>,
    pub is_test: bool,
}

/// The distance of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Nearness {
    File,
    Directory,
    Elsewhere,
}
