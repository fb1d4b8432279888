//! Read access to namespaces.

/// The most passages compared when a caller gives the beginning of an identifier. That is enough to know whether exactly one
/// passage that the caller may read begins so.
pub(crate) const MOST_ALIKE: usize = 1000;

/// Returns `true` if a caller may read a namespace. `None` stands for every namespace.
pub(crate) fn readable(allowed: Option<&[String]>, namespace: &str) -> bool {
    allowed.is_none_or(|allowed| allowed.iter().any(|one| one == namespace))
}
