//! tamis-rank
