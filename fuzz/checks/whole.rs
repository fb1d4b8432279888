//! Checks of every document that was read from lines: no line is lost or found twice, and no passage is too large.

#![allow(dead_code, reason = "each check takes what it needs")]

use tamis_text::{Document, Passage, estimate_tokens};

/// Text without white space.
fn visible(text: &str) -> String {
    text.chars().filter(|character| !character.is_whitespace()).collect()
}

/// Checks the passages of a document against the text that it was read from.
pub fn check(name: &str, text: &str, document: &Document, max_tokens: usize) {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut end = 0;
    let mut all = String::new();
    let mut previous: Option<&Passage> = None;
    for passage in &document.passages {
        let (first, last) = (passage.start_line as usize, passage.end_line as usize);
        assert!(1 <= first && first <= last && last <= lines.len(), "{name}: lines {first} to {last}");
        // Only the parts of one long line share their line.
        let divided =
            previous.is_some_and(|previous| previous.start_line == previous.end_line) && (first, last) == (end, end);
        assert!(first > end || divided, "{name}: line {first} twice");
        let tokens = estimate_tokens(&passage.text);
        assert!(tokens <= max_tokens.max(32), "{name}: {tokens} tokens in {:?}", passage.text);
        let here = lines[first - 1..last].concat();
        assert!(here.contains(&passage.text), "{name}: {:?} is not in {here:?}", passage.text);
        all.push_str(&passage.text);
        end = last;
        previous = Some(passage);
    }
    assert_eq!(visible(&all), visible(text), "{name}");
    embed(document);
}

/// Produces the embedded texts and everything else asked of a document besides its lines.
pub fn embed(document: &Document) {
    for passage in &document.passages {
        assert!(!passage.text.trim().is_empty(), "{passage:?}");
        assert!(passage.embedded_text().contains(&passage.text));
        assert!(passage.symbols().count() <= passage.symbol.as_ref().map_or(0, |symbol| symbol.len() + 1));
    }
    serde_json::to_string(document).expect("a document is JSON");
}

/// Returns `true` if the text is stored unchanged: without line ends other than `\n`, and without a byte order mark.
pub fn is_plain(text: &str) -> bool {
    !text.contains(['\r', '\0', '\u{feff}', '\u{fffd}'])
}
