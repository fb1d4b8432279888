//! Any text as a query with filters and dates.
//!
//! `cargo +nightly fuzz run query corpus seeds/query regressions/query`, see `fuzz/README.md`.

#![no_main]

#[path = "../checks/query.rs"]
mod query;

libfuzzer_sys::fuzz_target!(|data: &[u8]| query::check(data));
