//! Statements that want more time or memory than allowed.

use std::time::Instant;

use super::*;

/// Counts without end.
const ENDLESS: &str = "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) ";

/// `unit`, many times over.
fn many(unit: &str, times: usize, between: &str) -> String {
    vec![unit; times].join(between)
}

#[test]
fn what_has_no_end_is_ended_in_time() {
    let Some(store) = shared() else { return };
    let claims: Vec<String> = (0..60).map(|number| format!("claims c{number}")).collect();
    let doubled: Vec<String> =
        (0..7).map(|level| format!("t{} AS (SELECT p.x FROM t{level} p, t{level} q)", level + 1)).collect();
    let endless = [
        "SELECT count(*) FROM t",
        "SELECT x FROM t ORDER BY -x",
        "SELECT DISTINCT x FROM t ORDER BY 1",
        "SELECT count(*) FROM t GROUP BY x",
        "SELECT row_number() OVER (ORDER BY x % 7, -x) FROM t",
        "SELECT group_concat(x) FROM t",
        "SELECT json_group_array(repeat('x', 1000)) FROM t",
        "SELECT count(DISTINCT repeat('x', 100000) || x) FROM t",
        "SELECT x FROM t ORDER BY repeat('x', 100000) || x",
        "SELECT sum(length(replace(repeat('x', 60000), 'x', 'yz'))) FROM t",
        "SELECT x FROM t LIMIT 1 OFFSET 100000000000",
        "SELECT count(*) FROM t a JOIN t b ON a.x = -b.x",
        "SELECT count(*) FROM claims WHERE id IN (SELECT 'c' || -x FROM t)",
    ];
    let endless = endless.into_iter().map(|rest| format!("{ENDLESS}{rest}")).chain([
        format!("SELECT count(*) FROM {}", claims.join(", ")),
        format!("WITH t0 AS (SELECT 1 AS x UNION ALL SELECT 2), {} SELECT count(*) FROM t7", doubled.join(", ")),
        "WITH RECURSIVE t(x) AS (VALUES (1) UNION SELECT x + 1 FROM t) SELECT count(*) FROM t".to_owned(),
        "WITH RECURSIVE t(s) AS (SELECT 'x' UNION ALL SELECT s || 'y' FROM t) SELECT s FROM t ORDER BY 1".to_owned(),
        "SELECT count(*) FROM claims a, claims b, claims c, claims d, claims e, claims f WHERE a.text || c.text LIKE b.text || f.text".to_owned(),
        "SELECT group_concat(a.text || b.text || c.text || d.text) FROM claims a, claims b, claims c, claims d, claims e".to_owned(),
    ]);
    for sql in endless {
        let started = Instant::now();
        let error = ask_within(&store, &sql, 250).expect_err(&sql).to_string();
        let taken = started.elapsed();
        assert!(
            ["takes longer than 250 ms", "of memory", "is longer than", "nested too deep", "nest no deeper"]
                .iter()
                .any(|end| error.contains(end)),
            "{sql}: {error}"
        );
        // The server counts the time of preparing apart, and a busy machine takes its own.
        assert!(taken < Duration::from_millis(1500), "{sql}: {taken:?}");
    }
    assert_eq!(rows(&store, "SELECT count(*) FROM claims"), [[number(25)]]);
}

#[test]
fn what_is_too_large_is_refused() {
    let Some(store) = shared() else { return };
    for (sql, told) in [
        (format!("SELECT {}1{}", many("(", 3000, ""), many(")", 3000, "")), "nest no deeper"),
        (format!("SELECT {}", many("1", 3000, "+")), "nest no deeper"),
        (format!("SELECT {}", many("id = '1'", 1000, " OR ")), "nest no deeper"),
        (format!("SELECT {}1", many("NOT ", 3000, "")), "nest no deeper"),
        (format!("SELECT {}1", many("- ", 3000, "")), "nest no deeper"),
        (format!("SELECT {}1{}", many("abs(", 3000, ""), many(")", 3000, "")), "nest no deeper"),
        (format!("SELECT {}1{}", many("CASE WHEN 1 THEN ", 1000, ""), many(" END", 1000, "")), "nest no deeper"),
        (format!("SELECT {}1{}", many("(SELECT ", 500, ""), many(")", 500, "")), "nest no deeper"),
        (format!("SELECT * FROM {}claims{}", many("(SELECT * FROM ", 300, ""), many(")", 300, "")), "nest no deeper"),
        (format!("SELECT * FROM {}claims{}", many("(", 300, ""), many(")", 300, "")), "nest no deeper"),
        (format!("SELECT {}", many("1", 101, ",")), "at most 100"),
        (many("SELECT 1", 100, " UNION "), "compound"),
        (format!("SELECT 1 -- {}", many("x", 40_000, "")), "at most 32768"),
        (format!("SELECT coalesce({})", many("1", 60, ",")), "too many arguments"),
        ("SELECT hex(repeat('x', 100000))".to_owned(), "131072 bytes"),
        ("SELECT repeat('x', 1000000000)".to_owned(), "131072 bytes"),
        ("SELECT repeat(repeat('x', 100000), 1000)".to_owned(), "131072 bytes"),
        ("SELECT replace(repeat('x', 100000), 'x', 'yz')".to_owned(), "131072 bytes"),
        ("SELECT concat(repeat('x', 100000), repeat('x', 100000))".to_owned(), "131072 bytes"),
        (
            "WITH RECURSIVE t(s) AS (SELECT 'x' UNION ALL SELECT s || s FROM t) SELECT length(s) FROM t".to_owned(),
            "131072 bytes",
        ),
        (format!("SELECT count(*) FROM {}", many("claims", 70, ", ")), "join"),
        (format!("SELECT repeat('x', 1000) LIKE '{}'", many("%x", 600, "")), "pattern"),
        ("SELECT instr(repeat('a', 130000), repeat('a', 65000) || 'b')".to_owned(), "look for"),
        ("SELECT trim(repeat('a', 130000), repeat('b', 130000))".to_owned(), "look for"),
        (format!("SELECT json_array_length('{}')", many("[", 30_000, "")), "deep"),
    ] {
        let short: String = sql.chars().take(60).collect();
        let (error, hint) = refusal(&store, &sql);
        assert!(format!("{error}; {hint}").contains(told), "{short}: {error}; {hint}");
    }
}

#[test]
fn a_caller_can_stop_waiting() {
    let Some(store) = shared() else { return };
    let asked =
        SqlQuery { timeout: Duration::from_secs(2), ..SqlQuery::new(format!("{ENDLESS}SELECT count(*) FROM t")) };
    let started = Instant::now();
    let cancelled = || started.elapsed() > Duration::from_millis(30);
    let error = query(&store.connections, HERE, &asked, &cancelled).unwrap_err().to_string();
    assert!(error.contains("cancelled"), "{error}");
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    assert_eq!(rows(&store, "SELECT count(*) FROM claims"), [[number(25)]]);
}

#[test]
fn good_statements_are_answered_among_bad_ones() {
    let Some(store) = shared() else { return };
    let bad = [
        format!("{ENDLESS}SELECT count(*) FROM t"),
        format!("{ENDLESS}SELECT x FROM t ORDER BY -x"),
        "DROP TABLE claims".to_owned(),
        "SELECT count(*) FROM documents".to_owned(),
        "nonsense".to_owned(),
    ];
    std::thread::scope(|scope| {
        for thread in 0..6 {
            let (store, bad) = (&store, &bad);
            scope.spawn(move || {
                for round in 0..6 {
                    if (thread + round) % 2 == 0 {
                        let sql = "SELECT count(*) FROM claims c JOIN edges e ON e.target_id = c.id";
                        assert_eq!(rows(store, sql), [[number(25)]]);
                    } else {
                        ask_within(store, &bad[(thread * 6 + round) % bad.len()], 100).unwrap_err();
                    }
                }
            });
        }
    });
}
