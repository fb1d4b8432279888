//! The evidence graph.

use super::PostgresStore;
