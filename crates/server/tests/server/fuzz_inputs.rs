//! Runs the checks of the fuzz targets on their seeds and on past findings: `fuzz/seeds` and `fuzz/regressions`.

#[path = "../../../../fuzz/checks/evidence.rs"]
mod evidence;
#[path = "../../../../fuzz/checks/http.rs"]
mod http;
#[path = "../../../../fuzz/checks/query.rs"]
mod query;
#[path = "../../../../fuzz/checks/replay.rs"]
mod replay;

use self::replay::replay;

#[test]
fn messages_from_fuzzing() {
    replay("http", http::check);
}

#[test]
fn queries_from_fuzzing() {
    replay("query", query::check);
}

#[test]
fn evidence_from_fuzzing() {
    replay("evidence", evidence::check);
}
