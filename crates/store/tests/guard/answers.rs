//! The answer of a statement: rows, limits, values, and errors with a remedy.

use std::time::Duration;

use crate::common::*;

fn limited(store: &EmbeddedStore, sql: &str, limit: usize) -> SqlRows {
    store.query_sql(HERE, &SqlQuery { limit, ..SqlQuery::new(sql) }, &|| false).unwrap()
}

#[test]
fn trap_truncation_is_told_and_a_limit_of_ones_own_is_none() {
    let pair = pair();
    let given = limited(&pair.shared, "SELECT id FROM claims", 10);
    assert_eq!((given.row_count, given.rows.len(), given.truncated), (10, 10, true));
    for (own, limit, rows) in [(" LIMIT 10", 10, 10), (" LIMIT 7 OFFSET 20", 10, 5), ("", 25, 25)] {
        let given = limited(&pair.shared, &format!("SELECT id FROM claims{own}"), limit);
        assert_eq!((given.row_count, given.truncated), (rows, false), "{own}");
    }
    let given = limited(&pair.shared, "SELECT id FROM claims WHERE 0", 25);
    assert_eq!((given.columns, given.row_count, given.truncated), (vec!["id".to_owned()], 0, false));
}

#[test]
fn values_are_given_as_they_are_and_long_ones_are_marked() {
    let pair = pair();
    let sql = "SELECT NULL, 7, 0.5, 'é', x'00ff', CAST(x'66ff6f' AS TEXT), 9e999, -9e999, printf('%.*c', 3000, 'é')";
    let given = limited(&pair.shared, sql, 1);
    assert_eq!(given.shortened, 1);
    let [row] = given.rows.as_slice() else { panic!("{given:?}") };
    assert_eq!(row[..3], [SqlValue::Null, SqlValue::Integer(7), SqlValue::Real(0.5)]);
    assert_eq!(row[3..8], ["é", "x'00ff'", "f\u{fffd}o", "Inf", "-Inf"].map(text));
    assert_eq!(row[8], text(&format!("{}… (3000 characters)", "é".repeat(2000))));
    let given = limited(&pair.shared, "SELECT CAST(printf('%.*c', 3000, 'a') AS BLOB), x''", 1);
    let SqlValue::Text(bytes) = &given.rows[0][0] else { panic!("{given:?}") };
    assert!(bytes.starts_with("x'6161") && bytes.ends_with("61… (3000 bytes)") && bytes.len() < 2100, "{bytes}");
    assert_eq!((given.rows[0][1].clone(), given.shortened), (text("x''"), 1));
}

#[test]
fn an_answer_is_bounded_as_a_whole() {
    let pair = pair();
    let wide = vec!["printf('%.*c', 2000, 'x')"; 100].join(", ");
    let sql = format!("SELECT {wide} FROM claims");
    let given = limited(&pair.shared, &sql, 25);
    assert!(given.truncated && given.row_count >= 1 && given.row_count < 8, "{}", given.row_count);
    // The limit counts JSON bytes: here six a character.
    let most = LEAST_SQL_BYTES;
    let wide = vec!["printf('%.*c', 2000, char(1)) AS \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\""; 99].join(", ");
    let long_names: Vec<String> = (0..99).map(|at| format!("1 AS \"{}{at}\"", "é".repeat(90))).collect();
    for (sql, complete) in [
        (format!("SELECT {wide} FROM claims"), false),
        ("SELECT text, printf('%.*c', 400, '\"') FROM claims".to_owned(), false),
        (format!("SELECT {} FROM claims", vec!["NULL"; 100].join(", ")), true),
        (format!("SELECT 1 AS \"{}\"", "\u{1}".repeat(20_000)), true),
        (format!("SELECT {}", long_names.join(", ")), true),
    ] {
        let query = SqlQuery { limit: 200, max_bytes: most, ..SqlQuery::new(&sql) };
        let given = pair.shared.query_sql(HERE, &query, &|| false).unwrap_or_else(|error| panic!("{sql:.60}: {error}"));
        let names: usize = given.columns.iter().map(|name| json_bytes(&text(name))).sum();
        let bytes = names + given.rows.iter().flatten().map(json_bytes).sum::<usize>();
        assert!(bytes <= most, "{sql:.60}: {bytes}");
        assert!(given.row_count > 0 && given.truncated != complete, "{sql:.60}: {}", given.row_count);
        assert!(given.columns.iter().all(|name| name.chars().count() < 130), "{sql:.60}");
    }
    let given = limited(&pair.shared, &format!("SELECT '{}'", "x".repeat(5000)), 1);
    assert_eq!(given.columns, [format!("'{}… (5002 characters)", "x".repeat(99))]);
    for most in [0, most - 1, MOST_SQL_BYTES + 1] {
        let query = SqlQuery { max_bytes: most, ..SqlQuery::new("SELECT 1") };
        let error = pair.shared.query_sql(HERE, &query, &|| false).unwrap_err().to_string();
        assert!(error.contains(&format!("max_bytes = {most}: must be from 16384 to 1048576")), "{error}");
    }
}

/// The size of a value as JSON, by the rules of JSON alone.
fn json_bytes(value: &SqlValue) -> usize {
    let SqlValue::Text(text) = value else { return 4 };
    text.chars()
        .map(|character| match character {
            '"' | '\\' => 2,
            '\0'..='\x1f' => 6,
            other => other.len_utf8(),
        })
        .sum::<usize>()
        + 3
}

#[test]
fn an_error_is_no_longer_than_a_message_should_be() {
    let pair = pair();
    let long = "x".repeat(20_000);
    for sql in [
        format!("SELECT {long} FROM claims"),
        format!("SELECT * FROM {long}"),
        format!("SELECT {long}(1)"),
        format!("SELECT \"{long}"),
        format!("SELECT 1 {long} {long:.100} 2"),
    ] {
        let (error, hint) = refusal(&pair.shared, &sql);
        assert!(error.chars().count() < 1100 && hint.chars().count() < 1100, "{error}; {hint}");
    }
}

#[test]
fn parameters_are_bound_by_name() {
    let pair = pair();
    let ask = |sql: &str, parameters: &[(&str, SqlValue)]| {
        let parameters = parameters.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        pair.shared.query_sql(HERE, &SqlQuery { parameters, ..SqlQuery::new(sql) }, &|| false)
    };
    let sql = "SELECT count(*) FROM claims WHERE id = :id OR confidence > @least OR text = $text";
    let given = ask(sql, &[("id", text("c1")), ("least", SqlValue::Real(0.235)), ("text", text("claim 3"))]).unwrap();
    assert_eq!(given.rows, [[SqlValue::Integer(3)]]);
    let given = [("x", text("'; DROP TABLE claims; --")), ("y", SqlValue::Null)];
    let given = ask("SELECT :x, :y, :x", &given).unwrap();
    assert_eq!(given.rows, [[text("'; DROP TABLE claims; --"), SqlValue::Null, text("'; DROP TABLE claims; --")]]);
    let error = ask("SELECT :task", &[("tsak", SqlValue::Null)]).unwrap_err().to_string();
    assert_eq!(error, "the statement has no parameter tsak; did you mean task? it has task");
    let error = ask("SELECT :x, :task", &[("x", SqlValue::Null)]).unwrap_err().to_string();
    assert_eq!(error, "the parameter :task has no value; give it as task=VALUE");
    let error = ask("SELECT :x", &[("x", text(&"x".repeat(200_000)))]).unwrap_err().to_string();
    assert!(error.contains("131072"), "{error}");
}

#[test]
fn errors_say_what_would_do() {
    let pair = pair();
    let cases = [
        ("SELECT * FROM clams", "no such table: clams", "did you mean claims? the tables are tasks, works"),
        ("SELECT tekst FROM claims", "no such column: tekst", "did you mean text? claims has id, task_id, text"),
        ("SELECT c.confidance FROM claims c", "no such column: c.confidance", "did you mean confidence? claims has"),
        ("SELECT \"x\" FROM claims", "no such column: \"x\"", "claims has id"),
        ("SELECT source FROM edges", "no such column: source", "did you mean source_id"),
        ("SELECT lenght(text) FROM claims", "no such function here: lenght", "did you mean length?"),
        ("SELECT id\nFROM claims\n WERE 1", "near \"1\": syntax error (line 3, column 7)", ""),
        ("DROP TABLE claims", "", "one SELECT"),
    ];
    for (sql, error, hint) in cases {
        let (told, meant) = refusal(&pair.shared, sql);
        assert!(told.starts_with(error) && meant.contains(hint), "{sql}: {told}; {meant}");
    }
    for (limit, milliseconds) in [(0, 300), (201, 300), (50, 0), (50, 2001)] {
        let timeout = Duration::from_millis(milliseconds);
        let query = SqlQuery { limit, timeout, ..SqlQuery::new("SELECT 1") };
        let refused = pair.shared.query_sql(HERE, &query, &|| false);
        assert!(matches!(refused, Err(StoreError::Sql { hint: Some(_), .. })), "{limit} {milliseconds}: {refused:?}");
    }
}

#[test]
fn the_tables_are_what_is_said_of_them() {
    let pair = pair();
    for table in SQL_TABLES {
        let given = limited(&pair.shared, &format!("SELECT * FROM {}", table.name), 200);
        let said: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        assert_eq!(given.columns, said, "{}", table.name);
        for column in table.columns {
            let sql = format!("SELECT DISTINCT typeof({}) FROM {} WHERE 1", column.name, table.name);
            for row in limited(&pair.shared, &sql, 5).rows {
                assert!(row == [text(column.kind)] || row == [text("null")], "{}.{}: {row:?}", table.name, column.name);
            }
        }
    }
    let embedded =
        "SELECT count(*), count(DISTINCT target_id), min(length(embedding_blob)), max(dimension) FROM embeddings";
    let number = SqlValue::Integer;
    assert_eq!(rows(&pair.shared, embedded), [[number(50), number(50), number(8), number(2)]]);
}

/// A read-only index, also in a directory that cannot be written.
#[test]
fn an_index_that_is_only_read_is_asked_alike() {
    let pair = pair();
    let directory = pair.shared.directory().to_owned();
    let reader = EmbeddedStore::open(&directory, Access::ReadOnly).unwrap();
    assert_eq!(rows(&reader, "SELECT count(*) FROM claims"), [[SqlValue::Integer(25)]]);
    drop(reader);
    drop(pair.shared);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let lock = |mode| std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(mode)).unwrap();
        lock(0o555);
        let reader = EmbeddedStore::open(&directory, Access::ReadOnly).unwrap();
        assert_eq!(rows(&reader, "SELECT count(*) FROM claims"), [[SqlValue::Integer(25)]]);
        drop(reader);
        lock(0o755);
    }
}
