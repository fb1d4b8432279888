//! The rights of a client.

/// A client's rights.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// Namespaces that it may read; answers never touch or mention others. `None` allows all.
    pub namespaces: Option<Vec<String>>,
    /// True if it may write notes.
    pub may_remember: bool,
    /// True if it may judge answers.
    pub may_judge: bool,
    /// True if it may ask the server to read the tree at once.
    pub may_refresh: bool,
}

impl Caller {
    /// True if it may read a namespace.
    pub fn may_read(&self, namespace: &str) -> bool {
        self.namespaces.as_ref().is_none_or(|allowed| allowed.iter().any(|one| one == namespace))
    }
}
