//! tamis-store
