//! Every kind of statement in SQLite, and texts that are more or less than one.

use crate::common::*;

/// Each with the beginning of its error.
const REFUSED: &[(&str, &str)] = &[
    ("ALTER TABLE claims ADD COLUMN x", "Cannot add a column to a view"),
    ("ALTER TABLE claims RENAME TO x", ""),
    ("ALTER TABLE evidence_claims DROP COLUMN text", ""),
    ("ANALYZE", "changing the schema is not allowed"),
    ("ANALYZE claims", ""),
    ("ATTACH '/etc/passwd' AS x", "ATTACH is not allowed"),
    ("ATTACH ':memory:' AS x", "ATTACH is not allowed"),
    ("ATTACH DATABASE 'file:x?mode=rwc' AS x KEY 'y'", "ATTACH is not allowed"),
    ("BEGIN", "BEGIN, COMMIT or ROLLBACK is not allowed"),
    ("BEGIN IMMEDIATE", "BEGIN, COMMIT or ROLLBACK is not allowed"),
    ("COMMIT", "BEGIN, COMMIT or ROLLBACK is not allowed"),
    ("END TRANSACTION", "BEGIN, COMMIT or ROLLBACK is not allowed"),
    ("ROLLBACK", "BEGIN, COMMIT or ROLLBACK is not allowed"),
    ("ROLLBACK TO x", "SAVEPOINT is not allowed"),
    ("SAVEPOINT x", "SAVEPOINT is not allowed"),
    ("RELEASE x", "SAVEPOINT is not allowed"),
    ("CREATE INDEX i ON claims(id)", ""),
    ("CREATE UNIQUE INDEX temp.i ON claims(id)", ""),
    ("CREATE TABLE t(x)", "changing the schema is not allowed"),
    ("CREATE TABLE IF NOT EXISTS main.t(x) STRICT, WITHOUT ROWID", ""),
    ("CREATE TABLE t AS SELECT * FROM claims", ""),
    ("CREATE TEMP TABLE t(x)", "changing the schema is not allowed"),
    ("CREATE TEMP TABLE t AS SELECT 1", ""),
    ("CREATE TRIGGER r INSTEAD OF INSERT ON claims BEGIN SELECT 1; END", ""),
    ("CREATE TEMP TRIGGER r INSTEAD OF INSERT ON claims BEGIN SELECT 1; END", ""),
    ("CREATE VIEW v AS SELECT 1", "changing the schema is not allowed"),
    ("CREATE TEMP VIEW v AS SELECT 1", "changing the schema is not allowed"),
    ("CREATE TEMP VIEW claims AS SELECT * FROM evidence_claims", ""),
    ("CREATE VIRTUAL TABLE v USING fts5(x)", ""),
    ("CREATE VIRTUAL TABLE temp.v USING rtree(a, b, c)", ""),
    ("CREATE VIRTUAL TABLE temp.v USING fts5vocab('main', 'x', 'row')", ""),
    ("CREATE VIRTUAL TABLE temp.v USING dbstat(main)", ""),
    ("DELETE FROM claims", "cannot modify claims because it is a view"),
    ("DELETE FROM main.evidence_claims", "no such table: main.evidence_claims"),
    ("DELETE FROM sqlite_temp_schema", ""),
    ("WITH x AS (SELECT 1) DELETE FROM claims RETURNING *", ""),
    ("DETACH main", "DETACH is not allowed"),
    ("DROP INDEX evidence_claims_task", ""),
    ("DROP TABLE evidence_claims", ""),
    ("DROP TABLE IF EXISTS claims", ""),
    ("DROP TRIGGER IF EXISTS x", ""),
    ("DROP VIEW claims", "changing the schema is not allowed"),
    ("DROP VIEW documents", "changing the schema is not allowed"),
    ("EXPLAIN SELECT * FROM claims", "EXPLAIN is not allowed"),
    ("EXPLAIN QUERY PLAN SELECT * FROM claims", "EXPLAIN is not allowed"),
    ("EXPLAIN DROP VIEW claims", ""),
    ("INSERT INTO claims(id) VALUES ('x')", ""),
    ("INSERT INTO claims DEFAULT VALUES", ""),
    ("INSERT OR REPLACE INTO main.evidence_claims SELECT * FROM claims", ""),
    ("INSERT INTO sqlite_temp_schema VALUES (1, 2, 3, 4, 5)", ""),
    ("REPLACE INTO claims(id) VALUES ('x')", ""),
    ("WITH x AS (SELECT 1) INSERT INTO claims SELECT * FROM x", ""),
    ("INSERT INTO claims(id) VALUES ('x') ON CONFLICT DO NOTHING RETURNING id", ""),
    ("PRAGMA query_only = 0", "PRAGMA is not allowed"),
    ("PRAGMA writable_schema = 1", "PRAGMA is not allowed"),
    ("PRAGMA database_list", "PRAGMA is not allowed"),
    ("PRAGMA main.table_info(documents)", "PRAGMA is not allowed"),
    ("PRAGMA journal_mode = DELETE", "PRAGMA is not allowed"),
    ("PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA is not allowed"),
    ("PRAGMA temp_store_directory = '/tmp'", "PRAGMA is not allowed"),
    ("PRAGMA optimize", "PRAGMA is not allowed"),
    ("PRAGMA incremental_vacuum", "PRAGMA is not allowed"),
    ("PRAGMA hard_heap_limit = 1", "PRAGMA is not allowed"),
    ("REINDEX", ""),
    ("REINDEX nocase", ""),
    ("UPDATE claims SET text = ''", ""),
    ("UPDATE main.evidence_claims SET text = '' RETURNING text", ""),
    ("UPDATE sqlite_temp_schema SET sql = ''", ""),
    ("WITH x AS (SELECT 1) UPDATE claims SET text = (SELECT * FROM x)", ""),
    ("VACUUM", ""),
    ("VACUUM main", ""),
    ("VACUUM INTO '/tmp/stolen.db'", ""),
    // Functions that do more than compute.
    ("SELECT load_extension('x.so')", "no such function here: load_extension"),
    ("SELECT load_extension('x.so', 'y') FROM claims", "no such function here: load_extension"),
    ("SELECT writefile('/tmp/x', 'y')", "no such function here: writefile"),
    ("SELECT readfile('/etc/passwd')", "no such function here: readfile"),
    ("SELECT edit('x')", "no such function here: edit"),
    ("SELECT random()", "no such function here: random"),
    ("SELECT randomblob(10)", "no such function here: randomblob"),
    ("SELECT zeroblob(1000000000)", "no such function here: zeroblob"),
    ("SELECT fts3_tokenizer('simple')", "no such function here: fts3_tokenizer"),
    ("SELECT fts5(1)", "no such function here: fts5"),
    ("SELECT rtreecheck('x')", "no such function here: rtreecheck"),
    ("SELECT changes(), total_changes(), last_insert_rowid()", "no such function here: changes"),
    ("SELECT sqlite_compileoption_get(0)", "no such function here: sqlite_compileoption_get"),
    ("SELECT sqlite_version()", "no such function here: sqlite_version"),
    ("SELECT sqlite_log(1, 'x')", "no such function here: sqlite_log"),
    ("SELECT sqlite_rename_table(0,0,0,0,0,0,0)", ""),
    ("SELECT text MATCH 'x' FROM claims", "no such function here: match"),
    ("SELECT text REGEXP 'x' FROM claims", "no such function here: REGEXP"),
    ("SELECT json_pretty('[]'), json_patch('{}', '{}')", "no such function here: json_pretty"),
    // Texts that are not a statement, or more than one.
    ("", "there is no statement"),
    (" \n\t ", "there is no statement"),
    ("-- nothing", "there is no statement"),
    ("/* nothing", "there is no statement"),
    (";;;", "there is no statement"),
    ("SELECT 1; SELECT 2", "there is text after the statement"),
    ("SELECT 1; DROP TABLE claims", "there is text after the statement"),
    ("SELECT 1;;; SELECT 2", "there is text after the statement"),
    ("SELECT 1; nonsense", "there is text after the statement"),
    ("SELECT 1 /* */; /* */ SELECT 2", "there is text after the statement"),
    ("SELECT 1\0; DROP TABLE claims", "the statement holds a NUL character"),
    ("SELECT 'unfinished", "unrecognized token"),
    ("SELECT \"unfinished", "unrecognized token"),
    ("SELECT x'abc'", "unrecognized token"),
    ("nonsense", "near \"nonsense\": syntax error (line 1, column 1)"),
    ("SELECT id\nFORM claims\nWHERE 1", ""),
    (".tables", "near \".\": syntax error"),
    ("SELECT ?", "parameter 1 has no name"),
    ("SELECT ?1", "parameter 1 has no name"),
];

#[test]
fn what_does_not_read_is_refused_and_changes_nothing() {
    let pair = pair();
    let before = contents(pair.shared.directory());
    for (sql, beginning) in REFUSED {
        let (error, hint) = refusal(&pair.shared, sql);
        assert!(error.starts_with(beginning), "{sql}: {error}");
        for told in [&error, &hint] {
            assert!(
                !told.contains("index_") && !told.contains("evidence_") || sql.contains("evidence_"),
                "{sql}: {told}"
            );
        }
    }
    assert!(before == contents(pair.shared.directory()), "the database changed");
    assert!(!std::path::Path::new("/tmp/stolen.db").exists());
    assert_eq!(rows(&pair.shared, "SELECT count(*) FROM claims"), [[tamis_store::SqlValue::Integer(25)]]);
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
