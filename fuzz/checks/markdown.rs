//! One file read in each way that a Markdown file can be read.

use crate::whole;
use tamis_text::{NoteOptions, Options, entries, read, read_note, read_page};

pub fn check(data: &[u8]) {
    let options = Options::default();
    let text = std::str::from_utf8(data).ok().filter(|text| whole::is_plain(text));
    for name in ["a.md", "a.rst", "a.adoc", "a.org", "a.tex"] {
        let document = read(name, data, &options);
        match text {
            Some(text) => whole::check(name, text, &document, options.max_tokens),
            None => whole::embed(&document),
        }
    }
    let page = read_page("Some-Page.md", data, &options);
    match text {
        Some(text) => whole::check("a page", text, &page, options.max_tokens),
        None => whole::embed(&page),
    }
    for name in ["2026-11-22.md", "MEMORY.md"] {
        whole::embed(&read_note(name, data, &NoteOptions::default()));
    }
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = entries(text);
    }
}
