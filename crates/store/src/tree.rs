//! The tree of a namespace.

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
}

impl std::fmt::Display for Tree {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.machine {
            Some(machine) => write!(formatter, "{} on {machine}", self.root),
            None => formatter.write_str(&self.root),
        }
    }
}
