//! Runs the checks of the fuzz targets on their seeds and on past findings: `fuzz/seeds` and `fuzz/regressions`.

#![cfg(all(feature = "documents", feature = "grammars", feature = "wiki"))]

#[path = "../../../fuzz/checks/code.rs"]
mod code;
#[path = "../../../fuzz/checks/conversations.rs"]
mod conversations;
#[path = "../../../fuzz/checks/documents.rs"]
mod documents;
#[path = "../../../fuzz/checks/issues.rs"]
mod issues;
#[path = "../../../fuzz/checks/markdown.rs"]
mod markdown;
#[path = "../../../fuzz/checks/replay.rs"]
mod replay;
#[path = "../../../fuzz/checks/whole.rs"]
mod whole;
#[path = "../../../fuzz/checks/wiki_dump.rs"]
mod wiki_dump;
#[path = "../../../fuzz/checks/wikitext.rs"]
mod wikitext;

use replay::replay;
use std::fs;
use std::path::Path;

#[test]
fn source_code_that_was_found_by_fuzzing() {
    replay("code", code::check);
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut inputs = 0;
    for entry in fs::read_dir(fixtures).expect("listed") {
        let path = entry.expect("listed").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if let Some(input) = code::input(&name, &fs::read(&path).expect("read")) {
            code::check(&input);
            inputs += 1;
        }
    }
    assert!(inputs >= 17, "only {inputs} fixtures are of a language that is checked");
}

#[test]
fn documents_that_were_found_by_fuzzing() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents/fixtures");
    let mut inputs = 0;
    for entry in fs::read_dir(fixtures).expect("listed") {
        let path = entry.expect("listed").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let input = documents::input(&name, &fs::read(&path).expect("read")).expect("a known format");
        documents::check(&input);
        inputs += 1;
    }
    assert!(inputs >= 9, "only {inputs} fixtures");
}

#[test]
fn prose_that_was_found_by_fuzzing() {
    replay("markdown", markdown::check);
    replay("wikitext", wikitext::check);
}

#[test]
fn inputs_of_imports_that_were_found_by_fuzzing() {
    replay("wiki_dump", wiki_dump::check);
    replay("issues", issues::check);
    replay("conversations", conversations::check);
}
