//! Statements that want more time or memory than allowed, and many at once, good ones among bad ones.

use std::time::{Duration, Instant};

use crate::common::*;

/// Counts without end.
const ENDLESS: &str = "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) ";

/// `unit`, many times over.
fn many(unit: &str, times: usize, between: &str) -> String {
    vec![unit; times].join(between)
}

/// Statements that would run forever, or much too long, or take all memory.
fn endless() -> Vec<String> {
    let columns: Vec<String> = (0..99).map(|number| format!("x * 0 + {number}")).collect();
    let claims: Vec<String> = (0..60).map(|number| format!("claims c{number}")).collect();
    let doubled: Vec<String> =
        (0..7).map(|level| format!("t{} AS (SELECT p.x FROM t{level} p, t{level} q)", level + 1)).collect();
    [
        "SELECT count(*) FROM t",
        "SELECT x FROM t ORDER BY -x",
        "SELECT DISTINCT x FROM t ORDER BY 1",
        "SELECT count(*) FROM t GROUP BY x",
        "SELECT row_number() OVER (ORDER BY x % 7, -x) FROM t",
        "SELECT max(x) OVER (ORDER BY x ROWS BETWEEN 100000 PRECEDING AND 100000 FOLLOWING) FROM t",
        "SELECT group_concat(x) FROM t",
        "SELECT json_group_array(printf('%.*c', 1000, 'x')) FROM t",
        "SELECT json_group_object(x, x) FROM t",
        "SELECT string_agg(hex(x), ',') FROM t",
        "SELECT count(DISTINCT printf('%.*c', 100000, 'x') || x) FROM t",
        "SELECT x FROM t ORDER BY printf('%.*c', 100000, 'x') || x",
        "SELECT x FROM t GROUP BY printf('%.*c', 100000, 'x') || x",
        "SELECT sum(length(replace(printf('%.*c', 60000, 'x'), 'x', 'yz'))) FROM t",
        "SELECT x FROM t LIMIT 1 OFFSET 100000000000",
        "SELECT count(*) FROM t a JOIN t b ON a.x = -b.x",
        "SELECT count(*) FROM claims WHERE id IN (SELECT 'c' || -x FROM t)",
        "SELECT sum(json_array_length('[' || replace(printf('%.*c', 30000, 'x'), 'x', '1,') || '1]')) FROM t",
    ]
    .into_iter()
    .map(|rest| format!("{ENDLESS}{rest}"))
    .chain([
        format!("{ENDLESS}SELECT x FROM t ORDER BY {}, -x", columns.join(", ")),
        format!("SELECT count(*) FROM {}", claims.join(", ")),
        format!("WITH t0 AS (SELECT 1 AS x UNION ALL SELECT 2), {} SELECT count(*) FROM t7", doubled.join(", ")),
        "WITH RECURSIVE t(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM t UNION ALL SELECT x + 2 FROM t) SELECT count(*) FROM t"
            .to_owned(),
        "WITH RECURSIVE t(x) AS (VALUES (1) UNION SELECT x + 1 FROM t) SELECT count(*) FROM t".to_owned(),
        "WITH RECURSIVE t(s) AS (SELECT 'x' UNION ALL SELECT s || 'y' FROM t) SELECT s FROM t ORDER BY 1".to_owned(),
        "SELECT count(*) FROM edges a, edges b, edges c, edges d, edges e, edges f, edges g, edges h, edges i WHERE a.note LIKE b.note".to_owned(),
        "SELECT printf('%.*c', 100000, 'a') LIKE '%' || printf('%.*c', 900, 'a') || 'b%'".to_owned(),
        "SELECT printf('%.*c', 100000, 'a') GLOB '*' || printf('%.*c', 900, '?') || 'b*'".to_owned(),
        "SELECT group_concat(a.text || b.text || c.text || d.text) FROM claims a, claims b, claims c, claims d, claims e".to_owned(),
    ])
    .collect()
}

/// The bound for immediate results; each fault that this shows takes seconds.
const AT_ONCE: Duration = Duration::from_millis(500);

/// Runs `work` until it takes no longer than `factor` times a mere wait of `asked` on this machine now, and returns its
/// duration. Others share the machine, so the best of several tries counts.
fn within(asked: Duration, factor: f64, name: &str, mut work: impl FnMut()) -> Duration {
    const TRIES: usize = 8;
    let mut told = Vec::new();
    for _ in 0..TRIES {
        let timed = |work: &mut dyn FnMut()| {
            let started = Instant::now();
            work();
            started.elapsed()
        };
        let taken = timed(&mut work);
        // Usually the machine is quiet enough, and the first try suffices.
        if taken <= asked.mul_f64(factor) {
            return taken;
        }
        let waited = timed(&mut || std::thread::sleep(asked));
        if taken <= waited.mul_f64(factor) {
            return taken;
        }
        told.push((taken, waited));
    }
    panic!("{name}: never within {factor} of a wait of {asked:?}: {told:?}");
}

#[test]
fn what_has_no_end_is_ended_in_time() {
    let pair = pair();
    let before = contents(pair.shared.directory());
    for sql in endless() {
        let mut error = String::new();
        // The guard takes a tenth at most; the rest allows for a busy machine.
        within(Duration::from_millis(250), 2.0, &sql, || {
            error = ask_within(&pair.shared, &sql, 250).expect_err(&sql).to_string();
        });
        let ends = ["takes longer than 250 ms", "of memory", "is longer than", "nested too deep"];
        assert!(ends.iter().any(|end| error.contains(end)), "{sql}: {error}");
    }
    // Nothing of it is left: the next one runs as usual.
    assert_eq!(rows(&pair.shared, "SELECT count(*) FROM claims"), [[SqlValue::Integer(25)]]);
    assert!(before == contents(pair.shared.directory()), "the database changed");
}

/// The time holds within a fifth, whatever the statement does.
#[test]
fn the_time_asked_for_holds() {
    let pair = pair();
    let (counting, sorting) = ("SELECT count(*) FROM t", "SELECT x FROM t ORDER BY -x");
    // A quick machine fills the memory that a sort may take within 200 ms.
    for (rest, timeout) in [(counting, 50), (counting, 400), (sorting, 80)] {
        let sql = format!("{ENDLESS}{rest}");
        let asked = Duration::from_millis(timeout);
        let taken = within(asked, 1.2, &sql, || {
            ask_within(&pair.shared, &sql, timeout).expect_err(&sql);
        });
        assert!(taken >= asked, "{sql}: {taken:?} of {asked:?}");
    }
}

/// Statements that are too large to run.
#[test]
fn what_is_too_large_is_refused_at_once() {
    let pair = pair();
    let cases = [
        (format!("SELECT {}1{}", many("(", 3000, ""), many(")", 3000, "")), "nest no deeper"),
        (format!("SELECT {}", many("1", 3000, "+")), "nest no deeper"),
        (format!("SELECT {}1", many("NOT ", 3000, "")), "nest no deeper"),
        (format!("SELECT {}1{}", many("(SELECT ", 500, ""), many(")", 500, "")), "nest no deeper"),
        (format!("SELECT * FROM {}claims{}", many("(SELECT * FROM ", 300, ""), many(")", 300, "")), "nest no deeper"),
        (format!("SELECT {}", many("1", 101, ",")), "at most 100"),
        (many("SELECT 1", 100, " UNION "), "compound"),
        (format!("VALUES {}", many("(1)", 8000, ",")), "json_each"),
        (format!("SELECT 1 -- {}", many("x", 40_000, "")), "at most 32768"),
        (format!("SELECT coalesce({})", many("1", 60, ",")), "too many arguments"),
        ("SELECT :a, ?200".to_owned(), "variable number"),
        ("SELECT hex(printf('%.*c', 100000, 'x'))".to_owned(), "131072 bytes"),
        ("SELECT printf('%1000000000d', 1)".to_owned(), "131072 bytes"),
        ("SELECT printf('%.1000000000f', 1.5)".to_owned(), "131072 bytes"),
        ("SELECT replace(printf('%.*c', 100000, 'x'), 'x', 'yz')".to_owned(), "131072 bytes"),
        (
            "WITH RECURSIVE t(s) AS (SELECT 'x' UNION ALL SELECT s || s FROM t) SELECT length(s) FROM t".to_owned(),
            "131072 bytes",
        ),
        (format!("SELECT count(*) FROM {}", many("claims", 70, ", ")), "join"),
        (format!("SELECT printf('%.*c', 1000, 'x') LIKE '{}'", many("%x", 600, "")), "pattern"),
        ("SELECT count(*) FROM json_tree('[1]', '$[0]')".to_owned(), "no such table: json_tree"),
        (
            "SELECT count(*) FROM main.json_tree('[1]', '$[0]') JOIN (SELECT '$' AS path) USING (path)".to_owned(),
            "no such table: main.json_tree",
        ),
    ];
    for (sql, told) in cases {
        let short: String = sql.chars().take(60).collect();
        within(AT_ONCE, 1.0, &short, || {
            let (error, hint) = refusal(&pair.shared, &sql);
            assert!(format!("{error}; {hint}").contains(told), "{short}: {error}; {hint}");
        });
    }
}

#[test]
fn whoever_asked_can_stop_waiting() {
    let pair = pair();
    let started = Instant::now();
    let timeout = LONGEST_SQL_TIME;
    let query = SqlQuery { timeout, ..SqlQuery::new(format!("{ENDLESS}SELECT count(*) FROM t")) };
    let error = pair.shared.query_sql(HERE, &query, &|| started.elapsed() > Duration::from_millis(30)).unwrap_err();
    assert!(matches!(&error, StoreError::Sql { error, .. } if error.contains("cancelled")), "{error}");
    assert!(started.elapsed() < timeout, "{:?}", started.elapsed());
}

/// Runs a test of this file in a process of its own, which has the variable, and returns `true`; `false` in that process.
fn ran_alone(test: &str, variable: &str, expected: &str) -> bool {
    if std::env::var_os(variable).is_some() {
        return false;
    }
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", &format!("bombs::{test}"), "--nocapture"]).env(variable, "1");
    let child = child.output().unwrap();
    let told = String::from_utf8_lossy(&child.stdout) + String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success() && told.contains(expected), "{told}");
    true
}

/// The resident memory of a separate process that runs the greediest statements stays under the stated bound: 32 MB a
/// statement on top of the process's own, and at most four of them at a time.
#[cfg(target_os = "linux")]
#[test]
fn memory_stays_under_the_stated_bound() {
    const VARIABLE: &str = "TAMIS_TEST_GREEDY";
    let status = |key: &str| -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with(key)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    if ran_alone("memory_stays_under_the_stated_bound", VARIABLE, "greatest") {
        return;
    }
    // Abandoned statements end by themselves; each statement is measured alone.
    let wait = || {
        let runs = |task: std::io::Result<std::fs::DirEntry>| {
            task.and_then(|task| std::fs::read_to_string(task.path().join("comm")))
                .is_ok_and(|name| name.starts_with("tamis-sql"))
        };
        while std::fs::read_dir("/proc/self/task").unwrap().any(runs) {
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    let pair = pair();
    // A first run, so that one-time allocations exist.
    rows(&pair.shared, "SELECT count(*) FROM claims");
    let before = status("VmRSS");
    let mut greedy = Vec::new();
    for sql in endless() {
        let error = ask_within(&pair.shared, &sql, 1000).expect_err(&sql).to_string();
        if error.contains("of memory") {
            greedy.push(sql);
        }
        wait();
    }
    let one = status("VmHWM") - before;
    assert!(greedy.len() >= 3, "{greedy:?}");
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (pair, greedy) = (&pair, &greedy);
            scope.spawn(move || ask_within(&pair.shared, &greedy[thread % greedy.len()], 1000).unwrap_err());
        }
    });
    let many = status("VmHWM") - before;
    println!("greatest: {one} KiB for one, {many} KiB for as many as run at a time");
    assert!(one < 48 * 1024, "{one} KiB");
    // Four with a waiting caller, and three that ran out of time and have not ended. The rest of each is its thread and its copy.
    assert!(many < (7 * 33 + 16) * 1024, "{many} KiB");
}

/// If SQLite was in use before, its allocator is fixed, and its total memory is checked instead.
#[test]
fn memory_is_bounded_also_where_sqlite_was_in_use_before() {
    const VARIABLE: &str = "TAMIS_TEST_LATE";
    if ran_alone("memory_is_bounded_also_where_sqlite_was_in_use_before", VARIABLE, "1 passed") {
        return;
    }
    let first = rusqlite::Connection::open_in_memory().unwrap();
    first.execute_batch("CREATE TABLE t(x)").unwrap();
    let pair = pair();
    let sql = format!("{ENDLESS}SELECT x FROM t ORDER BY printf('%.*c', 100000, 'x') || x");
    let error = ask_within(&pair.shared, &sql, 2000).unwrap_err().to_string();
    assert!(error.contains("more than 32 MB of memory"), "{error}");
    assert_eq!(rows(&pair.shared, "SELECT count(*) FROM claims"), [[SqlValue::Integer(25)]]);
}

/// A writer does not block statements, nor they the writer.
#[test]
fn writing_goes_on_beside_statements() {
    let pair = pair();
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            for _ in 0..50 {
                let rows = rows(&pair.shared, "SELECT count(*) FROM claims");
                assert!(matches!(rows[0][0], SqlValue::Integer(25..=60)), "{rows:?}");
            }
        });
        for claims in 26..=60 {
            if claims % 5 == 0 {
                fill(&pair.shared, HERE, "", claims);
            }
        }
        asking.join().unwrap();
    });
    assert_eq!(rows(&pair.shared, "SELECT count(*) FROM claims"), [[SqlValue::Integer(60)]]);
}
