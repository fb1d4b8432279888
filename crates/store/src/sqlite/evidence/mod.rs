//! The evidence graph in the database: `apply` writes records, `records` reads them, `summary` counts them.

mod apply;
mod records;
mod summary;
