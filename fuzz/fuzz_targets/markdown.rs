//! Any bytes as a Markdown file: a document, a page of a wiki, a note.
//!
//! `cargo +nightly fuzz run markdown corpus seeds/markdown regressions/markdown`, see `fuzz/README.md`.

#![no_main]

#[path = "../checks/markdown.rs"]
mod markdown;
#[path = "../checks/whole.rs"]
mod whole;

libfuzzer_sys::fuzz_target!(|data: &[u8]| markdown::check(data));
