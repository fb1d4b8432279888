//! The parts of the guard.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use proptest::prelude::*;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, ffi};

use super::slots::{ABANDONED_BY_ALL, ABANDONED_BY_ONE, SLOTS};
use super::snapshot::{Filling, Place, Snapshot};
use super::watch::Watch;
use super::{Guard, Limits, functions};
use crate::counting_allocator;
use crate::error::StoreError;
use crate::sql::{SqlQuery, SqlValue};
use crate::sql_tables::SQL_TABLES;

fn guard() -> Guard {
    Guard::new(Path::new("tamis.db"))
}

/// Fills all tables that a statement names, with so many fragments of 1,000 bytes.
fn fill(filling: &mut Filling<'_>, texts: u32) -> Result<(), StoreError> {
    for table in filling.begin("one")? {
        let mut rows = filling.rows(table)?;
        if table.name == "fragments" {
            for number in 0..texts {
                let value = |text: String| ToSqlOutput::Owned(text.into());
                let [id, page, text] = [format!("f{number}"), "p1".to_owned(), "x".repeat(1000)].map(value);
                let null = || ToSqlOutput::Owned(rusqlite::types::Value::Null);
                rows.add(&[id, page, text, null(), null(), null()])?;
            }
        }
        rows.end()?;
        filling.end(table)?;
    }
    Ok(())
}

/// The plan of a statement on the visible tables, which only the guard itself can see.
fn plan(snapshot: &Snapshot, sql: &str) -> String {
    let mut statement = snapshot.connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let lines = statement.query_map([], |row| row.get::<_, String>(3)).unwrap();
    lines.collect::<Result<Vec<_>, _>>().unwrap().join("\n")
}

#[test]
fn a_copy_has_the_keys_and_indexes_of_the_graph() {
    let mut snapshot = Snapshot::open("here", Place::Memory).unwrap();
    let names: Vec<&str> = SQL_TABLES.iter().map(|table| table.name).collect();
    fill(&mut Filling::new(&mut snapshot, &names.join(" "), &|| false), 0).unwrap();
    for (sql, search) in [
        ("SELECT * FROM claims WHERE id = 'c1'", "USING PRIMARY KEY (id=?)"),
        ("SELECT * FROM claims WHERE task_id = 't1'", "USING INDEX claims_task_id (task_id=?)"),
        (
            "SELECT * FROM claims c LEFT JOIN edges e ON e.target_type = 'claim' AND e.target_id = c.id",
            "(target_id=? AND target_type=?)",
        ),
        ("SELECT * FROM embeddings WHERE target_id = 'c1'", "USING INDEX embeddings_target_id (target_id=?)"),
    ] {
        let plan = plan(&snapshot, sql);
        assert!(plan.contains(search), "{sql}:\n{plan}");
    }
}

/// SQLite makes tables of some modules when they are named. Of those that read only their arguments, `json_each` is allowed, and not
/// registered before it is named.
#[test]
fn no_module_is_a_table() {
    let snapshot = Snapshot::open("here", Place::Memory).unwrap();
    let mut names = snapshot.connection.prepare("SELECT name FROM pragma_module_list").unwrap();
    let names = names.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let names: Vec<String> = names.map(Result::unwrap).filter(|name| !name.starts_with("pragma_")).collect();
    assert!(names.len() > 5 && names.contains(&"json_tree".to_owned()), "{names:?}");
    let tables = names.iter().filter(|name| snapshot.connection.prepare(&format!("SELECT * FROM {name}")).is_ok());
    assert_eq!(tables.collect::<Vec<_>>(), [] as [&String; 0]);
}

/// Without the authorizer too.
#[test]
fn a_copy_can_only_be_read() {
    for place in [Place::Memory, Place::File] {
        let snapshot = Snapshot::open("here", place).unwrap();
        snapshot.connection.execute_batch("PRAGMA query_only = 0").unwrap();
        for sql in ["DELETE FROM claims", "CREATE TABLE x(y)", "DROP TABLE edges"] {
            let error = snapshot.connection.execute_batch(sql).unwrap_err().to_string();
            assert!(error.contains("readonly"), "{sql}: {error}");
        }
    }
}

#[test]
fn a_copy_is_refused_when_it_is_too_large() {
    let mut snapshot = Snapshot::open("here", Place::Memory).unwrap();
    let mut filling = Filling::new(&mut snapshot, "SELECT * FROM fragments", &|| false);
    let error = fill(&mut filling, 40_000).unwrap_err().to_string();
    assert!(error.starts_with("the tables that the statement names are larger than 1024 MB"), "{error}");
    assert!(filling.is_full());
}

/// A large copy takes little memory. Its file is its owner's alone, and nobody finds it.
#[cfg(target_os = "linux")]
#[test]
fn a_large_copy_is_in_a_file_without_a_name() {
    use std::os::unix::fs::MetadataExt;
    let guard = Arc::new(guard());
    let query = SqlQuery { timeout: Duration::from_secs(2), ..SqlQuery::new("SELECT count(*) FROM fragments") };
    let rows = guard.query("here", &query, &|| false, |filling| fill(filling, 40_000)).unwrap();
    assert_eq!(rows.rows, [[SqlValue::Integer(40_000)]]);
    let open = std::fs::read_dir("/proc/self/fd").unwrap();
    let files = open.filter_map(|file| std::fs::metadata(file.unwrap().path()).ok()).filter(|file| file.nlink() == 0);
    let file = files.max_by_key(|file| file.len()).expect("a file");
    assert!(file.len() > 40_000_000, "{}", file.len());
    assert_eq!(file.mode() & 0o777, 0o600);
    // It is kept for the next statement.
    let rows = guard.query("here", &query, &|| false, |filling| {
        assert!(filling.begin("one")?.is_empty());
        Ok(())
    });
    assert_eq!(rows.unwrap().rows, [[SqlValue::Integer(40_000)]]);
}

/// A cancelled copy is not finished.
#[test]
fn a_caller_can_stop_waiting_for_a_copy() {
    let mut snapshot = Snapshot::open("here", Place::Memory).unwrap();
    let table = SQL_TABLES.iter().find(|table| table.name == "tasks").unwrap();
    let mut filling = Filling::new(&mut snapshot, "SELECT * FROM Tasks", &|| true);
    assert_eq!(filling.begin("one").unwrap(), [table]);
    let mut rows = filling.rows(table).unwrap();
    let value = |number: i32| ToSqlOutput::Owned(rusqlite::types::Value::Text(number.to_string()));
    let added = (0..5000).try_for_each(|number| rows.add(&[value(number), value(1), value(2), value(3)]));
    assert!(added.unwrap_err().to_string().contains("cancelled"));
}

#[test]
fn a_statement_has_only_so_many_steps() {
    let guard = Guard { limits: Limits { steps: 10_000 }, ..guard() };
    let query = SqlQuery {
        timeout: Duration::from_secs(2),
        ..SqlQuery::new("WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT count(*) FROM t")
    };
    let error = Arc::new(guard).query("here", &query, &|| false, |_| Ok(())).unwrap_err();
    assert!(matches!(&error, StoreError::Sql { error, .. } if error.contains("too many steps")), "{error}");
}

/// The calls of `stall` so far, and whether they may continue.
static STALLED: Mutex<(usize, bool)> = Mutex::new((0, false));
static RELEASE: Condvar = Condvar::new();

/// A function that is one long instruction. It ends when the test releases it.
pub(super) fn add_stall(connection: &Connection) -> rusqlite::Result<()> {
    connection.create_scalar_function("stall", 0, FunctionFlags::SQLITE_UTF8, |_| {
        let mut stalled = STALLED.lock().unwrap();
        stalled.0 += 1;
        while !stalled.1 {
            stalled = RELEASE.wait(stalled).unwrap();
        }
        Ok(1)
    })
}

#[test]
fn statements_that_outlive_their_caller_keep_nobody_else_out() {
    let guard = Arc::new(guard());
    let ask = |namespace: &str, sql: &str, cancelled: &dyn Fn() -> bool| {
        let query = SqlQuery { timeout: Duration::from_secs(2), ..SqlQuery::new(sql) };
        let rows = guard.query(namespace, &query, cancelled, |_| Ok(()));
        rows.map(|rows| rows.row_count).map_err(|error| error.to_string())
    };
    let works = |namespace: &str| ask(namespace, "SELECT 1", &|| false);
    // Its caller leaves once it stalls: before, it would end at its next allocation.
    let stall = |namespace: &str, number: usize| {
        let error = ask(namespace, "SELECT stall()", &|| STALLED.lock().unwrap().0 == number).unwrap_err();
        assert!(error.contains("cancelled"), "{number}: {error}");
    };
    const { assert!(ABANDONED_BY_ONE >= SLOTS, "as many as had every place before") };
    for number in 1..=ABANDONED_BY_ONE {
        stall("noisy", number);
        if number < ABANDONED_BY_ONE {
            assert_eq!(works("noisy"), Ok(1), "beside {number}");
        }
        assert_eq!(works("quiet"), Ok(1), "beside {number}");
    }
    let error = ask("noisy", "SELECT 1", &|| true).unwrap_err();
    assert!(error.contains("4 of your statements ran out of time and have not ended yet"), "{error}");
    assert_eq!(works("quiet"), Ok(1));
    // Even many together have no more threads than stated.
    for number in ABANDONED_BY_ONE..ABANDONED_BY_ALL {
        stall(&format!("noisy {}", number / ABANDONED_BY_ONE), number + 1);
    }
    let error = ask("quiet", "SELECT 1", &|| true).unwrap_err();
    assert!(error.contains("8 statements ran out of time"), "{error}");
    STALLED.lock().unwrap().1 = true;
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
        "instr(?1, ?2)", "replace(?1, ?2, ?3)", "trim(?1)", "trim(?1, ?2)", "ltrim(?1, ?2)", "rtrim(?1, ?2)",
        "?1 LIKE ?2", "?1 LIKE ?2 ESCAPE 'b'", "?1 GLOB ?2", "hex(unhex(?1))", "hex(unhex(?1, ?2))",
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
