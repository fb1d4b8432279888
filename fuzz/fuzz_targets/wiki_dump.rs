//! Any bytes as a dump of a MediaWiki.
//!
//! `cargo +nightly fuzz run wiki_dump corpus seeds/wiki_dump regressions/wiki_dump`, see `fuzz/README.md`.

#![no_main]

#[path = "../checks/wiki_dump.rs"]
mod wiki_dump;
#[path = "../checks/whole.rs"]
mod whole;

libfuzzer_sys::fuzz_target!(|data: &[u8]| wiki_dump::check(data));
