//! The evidence graph as the embedded store keeps it.
