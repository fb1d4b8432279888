//! tamis-cut
