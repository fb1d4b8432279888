//! Where a name is used, what stands before it, and what defines it.

/// What stands before a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before<'a> {
    /// Nothing: `open(…)`.
    Nothing,
    /// The root of a package or what is around a module: `crate::open(…)`.
    Root,
    /// The thing that the code itself belongs to: `self.open(…)`.
    Own,
    /// A type or a module: `store::open(…)`.
    Path(&'a str),
    /// A variable, a type or a module: `store.open(…)`.
    Named(&'a str),
    /// A value of which only the shape is known: `stores[0].open(…)`.
    Value,
}

/// A definition, by its symbol and place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Defined<'a> {
    /// Qualified name; several, separated by a comma, where the passage has them.
    pub symbol: &'a str,
    pub kind: &'a str,
    pub namespace: &'a str,
    pub path: &'a str,
    pub language: Option<&'a str>,
}

/// Where a name is used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site<'a> {
    pub namespace: &'a str,
    pub path: &'a str,
    pub language: Option<&'a str>,
    /// The type that the code belongs to.
    pub owner: Option<&'a str>,
}

/// How near a definition lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Nearness {
    File,
    Directory,
    Elsewhere,
}
