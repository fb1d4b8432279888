//! Any bytes as an export of an issue tracker.
//!
//! `cargo +nightly fuzz run issues corpus seeds/issues regressions/issues`, see `fuzz/README.md`.

#![no_main]

#[path = "../checks/issues.rs"]
mod issues;
#[path = "../checks/whole.rs"]
mod whole;

libfuzzer_sys::fuzz_target!(|data: &[u8]| issues::check(data));
