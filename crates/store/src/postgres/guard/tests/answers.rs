//! The answer of a statement: rows, limits, values, and errors with a remedy.

use super::*;
use crate::sql::{LEAST_SQL_BYTES, MOST_SQL_BYTES};
use crate::sql_tables::SQL_TABLES;

fn limited(store: &TestStore, sql: &str, limit: usize) -> SqlRows {
    let asked = SqlQuery { limit, timeout: Duration::from_secs(1), ..SqlQuery::new(sql) };
    query(&store.connections, HERE, &asked, &|| false).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

#[test]
fn truncation_by_a_limit_is_stated_and_the_statements_own_limit_is_none() {
    let Some(store) = shared() else { return };
    for (sql, limit, count, truncated) in [
        ("SELECT id FROM claims", 10, 10, true),
        ("SELECT id FROM claims LIMIT 10", 10, 10, false),
        ("SELECT id FROM claims LIMIT 7 OFFSET 20", 10, 5, false),
        ("SELECT id FROM claims LIMIT 20, 7", 10, 5, false),
        ("SELECT id FROM claims LIMIT -1", 25, 25, false),
        ("SELECT id FROM claims WHERE 0", 25, 0, false),
    ] {
        let given = limited(&store, sql, limit);
        assert_eq!(
            (given.columns, given.row_count, given.truncated),
            (vec!["id".to_owned()], count, truncated),
            "{sql}"
        );
    }
}

#[test]
fn values_are_those_of_the_embedded_store_and_long_ones_are_marked() {
    let Some(store) = shared() else { return };
    let given = limited(
        &store,
        "SELECT NULL, 7, 0.5, 'é', x'00ff', 9e999, -9e999, 1 = 1, 7 / 2, 7 / 0, 2 * 0.5, 'a\\b''c', repeat('é', 3000)",
        1,
    );
    let expected = [
        SqlValue::Null,
        number(7),
        SqlValue::Real(0.5),
        text("é"),
        text("x'00ff'"),
        text("Inf"),
        text("-Inf"),
        number(1),
        number(3),
        SqlValue::Null,
        SqlValue::Real(1.0),
        text("a\\b'c"),
        text(&format!("{}… (3000 characters)", "é".repeat(2000))),
    ];
    assert_eq!(given.rows, [expected]);
    assert_eq!(given.shortened, 1);
    let given = limited(
        &store,
        "SELECT 1 AS Foo, 'x' || 'y', c.id, count(*) AS \"N N\", sum(confidence) FROM claims c GROUP BY 3",
        1,
    );
    assert_eq!(given.columns, ["Foo", "'x' || 'y'", "id", "N N", "sum(confidence)"]);
    assert_eq!(
        limited(&store, "SELECT t.*, 1 + 1 FROM tasks t", 1).columns,
        ["id", "question", "status", "created_at", "1 + 1"]
    );
}

#[test]
fn an_answer_is_bounded_as_a_whole() {
    let Some(store) = shared() else { return };
    let wide = vec!["repeat('x', 2000)"; 99].join(", ");
    let given = limited(&store, &format!("SELECT {wide} FROM claims"), 25);
    assert!(given.truncated && given.row_count >= 1 && given.row_count < 8, "{}", given.row_count);
    let asked = SqlQuery { max_bytes: LEAST_SQL_BYTES, ..SqlQuery::new(format!("SELECT {wide} FROM claims")) };
    let given = query(&store.connections, HERE, &asked, &|| false).unwrap();
    assert!(given.row_count == 1 && given.shortened == 99, "{given:?}");
    for most in [0, LEAST_SQL_BYTES - 1, MOST_SQL_BYTES + 1] {
        let asked = SqlQuery { max_bytes: most, ..SqlQuery::new("SELECT 1") };
        assert!(query(&store.connections, HERE, &asked, &|| false).is_err());
    }
}

#[test]
fn parameters_are_bound_by_name() {
    let Some(store) = shared() else { return };
    let ask = |sql: &str, parameters: &[(&str, SqlValue)]| {
        let parameters = parameters.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        query(&store.connections, HERE, &SqlQuery { parameters, ..SqlQuery::new(sql) }, &|| false)
    };
    let sql = "SELECT count(*) FROM claims WHERE id = :id OR confidence > @least OR text = $text";
    let given = ask(sql, &[("id", text("c1")), ("least", SqlValue::Real(0.235)), ("text", text("claim 3"))]).unwrap();
    assert_eq!(given.rows, [[number(3)]]);
    let hostile = "'; DROP TABLE claims; --\\";
    let given = ask("SELECT :x, :y, :x, :n + 1", &[("x", text(hostile)), ("n", number(i64::MAX - 1))]).unwrap();
    assert_eq!(given.rows, [[text(hostile), SqlValue::Null, text(hostile), number(i64::MAX)]]);
    let error = ask("SELECT :task", &[("tsak", SqlValue::Null)]).unwrap_err().to_string();
    assert_eq!(error, "the statement has no parameter tsak; did you mean task? it has task");
    let error = ask("SELECT :x", &[("x", text(&"x".repeat(200_000)))]).unwrap_err().to_string();
    assert!(error.contains("131072"), "{error}");
}

#[test]
fn errors_name_the_nearest_that_would_do() {
    let Some(store) = shared() else { return };
    let cases = [
        ("SELECT * FROM clams", "no such table: clams", "did you mean claims? the tables are tasks, works"),
        ("SELECT tekst FROM claims", "no such column: tekst", "did you mean text? claims has id, task_id, text"),
        ("SELECT c.confidance FROM claims c", "no such column: confidance", "did you mean confidence? claims has"),
        ("SELECT venue FROM claims", "no such column: venue", "claims has id"),
        ("SELECT lenght(text) FROM claims", "no such function here: lenght", "did you mean length"),
        ("SELECT id\nFROM claims\n WERE 1", "near \"1\": syntax error (line 3, column 7)", ""),
        ("DROP TABLE claims", "DROP is not allowed", "one SELECT"),
    ];
    for (sql, error, hint) in cases {
        let (told, meant) = refusal(&store, sql);
        assert!(told.starts_with(error) && meant.contains(hint), "{sql}: {told}; {meant}");
    }
    let long = "x".repeat(20_000);
    for sql in [format!("SELECT {long} FROM claims"), format!("SELECT * FROM {long}"), format!("SELECT \"{long}")] {
        let (error, hint) = refusal(&store, &sql);
        assert!(error.chars().count() < 1100 && hint.chars().count() < 1100, "{error}; {hint}");
    }
}

#[test]
fn the_tables_are_what_is_said_of_them() {
    let Some(store) = shared() else { return };
    for table in SQL_TABLES {
        let given = limited(&store, &format!("SELECT * FROM {}", table.name), 200);
        let said: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        assert_eq!(given.columns, said, "{}", table.name);
        for column in table.columns {
            let sql = format!("SELECT DISTINCT typeof({}) FROM {} WHERE 1", column.name, table.name);
            for row in limited(&store, &sql, 5).rows {
                assert!(row == [text(column.kind)] || row == [text("null")], "{}.{}: {row:?}", table.name, column.name);
            }
        }
    }
    let sql = "SELECT count(*), count(DISTINCT target_id), min(hex(embedding_blob)), max(dimension) FROM embeddings";
    assert_eq!(rows(&store, sql), [[number(50), number(50), text("0000803F000000BF"), number(2)]]);
}

/// What the embedded store answers to the same statements.
#[test]
fn statements_mean_what_they_mean_in_the_embedded_store() {
    let Some(store) = shared() else { return };
    let real = SqlValue::Real;
    for (sql, expected) in [
        (
            "SELECT 'ABC' LIKE 'a_c', 'a%' LIKE 'a\\%', 'a%c' LIKE 'a!%c' ESCAPE '!'",
            vec![number(1), number(0), number(1)],
        ),
        (
            "SELECT substr('héllo', 2, 3), substr('hello', -3), substr('hello', 0, 3), substr('hello', 4, -2)",
            vec![text("éll"), text("llo"), text("he"), text("el")],
        ),
        (
            "SELECT iif(0, 1, 2), iif(NULL, 1, 2), iif(1 > 0, 'y', 'n'), coalesce(NULL, 3), ifnull(NULL, 4)",
            vec![number(2), number(2), text("y"), number(3), number(4)],
        ),
        (
            "SELECT max(1, 2.5), min('b', 'a'), max(1, NULL), nullif(1, 1)",
            vec![real(2.5), text("a"), SqlValue::Null, SqlValue::Null],
        ),
        (
            "SELECT CAST('12abc' AS INTEGER), CAST('x' AS INTEGER), CAST(2.9 AS INTEGER), CAST(7 AS TEXT), CAST(1 AS REAL)",
            vec![number(12), number(0), number(2), text("7"), real(1.0)],
        ),
        (
            "SELECT sum(x), avg(x), total(x), count(x), max(x) FROM (SELECT 1 AS x UNION ALL SELECT 2 UNION ALL SELECT NULL)",
            vec![number(3), real(1.5), real(3.0), number(2), number(2)],
        ),
        (
            "SELECT sum(relation = 'refutes'), max(relation = 'refutes'), sum(relation = 'none') FROM edges",
            vec![number(9), number(1), number(0)],
        ),
        ("SELECT group_concat(id) FROM (SELECT id FROM claims ORDER BY id LIMIT 3)", vec![text("c0,c1,c10")]),
        ("SELECT group_concat(value, '; ') FROM works, json_each(authors)", vec![text("Ada; Bo")]),
        (
            "SELECT json_array_length(authors), authors ->> 1, typeof(year), year + 1 FROM works",
            vec![number(2), text("Bo"), text("integer"), number(2000)],
        ),
        (
            "SELECT instr('hello', 'l'), replace('aaa', 'a', 'bc'), trim('  x '), rtrim('xyy', 'y'), upper('é a'), hex('ab')",
            vec![number(3), text("bcbcbc"), text("x"), text("x"), text("é A"), text("6162")],
        ),
        (
            "SELECT round(2.5), round(-2.5), round(1.255, 2), floor(-1.5), sqrt(-1), ln(0), pow(2, 10), abs(-3), sign(-2)",
            vec![
                real(3.0),
                real(-3.0),
                real(1.26),
                real(-2.0),
                SqlValue::Null,
                SqlValue::Null,
                real(1024.0),
                number(3),
                number(-1),
            ],
        ),
        (
            "SELECT 1 IS NULL, NULL IS NULL, 1 IS 1, NULL IS NOT 1, 5 BETWEEN 1 AND 9, 3 NOT IN (1, 2), (1, 2) < (1, 3)",
            vec![number(0), number(1), number(1), number(1), number(1), number(1), number(1)],
        ),
    ] {
        assert_eq!(rows(&store, sql), [expected], "{sql}");
    }
    let ordered = "SELECT x FROM (SELECT 1 AS x UNION ALL SELECT NULL UNION ALL SELECT 2) ORDER BY x DESC";
    assert_eq!(rows(&store, ordered), [[number(2)], [number(1)], [SqlValue::Null]]);
    let grouped = "SELECT c.task_id, c.id, count(*) AS n FROM claims c JOIN edges e ON e.target_id = c.id GROUP BY c.id \
                   HAVING n > 0 ORDER BY n + 1 DESC, c.id LIMIT 2";
    assert_eq!(rows(&store, grouped), [[text("t1"), text("c0"), number(1)], [text("t1"), text("c1"), number(1)]]);
    let windows = "SELECT id, row_number() OVER (ORDER BY id), lag(id, 1, 'none') OVER w FROM claims \
                   WINDOW w AS (ORDER BY id) ORDER BY 1 LIMIT 2";
    assert_eq!(rows(&store, windows), [[text("c0"), number(1), text("none")], [text("c1"), number(2), text("c0")]]);
    let recursive = "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t WHERE x < 5) SELECT sum(x) FROM t";
    assert_eq!(rows(&store, recursive), [[number(15)]]);
    let filtered = "SELECT count(*) FILTER (WHERE relation = 'refutes'), count(DISTINCT target_id) FROM edges e \
                    WHERE EXISTS (SELECT 1 FROM claims c WHERE c.id = e.target_id) AND NOT source_id IS NULL";
    assert_eq!(rows(&store, filtered), [[number(9), number(25)]]);
}
