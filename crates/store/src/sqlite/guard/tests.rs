//! What the guard is made of, each by itself.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use rusqlite::Connection;

use super::connection::Confined;
use super::watch::Watch;
use super::{Guard, Limits, functions};
use crate::error::StoreError;
use crate::sql::SqlQuery;
use crate::sqlite::Database;

fn database() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("tamis.db");
    drop(Database::open_writable(&path).unwrap());
    (directory, path)
}

/// The plan of a statement on the visible tables, which only the guard itself can see.
fn plan(confined: &Confined, sql: &str) -> String {
    let mut statement = confined.connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let lines = statement.query_map([], |row| row.get::<_, String>(3)).unwrap();
    lines.collect::<Result<Vec<_>, _>>().unwrap().join("\n")
}

#[test]
fn the_views_are_no_more_than_their_tables_and_indexes_serve() {
    let (_directory, path) = database();
    let confined = Confined::open(&path, false, "here").unwrap();
    for (sql, search) in [
        ("SELECT * FROM claims WHERE id = 'c1'", "USING PRIMARY KEY (namespace=? AND id=?)"),
        ("SELECT * FROM claims WHERE task_id = 't1'", "USING INDEX evidence_claims_task (namespace=? AND task_id=?)"),
        ("SELECT count(*) FROM claims", "(namespace=?)"),
        (
            "SELECT * FROM claims c LEFT JOIN edges e ON e.target_type = 'claim' AND e.target_id = c.id",
            "evidence_edges_target (namespace=? AND target_type=? AND target_id=?)",
        ),
        ("SELECT * FROM embeddings WHERE target_id = 'c1'", "USING PRIMARY KEY (namespace=? AND id=?)"),
        (
            "SELECT * FROM claims c JOIN embeddings e ON e.target_id = c.id WHERE c.id = 'c1'",
            "(namespace=? AND path=?)",
        ),
    ] {
        let plan = plan(&confined, sql);
        assert!(plan.contains(search), "{sql}:\n{plan}");
        assert!(!plan.contains("MATERIALIZE") && !plan.contains("CO-ROUTINE"), "{sql}:\n{plan}");
    }
}

#[test]
fn the_name_of_the_schema_stands_nowhere() {
    let (_directory, path) = database();
    let confined = Confined::open(&path, false, "here").unwrap();
    for table in ["sqlite_temp_schema", "sqlite_schema"] {
        let count: i64 =
            confined.connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap();
        assert_eq!(count, 0, "{table}");
    }
}

#[test]
fn a_statement_has_only_so_many_steps() {
    let (_directory, path) = database();
    let guard = Guard { limits: Limits { steps: 10_000 }, ..Guard::new(&path, false) };
    let query = SqlQuery {
        timeout: Duration::from_secs(2),
        ..SqlQuery::new("WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT count(*) FROM t")
    };
    let error = Arc::new(guard).query("here", &query, &|| false).unwrap_err();
    assert!(matches!(&error, StoreError::Sql { error, .. } if error.contains("too many steps")), "{error}");
}

/// The functions that take the place of SQLite's give what those give.
#[test]
fn functions_give_what_the_built_in_ones_give() {
    let built_in = Connection::open_in_memory().unwrap();
    let own = Connection::open_in_memory().unwrap();
    functions::replace_built_in(&own, &Arc::new(Watch::new())).unwrap();
    let value = || {
        prop_oneof![
            6 => "[ab%_*?^\\[\\]é-]{0,8}".prop_map(rusqlite::types::Value::Text),
            1 => any::<i64>().prop_map(rusqlite::types::Value::Integer),
            1 => (-1000i32..1000).prop_map(|number| rusqlite::types::Value::Real(f64::from(number) / 8.0)),
            1 => Just(rusqlite::types::Value::Null),
            1 => "[ab]{0,4}".prop_map(|text| rusqlite::types::Value::Blob(text.into_bytes())),
        ]
    };
    let calls = [
        "instr(?1, ?2)",
        "replace(?1, ?2, ?3)",
        "trim(?1)",
        "trim(?1, ?2)",
        "ltrim(?1, ?2)",
        "rtrim(?1, ?2)",
        "?1 LIKE ?2",
        "?1 LIKE ?2 ESCAPE 'b'",
        "?1 GLOB ?2",
    ];
    let run = |connection: &Connection, call: &str, values: [&rusqlite::types::Value; 3]| {
        let sql = format!("SELECT quote(CAST({call} AS TEXT)), typeof({call}), ?3");
        connection.prepare_cached(&sql).unwrap().query_row(rusqlite::params_from_iter(values), |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
        })
    };
    proptest!(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() }, |(a in value(), b in value(), c in value())| {
        for call in calls {
            let values = [&a, &b, &c];
            let (expected, given) = (run(&built_in, call, values), run(&own, call, values));
            prop_assert_eq!(expected.unwrap(), given.unwrap(), "{} of {:?}", call, values);
        }
    });
}
