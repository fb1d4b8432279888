//! The parts of the guard, and every allowed function with the arguments that take it longest.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, ffi};

use super::functions::FUNCTIONS;
use super::snapshot::{Filling, Place, Snapshot};
use super::{ABANDONED_BY_ALL, ABANDONED_BY_ONE, Guard, LONGEST_VALUE, SLOTS, Watch, functions};
use crate::counting_allocator;
use crate::{SQL_TABLES, SqlQuery, SqlValue, StoreError};

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
fn a_copy_can_only_be_read_and_a_copy_is_refused_when_it_is_too_large() {
    for place in [Place::Memory, Place::File] {
        let snapshot = Snapshot::open("here", place).unwrap();
        snapshot.connection.execute_batch("PRAGMA query_only = 0").unwrap();
        for sql in ["DELETE FROM claims", "CREATE TABLE x(y)", "DROP TABLE edges"] {
            let error = snapshot.connection.execute_batch(sql).unwrap_err().to_string();
            assert!(error.contains("readonly"), "{sql}: {error}");
        }
    }
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

/// The calls of `stall` so far, and whether they may continue.
static STALLED: Mutex<(usize, bool)> = Mutex::new((0, false));
static RELEASE: Condvar = Condvar::new();

/// A function that is one long instruction. It ends when the test releases it.
pub(crate) fn add_stall(connection: &Connection) -> rusqlite::Result<()> {
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
    assert_eq!([works("noisy"), works("quiet")], [Ok(1), Ok(1)]);
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
    for case in [
        "ceil(1.2) = 2.0", "ceiling(-1.2) = -1.0", "floor(-1.2) = -2.0", "ceil(3) = 3", "floor('4.5') = 4.0",
        "exp(0) = 1.0", "ln(1) = 0.0", "log(100) = 2.0", "log10(1000) = 3.0", "log(2, 8) = 3.0", "log2(8) = 3.0",
        "pow(2, 10) = 1024.0", "power('2', 3) = 8.0", "mod(7, 3) = 1.0", "mod(-7.5, 2) = -1.5", "sqrt(9) = 3.0",
        "sqrt(-1) = NULL", "ln(0) = NULL", "log(-1) = NULL", "mod(1, 0) = NULL", "pow(NULL, 2) = NULL",
        "sqrt('x') = NULL", "sqrt('inf') = NULL", "sqrt('') = NULL",
    ] {
        let (call, expected) = case.split_once(" = ").expect("a value");
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

/// The factor by which a call may exceed the reference. Quadratic time exceeds it thousands of times, and this crate's
/// own functions are not optimised in tests.
const FACTOR: u32 = 200;

/// Two values of about the maximum length, one for SQLite's functions and one for this crate's.
const REFERENCE: &str = "SELECT length(json({json})), length(replace({half}, 'a', 'bc'))";

/// Statements that call each function with its worst arguments. `{long}` is a text of nearly the maximum length, `{half}` one of half
/// that, `{json}` an array of that length, `{deep}` one of the maximum nesting, `{rows}` a table of twenty rows with a value `v` each.
const WORST: &[&str] = &[
    "SELECT {json} -> '$[#-1]'",
    "SELECT {deep} ->> ('$' || replace(printf('%.*c', 998, 'x'), 'x', '[#-1]'))",
    "SELECT json_extract({json}, '$[60000]', '$[#-1]', '$.a', '$[1][2]')",
    "SELECT json_extract(json_object({half}, 1), '$.\"' || {half} || '\"')",
    "SELECT json_extract('{\"' || replace(printf('%.*c', 20000, 'x'), 'x', 'a.') || '\":1}', \
     '$.\"' || replace(printf('%.*c', 20000, 'x'), 'x', 'a.') || '\"')",
    "SELECT length('[\"' || replace(printf('%.*c', 20000, 'x'), 'x', '\\u00e9') || '\"]' ->> '$[0]')",
    "SELECT abs({digits}), abs('0.' || {digits}), abs('1e' || {digits}), round({digits}, 30), sign({digits})",
    "SELECT ceil({digits}), ceiling({long}), floor('0.' || {digits}), sqrt({digits}), exp({digits}), ln({digits})",
    "SELECT log({digits}), log2({digits}), log10({digits}), log({digits}, {digits})",
    "SELECT pow({digits}, 2), power(2, {digits}), mod({digits}, {digits})",
    "SELECT typeof({long}), octet_length({long})",
    "SELECT char(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,{digits},{digits},{digits})",
    "SELECT length(coalesce(ifnull(iif(0, 1, NULL), NULL), if(1, {long})))",
    "SELECT length(concat({half}, {half}))",
    "SELECT length(concat_ws({half}, 'a', 'b', NULL))",
    "SELECT length({long}), length(lower({long})), length(upper({long})), unicode({long})",
    "SELECT length(hex(printf('%.*c', 65000, 'x'))), length(quote(printf('%.*c', 65000, '''')))",
    "SELECT soundex({long}), soundex(printf('%.*c', 130000, '1'))",
    "SELECT length(max({long}, {long}, {long})), length(min({long}, {long}, {long} || 'a')), nullif({long}, {long})",
    "SELECT length(substr({long}, -130000, 130000)), length(substring(replace({half}, 'a', 'é'), 60000, -60000))",
    "SELECT length(printf(replace(printf('%.*c', 14000, 'x'), 'x', '%.99999g'), 1.5, 2.5))",
    "SELECT length(format(replace(printf('%.*c', 40000, 'x'), 'x', '%!s'), {long}))",
    "SELECT length(format('%.130000f', 1e308)), length(printf('%,.40000d', 7))",
    "SELECT length(printf('%q', printf('%.*c', 65000, ''''))), length(printf('%!.100000s', {long}))",
    "SELECT date({digits}), time({long}), datetime({digits}), julianday({digits}), unixepoch({digits}, 'auto')",
    "SELECT date('2024-01-01', '+' || {digits} || ' days'), date('2024-01-01', '+0.' || {digits} || ' months')",
    "SELECT date('9999-12-31', '-11999 years', '+119988 months', 'weekday 0', 'start of year', 'ceiling', 'localtime')",
    "SELECT timediff('9999-12-31', '-4713-11-24'), timediff('-4713-11-24', '9999-12-31'), timediff({digits}, {long})",
    "SELECT length(strftime(replace(printf('%.*c', 40000, 'x'), 'x', '%V'), '2024-01-01'))",
    "SELECT length(strftime(replace(printf('%.*c', 7000, 'x'), 'x', '%J'), '2024-01-01'))",
    "SELECT length(strftime({long}, '2024-01-01'))",
    "SELECT length(json({json})), json_valid({json}), json_type({json}), json_array_length({json})",
    "SELECT length(json({deep})), json_valid({deep}, 6), json_type({deep}, '$[0][0]'), json_array_length({deep}, '$[0]')",
    "SELECT json_valid('[/*' || printf('%.*c', 130000, '*'), 6)",
    "SELECT json_valid('[' || replace(printf('%.*c', 26000, 'x'), 'x', '/**/1') || ']', 6)",
    "SELECT json_valid('{' || replace(printf('%.*c', 26000, 'x'), 'x', 'a:1,') || '}', 2)",
    "SELECT json_valid(unhex(replace({half}, 'a', '1b')), 8), json_valid({half}, 4)",
    "SELECT length(json_array(printf('%.*c', 20000, char(1)))), length(json_quote(printf('%.*c', 20000, char(1))))",
    "SELECT length(json_object(printf('%.*c', 1000, char(1)), json({json})))",
    "SELECT max(n) FROM (SELECT length(group_concat(v, {half}) OVER (ORDER BY x ROWS 1 PRECEDING)) AS n FROM {rows})",
    "SELECT max(n) FROM (SELECT length(group_concat(v) OVER w) + length(string_agg(v, '-') OVER w) AS n FROM {rows} \
     WINDOW w AS (ORDER BY x ROWS BETWEEN 18 PRECEDING AND CURRENT ROW))",
    "SELECT max(n) FROM (SELECT length(json_group_array(v) OVER w) + length(json_group_object(v, x) OVER w) AS n FROM {rows} \
     WINDOW w AS (ORDER BY x ROWS BETWEEN 10 PRECEDING AND CURRENT ROW))",
    "SELECT count(v), sum(v), total('9' || v), avg(v), count(DISTINCT v) FROM {rows}",
    "SELECT max(n) FROM (SELECT count(v) OVER w + sum(v) OVER w + total(v) OVER w + avg(v) OVER w AS n FROM {rows} \
     WINDOW w AS (ORDER BY x ROWS BETWEEN 10 PRECEDING AND CURRENT ROW))",
    "SELECT max(n) FROM (SELECT row_number() OVER w + rank() OVER w + dense_rank() OVER w + percent_rank() OVER w \
     + cume_dist() OVER w + ntile(1000000000) OVER w AS n FROM {rows} WINDOW w AS (ORDER BY v))",
    "SELECT max(n) FROM (SELECT length(first_value(v) OVER w) + length(last_value(v) OVER w) + length(nth_value(v, 3) OVER w) \
     + length(lag(v, 5, v) OVER w) + length(lead(v, 1000000000, v) OVER w) AS n FROM {rows} WINDOW w AS (ORDER BY v))",
    "SELECT count(*), max(key), max(value) FROM json_each({json}) WHERE key < 3",
    "SELECT count(*) FROM json_each({deep}, '$[0][0]')",
    "SELECT instr({long}, {half} || 'b')",
    "SELECT length(replace({long}, {half} || 'b', 'c'))",
    "SELECT length(replace({half}, 'a', 'bc'))",
    "SELECT length(trim({long}, {other} || 'a'))",
    "SELECT length(ltrim({long}, {other} || 'a')), length(rtrim({long}, {other} || 'a')), length(trim({long}))",
    "SELECT length(unhex({long} || 'z', {other} || 'z'))",
    "SELECT length(unhex({other}, {long} || 'b'))",
    "SELECT length(unhex({digits}))",
];

/// The same for functions that watch the time themselves.
const WORST_OF_WATCHED: &[&str] = &[
    "SELECT {long} LIKE '%' || printf('%.*c', 900, 'a') || 'b%'",
    "SELECT {long} LIKE '%a%a%a%a%b' ESCAPE 'x'",
    "SELECT {long} GLOB '*' || printf('%.*c', 900, '?') || 'b*'",
    "SELECT {long} GLOB '*[^' || printf('%.*c', 900, 'b') || ']b'",
];

fn filled(sql: &str) -> String {
    let rows = "(WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r WHERE x < 20) \
                SELECT x, printf('%.*c', 6000, 'a') || x AS v FROM r)";
    [
        ("{rows}", rows),
        ("{json}", "('[' || replace(printf('%.*c', 60000, 'x'), 'x', '1,') || '1]')"),
        ("{deep}", "(printf('%.*c', 999, '[') || printf('%.*c', 120000, '1') || printf('%.*c', 999, ']'))"),
        ("{digits}", "printf('%.*c', 130000, '9')"),
        ("{long}", "printf('%.*c', 130000, 'a')"),
        ("{other}", "printf('%.*c', 130000, 'y')"),
        ("{half}", "printf('%.*c', 64000, 'a')"),
    ]
    .into_iter()
    .fold(sql.to_owned(), |sql, (name, text)| sql.replace(name, text))
}

/// Runs an untrusted statement and returns its number of rows.
fn rows(snapshot: &Snapshot, sql: &str) -> usize {
    snapshot.watch.begin(Duration::from_millis(100));
    let count = (|| {
        let mut statement = snapshot.connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        let mut count = 0;
        while rows.next()?.is_some() {
            count += 1;
        }
        Ok::<usize, rusqlite::Error>(count)
    })();
    snapshot.watch.end();
    match count {
        Ok(count) => count,
        // A pattern that is matched until the time limit, or a result that is too long.
        Err(error) if ["interrupted", "too big"].iter().any(|end| error.to_string().contains(end)) => 1,
        Err(error) => panic!("{sql}: {error}"),
    }
}

/// The least of three times.
fn time(snapshot: &Snapshot, sql: &str) -> Duration {
    let run = || {
        let started = Instant::now();
        assert!(rows(snapshot, sql) > 0, "{sql}");
        started.elapsed()
    };
    (0..3).map(|_| run()).min().unwrap_or_default()
}

#[test]
fn no_call_of_an_allowed_function_takes_long() {
    assert_eq!(LONGEST_VALUE, 128 << 10, "the arguments below are as long as can be");
    let snapshot = Snapshot::open("here", Place::Memory).unwrap();
    let reference = time(&snapshot, &filled(REFERENCE)).max(Duration::from_micros(100));
    let watched = Duration::from_millis(100);
    for (statements, allowed) in [(WORST, Duration::ZERO), (WORST_OF_WATCHED, watched)] {
        let most = reference * FACTOR + allowed;
        for sql in statements {
            let taken = time(&snapshot, &filled(sql));
            println!("{:6.1} times the reference: {sql}", taken.as_secs_f64() / reference.as_secs_f64());
            assert!(taken < most, "{sql}: {taken:?}, where the reference takes {reference:?}");
        }
    }
}

#[test]
fn the_documentation_lists_the_functions_that_are_allowed_and_each_is_called_with_its_worst() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/evidence.md");
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: {} is not there", path.display());
        return;
    };
    let (_, list) = text.split_once("These functions can be called").unwrap();
    let (list, _) = list.split_once("Each of them takes time").unwrap();
    let listed: BTreeSet<String> = list.split('`').skip(1).step_by(2).map(str::to_ascii_lowercase).collect();
    let allowed = FUNCTIONS.iter().chain(functions::TABLE_FUNCTIONS);
    assert_eq!(listed, allowed.map(|name| (*name).to_owned()).collect());
    for name in FUNCTIONS {
        let is_watched = ["like", "glob"].contains(name);
        let is_operator = name.starts_with('-') || is_watched;
        let call = if is_operator { format!(" {name} ") } else { format!("{name}(") };
        let statements = if is_watched { WORST_OF_WATCHED } else { WORST };
        let is_called = statements.iter().any(|sql| sql.to_ascii_lowercase().contains(&call));
        assert!(is_called, "{name} is called by no statement");
    }
}
