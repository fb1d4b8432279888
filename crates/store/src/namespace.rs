//! Namespaces: the repositories and projects that share a store, and what is known of each.

/// A namespace to be made known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewNamespace {
    /// Its name, as documents and filters carry it.
    pub name: String,
    /// Where its files lie, where it has any.
    pub root: Option<String>,
    /// Whose it is: namespaces of one owner may share what they hold.
    pub owner: Option<String>,
    /// Whether its owner's other namespaces may search it.
    pub shared: bool,
}

/// A namespace of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Namespace {
    /// Its name.
    pub name: String,
    /// Where its files lie.
    pub root: Option<String>,
    /// Whose it is.
    pub owner: Option<String>,
    /// Whether its owner's other namespaces may search it.
    pub shared: bool,
    /// Its documents.
    pub documents: u64,
    /// Its passages.
    pub passages: u64,
}
