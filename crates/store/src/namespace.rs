//! Namespaces: the repositories and projects that share a store.

use crate::error::{Result, StoreError};

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

impl NewNamespace {
    /// Fails without a name.
    pub(crate) fn check(&self) -> Result<()> {
        match self.name.as_str() {
            "" => Err(StoreError::Invalid {
                what: "a namespace without a name".to_owned(),
                reason: "a namespace is found by its name: give it one".to_owned(),
            }),
            _ => Ok(()),
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
