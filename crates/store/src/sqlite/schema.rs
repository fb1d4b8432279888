//! The schema of the database and its versions.

use crate::schema::Schema;

/// Identified by "TAMI".
pub(super) const SCHEMA: Schema =
    Schema { application_id: 0x5441_4d49, first: 7, migrations: &[include_str!("schema.sql"), HALF_PRECISION] };

/// Vectors written from now on have half precision. Those there stay as they are: their length tells.
const HALF_PRECISION: &str = "";
