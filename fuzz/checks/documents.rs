//! A document of strangers.

use tamis_text::{Options, read_document};

/// The formats by the letters from `a` on.
const NAMES: [&str; 6] = ["a.pdf", "a.docx", "a.odt", "a.epub", "a.ipynb", "a.html"];

/// The input for a file of this name.
#[allow(dead_code)] // the target reads what a fuzzer makes
pub fn input(name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let ending = name.rsplit_once('.')?.1;
    let format = NAMES.iter().zip(b'a'..).find(|(known, _)| known.ends_with(ending))?.1;
    Some([&[format], bytes].concat())
}

pub fn check(data: &[u8]) {
    let Some((format, bytes)) = data.split_first() else { return };
    let name = NAMES[usize::from(format.wrapping_sub(b'a')) % NAMES.len()];
    if let Ok(Some(document)) = read_document(name, bytes, &Options::default()) {
        for passage in &document.passages {
            assert!(1 <= passage.start_line && passage.start_line <= passage.end_line, "{passage:?}");
            assert!(!passage.text.trim().is_empty(), "{passage:?}");
            let _ = passage.embedded_text();
        }
    }
}
