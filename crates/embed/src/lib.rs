//! tamis-embed
