//! Read access to namespaces.

/// The most passages looked at when a caller gives the beginning of an identifier: enough to know whether exactly one of
/// those that the caller may read begins so.
pub(crate) const MOST_ALIKE: usize = 1000;

/// Returns `true` if a caller may read a namespace. `None`: every namespace.
pub(crate) fn readable(allowed: Option<&[String]>, namespace: &str) -> bool {
    allowed.is_none_or(|allowed| allowed.iter().any(|one| one == namespace))
}
