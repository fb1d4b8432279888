//! The two ways to open a store.

/// The operations a store is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Searching only. The index must exist. Its directory may be read-only, and nothing is created in it.
    ReadOnly,
    /// Searching and writing. A missing index is created.
    ReadWrite,
}
