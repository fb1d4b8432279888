//! The schema of the database and its version.

use crate::schema::Schema;

/// Identified by "TAMI".
pub(super) const SCHEMA: Schema =
    Schema { application_id: 0x5441_4d49, version: 10, tables: include_str!("schema.sql") };
