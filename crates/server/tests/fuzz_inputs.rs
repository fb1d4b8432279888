//! What the fuzz targets begin with, and what they once found, through the same checks: `fuzz/seeds` and
//! `fuzz/regressions`.

#[path = "../../../fuzz/checks/evidence.rs"]
mod evidence;
#[path = "../../../fuzz/checks/http.rs"]
mod http;
#[path = "../../../fuzz/checks/query.rs"]
mod query;
#[path = "../../../fuzz/checks/replay.rs"]
mod replay;

use replay::replay;

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
