//! What the fuzz targets begin with, and what they once found, through the same checks: `fuzz/seeds` and
//! `fuzz/regressions`.

#[path = "../../../fuzz/checks/code.rs"]
mod code;
#[path = "../../../fuzz/checks/conversations.rs"]
mod conversations;
#[path = "../../../fuzz/checks/issues.rs"]
mod issues;
#[path = "../../../fuzz/checks/markdown.rs"]
mod markdown;
#[path = "../../../fuzz/checks/whole.rs"]
mod whole;
#[path = "../../../fuzz/checks/wiki_dump.rs"]
mod wiki_dump;
#[path = "../../../fuzz/checks/wikitext.rs"]
mod wikitext;

use std::fs;
use std::path::Path;

/// Gives each input of a target to its check.
fn replay(target: &str, check: fn(&[u8])) {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let mut inputs = 0;
    for part in ["seeds", "regressions"] {
        let Ok(entries) = fs::read_dir(fuzz.join(part).join(target)) else { continue };
        for entry in entries {
            let path = entry.expect("listed").path();
            println!("{}", path.display());
            check(&fs::read(&path).expect("read"));
            inputs += 1;
        }
    }
    assert!(inputs > 0, "there is nothing of {target} in {}", fuzz.display());
}

#[test]
fn source_code_that_was_found_by_fuzzing() {
    replay("code", code::check);
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
