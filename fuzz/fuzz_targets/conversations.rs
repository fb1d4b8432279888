//! Any bytes as a log of conversations.
//!
//! `cargo +nightly fuzz run conversations corpus seeds/conversations regressions/conversations`, see `fuzz/README.md`.

#![no_main]

#[path = "../checks/conversations.rs"]
mod conversations;
#[path = "../checks/whole.rs"]
mod whole;

libfuzzer_sys::fuzz_target!(|data: &[u8]| conversations::check(data));
