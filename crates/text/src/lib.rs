//! tamis-text
