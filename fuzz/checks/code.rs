//! The first byte selects the language, `a` the first; the rest is its source.

use crate::whole;
use tamis_text::{Options, definitions, read, references, skip_by_content, skip_by_path};

/// A file of each language that has a grammar, and two that are read by lines.
const NAMES: [&str; 20] = [
    "a.rs", "a.ts", "a.tsx", "a.js", "a.jsx", "a.py", "a.go", "a.java", "a.c", "a.cpp", "a.h", "a.cs", "a.rb", "a.php",
    "a.kt", "a.swift", "a.sh", "a.toml", "a.json", "unknown",
];

/// A file as an input of this target; `None` for one of another language.
#[allow(dead_code, reason = "the fuzz target is given its inputs")]
pub fn input(name: &str, source: &[u8]) -> Option<Vec<u8>> {
    let extension = |name: &str| name.rsplit_once('.').map(|(_, extension)| extension.to_owned());
    let language =
        NAMES.iter().position(|known| extension(known).is_some_and(|known| Some(known) == extension(name)))?;
    Some([&[b'a' + u8::try_from(language).ok()?], source].concat())
}

pub fn check(data: &[u8]) {
    let Some((first, bytes)) = data.split_first() else { return };
    let name = NAMES[usize::from(first.wrapping_sub(b'a')) % NAMES.len()];
    let max_tokens = if first.is_ascii_lowercase() { 400 } else { usize::from(*first) };
    let options = Options { max_tokens };
    let _ = skip_by_content(name, bytes);
    let _ = skip_by_path(name, bytes.len() as u64, &Default::default());
    let document = read(name, bytes, &options);
    assert_eq!(document, read(name, bytes, &options), "{name}: another document the second time");
    match std::str::from_utf8(bytes) {
        Ok(text) => {
            let _ = definitions(name, text);
            let _ = references(name, text);
            if whole::is_plain(text) {
                return whole::check(name, text, &document, max_tokens);
            }
        }
        Err(_) => {
            let _ = references(name, &String::from_utf8_lossy(bytes));
        }
    }
    whole::embed(&document);
}
