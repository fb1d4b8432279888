//! Namespaces: the repositories and projects that share a store.

use std::path::Path;

use crate::error::StoreError;

/// A namespace to register.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewNamespace {
    /// Its name, as in documents and filters.
    pub name: String,
    /// Its owner. Namespaces of one owner may share their content.
    pub owner: Option<String>,
    /// True if its owner's other namespaces may search it.
    pub shared: bool,
}

/// The tree whose files are the documents of a namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    /// The namespace.
    pub namespace: String,
    /// The directory.
    pub root: String,
    /// The machine that has the directory; `None`: it is the same on every machine.
    pub machine: Option<String>,
}

impl Tree {
    /// Returns `true` if both are one tree.
    pub(crate) fn is(&self, other: &Tree) -> bool {
        let is_elsewhere = |(here, there)| here != there;
        self.root == other.root && !self.machine.as_ref().zip(other.machine.as_ref()).is_some_and(is_elsewhere)
    }

    /// The error of a writer with this tree in a namespace of another one.
    pub(crate) fn refused(self, path: &Path, known: Tree) -> StoreError {
        StoreError::OtherTree { path: path.to_owned(), tree: Box::new(self), known: Box::new(known) }
    }
}

impl std::fmt::Display for Tree {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.machine {
            Some(machine) => write!(formatter, "{} on {machine}", self.root),
            None => formatter.write_str(&self.root),
        }
    }
}

/// A namespace of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Namespace {
    /// Its name.
    pub name: String,
    /// The directory of its files.
    pub root: Option<String>,
    /// The machine that has the directory.
    #[serde(skip)]
    pub machine: Option<String>,
    /// Its owner.
    pub owner: Option<String>,
    /// True if its owner's other namespaces may search it.
    pub shared: bool,
    /// The number of its documents.
    pub documents: u64,
    /// The number of its passages.
    pub passages: u64,
}
