//! tamis
