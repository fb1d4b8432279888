//! Any text as the body of a wiki page.
//!
//! `cargo +nightly fuzz run wikitext corpus seeds/wikitext regressions/wikitext`, see `fuzz/README.md`.

#![no_main]

#[path = "../checks/wikitext.rs"]
mod wikitext;
#[path = "../checks/whole.rs"]
mod whole;

libfuzzer_sys::fuzz_target!(|data: &[u8]| wikitext::check(data));
