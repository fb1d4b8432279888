//! Any bytes as source code of any language.
//!
//! `cargo +nightly fuzz run code corpus seeds/code regressions/code`, see `fuzz/README.md`.

#![no_main]

#[path = "../checks/code.rs"]
mod code;
#[path = "../checks/whole.rs"]
mod whole;

libfuzzer_sys::fuzz_target!(|data: &[u8]| code::check(data));
