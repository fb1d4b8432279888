//! Any bytes as evidence in JSON Lines.
//!
//! `cargo +nightly fuzz run evidence corpus seeds/evidence regressions/evidence`, see `fuzz/README.md`.

#![no_main]

#[path = "../checks/evidence.rs"]
mod evidence;

libfuzzer_sys::fuzz_target!(|data: &[u8]| evidence::check(data));
