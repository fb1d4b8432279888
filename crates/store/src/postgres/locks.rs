//! Keys of the server's locks.

/// The key of a lock by what it locks.
pub(super) fn key(kind: &str, name: &str) -> i64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"tamis ").update(kind.as_bytes()).update(b"\0").update(name.as_bytes());
    hasher.finalize().as_bytes().first_chunk().map_or(0, |bytes| i64::from_le_bytes(*bytes))
}
