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
