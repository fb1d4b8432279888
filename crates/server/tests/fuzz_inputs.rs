//! What the fuzz targets begin with, and what they once found, through the same checks: `fuzz/seeds` and
//! `fuzz/regressions`.

#[path = "../../../fuzz/checks/evidence.rs"]
mod evidence;
#[path = "../../../fuzz/checks/http.rs"]
mod http;
#[path = "../../../fuzz/checks/query.rs"]
mod query;

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
fn messages_that_were_found_by_fuzzing() {
    replay("http", http::check);
}

#[test]
fn queries_that_were_found_by_fuzzing() {
    replay("query", query::check);
}

#[test]
fn evidence_that_was_found_by_fuzzing() {
    replay("evidence", evidence::check);
}
