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
fn messages_queries_and_evidence_from_fuzzing() {
    replay("http", http::check);
    replay("query", query::check);
    replay("evidence", evidence::check);
}
