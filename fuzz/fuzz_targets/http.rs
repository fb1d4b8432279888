//! Any bytes as a message, or as a whole request, to the server over HTTP.
//!
//! `cargo +nightly fuzz run http corpus seeds/http regressions/http`, see `fuzz/README.md`.

#![no_main]

#[path = "../checks/http.rs"]
mod http;

libfuzzer_sys::fuzz_target!(|data: &[u8]| http::check(data));
