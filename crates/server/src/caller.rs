//! Who calls, and what that one may read and do.

/// What a client may read and do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// The namespaces that it may read; nothing of others is touched or told. `None`: all.
    pub namespaces: Option<Vec<String>>,
    /// Whether it may write notes.
    pub may_remember: bool,
    /// Whether it may judge answers.
    pub may_judge: bool,
}

impl Caller {
    /// Whether it may read a namespace.
    pub fn may_read(&self, namespace: &str) -> bool {
        self.namespaces.as_ref().is_none_or(|allowed| allowed.iter().any(|one| one == namespace))
    }
}
