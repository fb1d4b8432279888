//! The evidence graph in the database: `apply` writes records, `records` reads them, `summary` counts them, `sql` runs untrusted
//! statements on them.

mod apply;
mod records;
mod sql;
mod summary;
