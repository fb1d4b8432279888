//! The parts of the guard.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use proptest::prelude::*;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, ffi};

use super::connection::Confined;
use super::slots::{ABANDONED_BY_ALL, ABANDONED_BY_ONE, SLOTS};
use super::watch::Watch;
use super::{Guard, Limits, functions};
use crate::counting_allocator;
use crate::error::StoreError;
use crate::sql::SqlQuery;
use crate::sqlite::Database;

pub(super) fn database() -> (tempfile::TempDir, PathBuf) {
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

/// True once calls of `stall` may continue.
static RELEASED: Mutex<bool> = Mutex::new(false);
static RELEASE: Condvar = Condvar::new();

/// A function that is one long instruction. It ends when the test releases it.
pub(super) fn add_stall(connection: &Connection) -> rusqlite::Result<()> {
    connection.create_scalar_function("stall", 0, FunctionFlags::SQLITE_UTF8, |_| {
        let mut released = RELEASED.lock().unwrap();
        while !*released {
            released = RELEASE.wait(released).unwrap();
        }
        Ok(1)
    })
}

#[test]
fn statements_that_outlive_their_time_keep_nobody_else_out() {
    let (_directory, path) = database();
    let guard = Arc::new(Guard::new(&path, false));
    let ask = |namespace: &str, sql: &str, cancelled: bool| {
        let query = SqlQuery { timeout: Duration::from_millis(5), ..SqlQuery::new(sql) };
        guard.query(namespace, &query, &|| cancelled).map(|rows| rows.row_count).map_err(|error| error.to_string())
    };
    // The duration of this one does not matter to the test.
    let works = |namespace: &str| {
        let query = SqlQuery { timeout: Duration::from_secs(2), ..SqlQuery::new("SELECT 1") };
        guard.query(namespace, &query, &|| false).map(|rows| rows.row_count).map_err(|error| error.to_string())
    };
    const { assert!(ABANDONED_BY_ONE >= SLOTS, "as many as had every place before") };
    for number in 1..=ABANDONED_BY_ONE {
        let error = ask("noisy", "SELECT stall()", false).unwrap_err();
        assert!(error.contains("takes longer than 5 ms"), "{number}: {error}");
        if number < ABANDONED_BY_ONE {
            assert_eq!(works("noisy"), Ok(1), "beside {number}");
        }
        assert_eq!(works("quiet"), Ok(1), "beside {number}");
    }
    let error = ask("noisy", "SELECT 1", true).unwrap_err();
    assert!(error.contains("4 of your statements ran out of time and have not ended yet"), "{error}");
    assert_eq!(works("quiet"), Ok(1));
    // Even many together have no more threads than stated.
    for number in ABANDONED_BY_ONE..ABANDONED_BY_ALL {
        ask(&format!("noisy {}", number / ABANDONED_BY_ONE), "SELECT stall()", false).unwrap_err();
    }
    let error = ask("quiet", "SELECT 1", true).unwrap_err();
    assert!(error.contains("8 statements ran out of time"), "{error}");
    *RELEASED.lock().unwrap() = true;
    RELEASE.notify_all();
    assert_eq!(works("noisy"), Ok(1));
    assert_eq!(works("quiet"), Ok(1));
}

#[test]
fn a_statement_that_nobody_waits_for_gets_no_more_memory() {
    counting_allocator::install();
    if !counting_allocator::is_counted() {
        println!("skipped: SQLite was in use before its allocator could be wrapped");
        return;
    }
    let left = Arc::new(AtomicBool::new(false));
    let seen = left.clone();
    std::thread::spawn(move || {
        counting_allocator::limit_this_thread(1 << 20, move || seen.load(Ordering::Relaxed));
        // SAFETY: plain allocations, each freed.
        let allocate = || unsafe {
            let given = ffi::sqlite3_malloc(100);
            ffi::sqlite3_free(given);
            !given.is_null()
        };
        assert!(allocate());
        left.store(true, Ordering::Relaxed);
        assert!(!allocate());
    })
    .join()
    .unwrap();
}

#[test]
fn functions_of_numbers_give_what_sqlite_documents() {
    let connection = Connection::open_in_memory().unwrap();
    functions::replace_built_in(&connection, &Arc::new(Watch::new())).unwrap();
    for (call, expected) in [
        ("ceil(1.2)", "2.0"),
        ("ceiling(-1.2)", "-1.0"),
        ("floor(-1.2)", "-2.0"),
        ("ceil(3)", "3"),
        ("floor('4.5')", "4.0"),
        ("exp(0)", "1.0"),
        ("ln(1)", "0.0"),
        ("log(100)", "2.0"),
        ("log10(1000)", "3.0"),
        ("log(2, 8)", "3.0"),
        ("log2(8)", "3.0"),
        ("pow(2, 10)", "1024.0"),
        ("power('2', 3)", "8.0"),
        ("mod(7, 3)", "1.0"),
        ("mod(-7.5, 2)", "-1.5"),
        ("sqrt(9)", "3.0"),
        ("sqrt(-1)", "NULL"),
        ("ln(0)", "NULL"),
        ("log(-1)", "NULL"),
        ("mod(1, 0)", "NULL"),
        ("pow(NULL, 2)", "NULL"),
        ("sqrt('x')", "NULL"),
        ("sqrt('inf')", "NULL"),
        ("sqrt('')", "NULL"),
    ] {
        let given: String = connection.query_row(&format!("SELECT quote({call})"), [], |row| row.get(0)).unwrap();
        assert_eq!(given, expected, "{call}");
    }
}

/// The functions that replace SQLite's return the same results.
#[test]
fn functions_give_what_the_built_in_ones_give() {
    let built_in = Connection::open_in_memory().unwrap();
    let own = Connection::open_in_memory().unwrap();
    functions::replace_built_in(&own, &Arc::new(Watch::new())).unwrap();
    let value = || {
        prop_oneof![
            6 => "[ab4%_*?^\\[\\]é-]{0,8}".prop_map(rusqlite::types::Value::Text),
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
        "hex(unhex(?1))",
        "hex(unhex(?1, ?2))",
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
