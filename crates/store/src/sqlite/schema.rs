//! The schema of the database and its versions.

use crate::schema::Schema;

/// Identified by "TAMI".
pub(super) const SCHEMA: Schema =
    Schema { application_id: 0x5441_4d49, first: 7, migrations: &[include_str!("schema.sql"), COMPRESSED] };

/// Compressed texts and vectors in half precision. What is there stays as it is: a text in the other column, and a vector's length
/// tells its precision.
const COMPRESSED: &str = "ALTER TABLE texts ADD COLUMN compressed BLOB";
