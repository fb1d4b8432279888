//! Damaged files never panic, and end soon.

use proptest::prelude::*;
use tamis_text::{Options, read_document};

use super::fixture;

const FILES: &[&str] =
    &["heating.pdf", "minutes.docx", "letter.odt", "lighthouse.epub", "bees.ipynb", "roof.html", "locked.pdf"];

/// Changes to a file: bytes that are replaced, a part that is cut out, a part that is repeated.
fn damaged(mut bytes: Vec<u8>, changes: &[(u8, usize, u8)]) -> Vec<u8> {
    for (kind, place, value) in changes {
        if bytes.is_empty() {
            break;
        }
        let at = place % bytes.len();
        let length = usize::from(*value).min(bytes.len() - at);
        match kind % 4 {
            0 => bytes[at] = *value,
            1 => drop(bytes.drain(at..at + length)),
            2 => {
                let part = bytes[at..at + length].to_vec();
                bytes.splice(at..at, part);
            }
            _ => bytes.truncate(at),
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn damaged_files_are_read_or_refused(
        file in prop::sample::select(FILES.to_vec()),
        changes in prop::collection::vec((0_u8..7, any::<usize>(), any::<u8>()), 1..12),
    ) {
        let bytes = damaged(fixture(file), &changes);
        if let Ok(Some(document)) = read_document(file, &bytes, &Options::default()) {
            for passage in document.passages {
                prop_assert!(passage.start_line >= 1 && passage.start_line <= passage.end_line);
                prop_assert!(!passage.text.trim().is_empty());
            }
        }
    }

    #[test]
    fn random_bytes_are_refused_or_read(file in prop::sample::select(FILES.to_vec()), bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let _ = read_document(file, &bytes, &Options::default());
        let head: &[u8] = if file.ends_with("pdf") { b"%PDF-1.4\n" } else { b"PK\x03\x04" };
        let _ = read_document(file, &[head, &bytes].concat(), &Options::default());
    }
}
