//! Any bytes as a PDF, Word, OpenDocument or EPUB file, a notebook or a web page. The first byte selects the format.
//!
//! `cargo +nightly fuzz run documents corpus/documents regressions/documents`, see `fuzz/README.md`.

#![no_main]

#[path = "../checks/documents.rs"]
mod documents;

libfuzzer_sys::fuzz_target!(|data: &[u8]| documents::check(data));
