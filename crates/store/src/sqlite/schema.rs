//! The schema of the database and its versions.

use crate::schema::{Migration, Schema};

/// Identified by "TAMI".
pub(super) const SCHEMA: Schema = Schema {
    application_id: 0x5441_4d49,
    migrations: &[
        Migration::sql(include_str!("migrations/0001.sql")),
        Migration::sql(include_str!("migrations/0002.sql")),
        Migration::sql(include_str!("migrations/0003.sql")),
        Migration::sql(include_str!("migrations/0004.sql")),
        Migration::sql(include_str!("migrations/0005.sql")),
        Migration::sql(include_str!("migrations/0006.sql")),
        Migration::sql(include_str!("migrations/0007.sql")),
    ],
};
