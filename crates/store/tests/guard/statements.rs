//! Every kind of statement in SQLite, texts that are more or less than one, and statements made from a grammar: none panics, writes,
//! overruns its time or reveals another namespace.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use crate::common::*;

/// The beginning of an error, and the statements that it refuses.
const REFUSED: &[(&str, &[&str])] = &[
    ("ALTER TABLE is not allowed", &["ALTER TABLE claims ADD COLUMN x"]),
    (
        "changing the schema is not allowed",
        &["ANALYZE", "CREATE TABLE t(x)", "CREATE TEMP TABLE t(x)", "CREATE VIEW v AS SELECT 1", "DROP VIEW claims"],
    ),
    ("ATTACH is not allowed", &["ATTACH '/etc/passwd' AS x"]),
    ("BEGIN, COMMIT or ROLLBACK is not allowed", &["BEGIN", "COMMIT"]),
    ("SAVEPOINT is not allowed", &["SAVEPOINT x"]),
    (
        "",
        &[
            "CREATE INDEX i ON claims(id)", "CREATE VIRTUAL TABLE v USING fts5(x)", "DROP TABLE evidence_claims",
            "INSERT INTO claims(id) VALUES ('x')", "REINDEX", "UPDATE claims SET text = ''", "VACUUM",
            "VACUUM INTO '/tmp/stolen.db'",
        ],
    ),
    ("", &["CREATE TEMP TRIGGER r INSTEAD OF INSERT ON claims BEGIN SELECT 1; END"]),
    ("", &["WITH x AS (SELECT 1) DELETE FROM claims RETURNING *"]),
    ("", &["INSERT OR REPLACE INTO main.evidence_claims SELECT * FROM claims"]),
    ("", &["UPDATE main.evidence_claims SET text = '' RETURNING text"]),
    ("DELETE is not allowed", &["DELETE FROM claims"]),
    ("no such table: main.evidence_claims", &["DELETE FROM main.evidence_claims"]),
    ("DETACH is not allowed", &["DETACH main"]),
    ("no such view: documents", &["DROP VIEW documents"]),
    ("EXPLAIN is not allowed", &["EXPLAIN SELECT * FROM claims"]),
    ("PRAGMA is not allowed", &["PRAGMA query_only = 0", "PRAGMA writable_schema = 1"]),
    ("no such function here: load_extension", &["SELECT load_extension('x.so')"]),
    ("no such function here: writefile", &["SELECT writefile('/tmp/x', 'y')"]),
    ("no such function here: random", &["SELECT random()"]),
    ("no such function here: zeroblob", &["SELECT zeroblob(1000000000)"]),
    ("no such function here: fts3_tokenizer", &["SELECT fts3_tokenizer('simple')"]),
    ("no such function here: changes", &["SELECT changes(), total_changes(), last_insert_rowid()"]),
    ("no such function here: match", &["SELECT text MATCH 'x' FROM claims"]),
    ("no such function here: REGEXP", &["SELECT text REGEXP 'x' FROM claims"]),
    ("no such function here: json_pretty", &["SELECT json_pretty('[]'), json_patch('{}', '{}')"]),
    ("there is no statement", &["", " \n\t ", "-- nothing", "/* nothing", ";;;"]),
    (
        "there is text after the statement",
        &["SELECT 1; SELECT 2", "SELECT 1; DROP TABLE claims", "SELECT 1 /* */; /* */ SELECT 2"],
    ),
    ("the statement holds a NUL character", &["SELECT 1\0; DROP TABLE claims"]),
    ("unrecognized token", &["SELECT 'unfinished", "SELECT \"unfinished", "SELECT x'abc'"]),
    ("near \"nonsense\": syntax error (line 1, column 1)", &["nonsense"]),
    ("parameter 1 has no name", &["SELECT ?", "SELECT ?1"]),
];

#[test]
fn what_does_not_read_is_refused_and_changes_nothing() {
    let pair = pair();
    let before = contents(pair.shared.directory());
    let refused = REFUSED.iter().flat_map(|(beginning, all)| all.iter().map(move |sql| (sql, beginning)));
    for (sql, beginning) in refused {
        let (error, hint) = refusal(&pair.shared, sql);
        assert!(error.starts_with(beginning), "{sql}: {error}");
        for told in [&error, &hint] {
            let is_silent = !told.contains("index_") && !told.contains("evidence_");
            assert!(is_silent || sql.contains("evidence_"), "{sql}: {told}");
        }
    }
    assert!(before == contents(pair.shared.directory()), "the database changed");
    assert!(!std::path::Path::new("/tmp/stolen.db").exists());
    assert_eq!(rows(&pair.shared, "SELECT count(*) FROM claims"), [[SqlValue::Integer(25)]]);
}

/// Words and signs that look dangerous but are harmless: the guard does not read text.
#[test]
fn trap_words_in_texts_names_and_comments_are_only_words() {
    let pair = pair();
    let expected = [
        ("SELECT 'DROP TABLE claims; --'", "DROP TABLE claims; --"),
        ("SELECT replace('delete', 'delete', 'update')", "update"),
        ("SELECT 'it''s; PRAGMA x'", "it's; PRAGMA x"),
        ("SELECT 'a' AS \"INSERT INTO\"", "a"),
        ("SELECT 'a' /* ; DELETE FROM claims; */ -- ATTACH", "a"),
        ("SELECT 'a';", "a"),
        ("SELECT 'a' ; ; -- and that is all\n", "a"),
        ("  /* first */ SELECT 'a'", "a"),
        ("\u{feff}SELECT 'a'", "a"),
        ("WITH \"attach\" AS (SELECT 'a' AS \"vacuum\") SELECT \"vacuum\" FROM \"attach\"", "a"),
        ("VALUES ('a')", "a"),
        ("SELECT 'a' WHERE 'pragma' LIKE 'PRAG%'", "a"),
    ];
    for (sql, value) in expected {
        assert_eq!(rows(&pair.shared, sql), [[text(value)]], "{sql}");
    }
}

/// Tables that all have a column `id`, and sometimes one that lacks it or that nobody may read.
fn table() -> impl Strategy<Value = String> {
    prop_oneof![
        20 => prop::sample::select(vec!["claims", "fragments", "tasks", "works", "pages", "main.claims", "t0"]),
        1 => prop::sample::select(vec![
            "edges", "embeddings", "documents", "main.evidence_claims", "evidence_claims", "sqlite_schema",
            "temp.sqlite_schema", "pragma_database_list", "json_each('[1,2]')", "texts", "vectors", "meta", "dbstat",
        ]),
    ]
    .prop_map(str::to_owned)
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        20 => prop::sample::select(vec!["a.id", "1", "NULL", "'x'", "0.5", "'1'", "-7"]),
        1 => prop::sample::select(vec![
            "id", "text", "namespace", "rowid", "*", "a.*", "b.id", "count(*)", "path", "sql", "name", ":p", "x'00ff'",
        ]),
    ]
    .prop_map(str::to_owned)
}

fn expression() -> impl Strategy<Value = String> {
    value().prop_recursive(3, 10, 3, |inner| {
        let sign = prop::sample::select(vec!["=", "<", "||", "+", "/", "LIKE", "GLOB", "IS", "AND", "OR"]);
        let function = prop_oneof![
            20 => prop::sample::select(vec!["length", "upper", "hex", "quote", "trim", "typeof", "abs"]),
            1 => prop::sample::select(vec!["random", "load_extension", "json", "max", "zeroblob"]),
        ];
        prop_oneof![
            (inner.clone(), sign, inner.clone()).prop_map(|(a, sign, b)| format!("({a} {sign} {b})")),
            (function, inner.clone()).prop_map(|(function, a)| format!("{function}({a})")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| format!("CASE WHEN {a} THEN {b} ELSE {c} END")),
            (inner.clone(), table()).prop_map(|(a, table)| format!("({a} IN (SELECT id FROM {table}))")),
            (inner.clone(), table()).prop_map(|(a, table)| format!("(SELECT {a} FROM {table} AS a LIMIT 1)")),
            (inner, table()).prop_map(|(a, table)| format!("EXISTS (SELECT 1 FROM {table} WHERE {a})")),
        ]
    })
}

fn source() -> impl Strategy<Value = String> {
    let join = prop::sample::select(vec![",", "JOIN", "LEFT JOIN", "NATURAL JOIN", "NATURAL FULL JOIN", "CROSS JOIN"]);
    let how = prop_oneof![10 => Just(""), 1 => prop::sample::select(vec!["USING (id)", "USING (namespace)", "ON a.id = b.id"])];
    prop_oneof![
        2 => table().prop_map(|table| format!("{table} AS a")),
        2 => (table(), join, table(), how).prop_map(|(a, join, b, how)| format!("{a} AS a {join} {b} AS b {how}")),
        1 => (expression(), table()).prop_map(|(a, table)| format!("(SELECT {a} AS id FROM {table} AS a) AS a")),
    ]
}

fn select() -> impl Strategy<Value = String> {
    let maybe = || prop::option::of(expression());
    (prop::collection::vec(expression(), 1..3), source(), maybe(), maybe(), maybe()).prop_map(
        |(columns, source, filter, group, order)| {
            let clause = |word: &str, what: Option<String>| what.map(|it| format!(" {word} {it}")).unwrap_or_default();
            let (filter, group, order) =
                (clause("WHERE", filter), clause("GROUP BY", group), clause("ORDER BY", order));
            format!("SELECT {} FROM {source}{filter}{group}{order}", columns.join(", "))
        },
    )
}

fn statement() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => select(),
        2 => (select(), prop::sample::select(vec!["UNION", "UNION ALL", "EXCEPT", "INTERSECT"]), select())
            .prop_map(|(a, word, b)| format!("{a} {word} {b}")),
        2 => (select(), select()).prop_map(|(a, b)| format!("WITH t0(id) AS ({a}), claims(id) AS ({b}) SELECT * FROM t0, claims")),
        1 => select().prop_map(|a| format!("WITH RECURSIVE t1(id) AS ({a} UNION ALL SELECT id + 1 FROM t1) SELECT * FROM t1")),
        1 => select().prop_map(|a| format!("INSERT INTO claims {a}")),
        1 => select().prop_map(|a| format!("CREATE TEMP TABLE x AS {a}")),
        1 => select().prop_map(|a| format!("{a}; {a}")),
        1 => select().prop_map(|a| format!("EXPLAIN {a}")),
        // A statement cut anywhere, and signs at random.
        1 => (select(), any::<prop::sample::Index>()).prop_map(|(a, at)| a.chars().take(at.index(a.len())).collect()),
        1 => "\\PC{0,60}",
        1 => "[a-z0-9 '\"();,.*=<>|/:?@$%\\[\\]`-]{0,80}",
    ]
}

#[test]
fn no_statement_panics_writes_runs_on_or_tells_of_another_namespace() {
    let pair = pair();
    let before = contents(pair.shared.directory());
    let told = |store: &EmbeddedStore, sql: &str| {
        ask_within(store, sql, 40).map(|rows| (rows.columns, rows.rows)).map_err(|error| error.to_string())
    };
    let ended = |error: &str| error.contains("takes longer") || error.contains("of memory");
    let mut runner = proptest::test_runner::TestRunner::new_with_rng(
        ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() },
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let answered = std::cell::Cell::new(0);
    runner
        .run(&statement(), |sql| {
            let started = Instant::now();
            let shared = told(&pair.shared, &sql);
            // A thousand times its time limit: only an endless statement takes so long on any machine.
            prop_assert!(started.elapsed() < Duration::from_secs(40), "{:?}", started.elapsed());
            let alone = told(&pair.alone, &sql);
            answered.set(answered.get() + u32::from(shared.is_ok()));
            match (&shared, &alone) {
                // A statement's progress within its time does not depend on what it sees.
                (Err(error), _) | (_, Err(error)) if ended(error) => {}
                _ => prop_assert_eq!(&shared, &alone),
            }
            let shared = format!("{shared:?}");
            prop_assert!(!shared.contains(SECRET) && !shared.contains("index_"), "{}", shared);
            Ok(())
        })
        .unwrap();
    assert!(before == contents(pair.shared.directory()), "the database changed");
    // Most statements of the grammar are refused; a good part has to run for this test to mean anything.
    assert!(answered.get() > 150, "only {} statements ran", answered.get());
}
