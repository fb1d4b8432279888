//! A statement sees only the evidence of its namespace, whatever it names and however.

use crate::common::*;

/// Statements that try to see more than they may. On an index without other namespaces they return the same.
const PROBES: &[&str] = &[
    // Tables of the index by their names, with and without columns, in every position for a table.
    "SELECT * FROM documents",
    "SELECT id FROM documents",
    "SELECT text FROM evidence_claims",
    "SELECT text FROM main.evidence_claims",
    "SELECT text FROM \"main\".\"evidence_claims\"",
    "SELECT text FROM temp.evidence_claims",
    "SELECT main.evidence_claims.text FROM claims",
    "SELECT 'c1' IN evidence_claims",
    "SELECT EXISTS (SELECT 1 FROM documents)",
    "SELECT (SELECT text FROM texts WHERE id = claims.rowid) FROM claims",
    "SELECT count(*) FROM evidence_claims JOIN (SELECT 'there' AS namespace) USING (namespace)",
    "SELECT id FROM claims UNION SELECT path FROM documents",
    "SELECT * FROM claims WHERE namespace = 'there'",
    "SELECT origin FROM claims",
    "SELECT value FROM meta WHERE key = 'instance'",
    // Table expressions, aliases and subqueries with the names of views and tables.
    "WITH claims AS (SELECT * FROM main.evidence_claims) SELECT count(*) FROM claims",
    "WITH documents AS (SELECT id FROM claims) SELECT count(*) FROM documents",
    "WITH documents AS (SELECT * FROM documents) SELECT count(*) FROM documents",
    "WITH RECURSIVE claims(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM claims WHERE id < 5) SELECT count(*) FROM claims",
    // SQLite's own tables.
    "SELECT * FROM sqlite_schema",
    "SELECT sql FROM sqlite_temp_schema",
    "SELECT count(*) FROM sqlite_sequence JOIN (SELECT 'documents' AS name) USING (name)",
    "SELECT count(*) FROM sqlite_stat1 JOIN (SELECT 'documents' AS tbl) USING (tbl)",
    // Virtual tables that need no creation.
    "SELECT * FROM pragma_database_list",
    "SELECT * FROM pragma_table_info('evidence_claims')",
    "SELECT * FROM dbstat('main')",
    "SELECT * FROM sqlite_dbpage",
    "SELECT * FROM bytecode('SELECT 1')",
    "SELECT count(*) FROM fts5vocab",
    "SELECT * FROM generate_series(1, 3)",
];

/// Statements of every kind that is allowed.
const ALLOWED: &[&str] = &[
    "SELECT count(*), min(text), max(text) FROM claims",
    "SELECT count(*) FROM main.claims",
    "SELECT count(*) FROM fragments JOIN edges ON source_id = fragments.id JOIN claims ON claims.id = target_id",
    "SELECT target_id, hex(embedding_blob) FROM embeddings ORDER BY 1, 2",
    "SELECT count(*) FROM embeddings WHERE target_type = 'claim' AND target_id = 'c3'",
    "SELECT a.value FROM works, json_each(authors) AS a ORDER BY 1",
    "SELECT count(*) FROM claims NATURAL JOIN (SELECT 'c1' AS id)",
    "SELECT group_concat(id) FROM (SELECT id FROM claims ORDER BY id)",
    // A statement may give a hidden name to something of its own.
    "WITH models AS (SELECT DISTINCT model_id FROM embeddings) SELECT count(*) FROM models",
];

#[test]
fn a_statement_tells_the_same_whether_or_not_there_is_another_namespace() {
    let pair = pair();
    let before = contents(pair.shared.directory());
    for sql in PROBES.iter().chain(ALLOWED) {
        let shared = ask(&pair.shared, sql).map(|rows| (rows.columns, rows.rows));
        let alone = ask(&pair.alone, sql).map(|rows| (rows.columns, rows.rows));
        let (shared, alone) = (format!("{shared:?}"), format!("{alone:?}"));
        assert_eq!(shared, alone, "{sql}");
        assert!(!shared.contains(SECRET) && !shared.contains("index_"), "{sql}: {shared}");
    }
    assert!(before == contents(pair.shared.directory()), "the database changed");
}

#[test]
fn every_statement_that_is_allowed_gives_rows() {
    let pair = pair();
    let given = |sql: &str| assert!(!rows(&pair.shared, sql).is_empty(), "{sql}");
    ALLOWED.iter().for_each(|sql| given(sql));
    for table in SQL_TABLES {
        let name = table.name;
        for sql in [
            format!("SELECT 1 FROM {name}"),
            format!("SELECT count(*) FROM {name} a, {name} b"),
            format!("SELECT (SELECT count(*) FROM {name})"),
            format!("WITH x AS MATERIALIZED (SELECT 1 FROM {name}) SELECT count(*) FROM x"),
            format!("SELECT 1 FROM claims LEFT JOIN {name} ON 1"),
            format!("SELECT 1 FROM {name} UNION SELECT 2 FROM main.{name}"),
        ] {
            given(&sql);
        }
    }
}

/// A message names only what the statement names and what can be queried.
#[test]
fn errors_never_name_hidden_tables() {
    let pair = pair();
    let database = rusqlite::Connection::open(pair.shared.directory().join("tamis.db")).unwrap();
    let mut tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
    let tables = tables.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let visible = |name: &String| SQL_TABLES.iter().any(|table| table.name == name);
    let hidden: Vec<String> = tables.map(Result::unwrap).filter(|name| !visible(name)).collect();
    assert!(hidden.len() > 10 && hidden.contains(&"models".to_owned()), "{hidden:?}");
    let names = |text: &str, name: &str| {
        text.split(|character: char| !character.is_alphanumeric() && character != '_').any(|word| word == name)
    };
    for sql in PROBES.iter().chain(ALLOWED) {
        if let Err(StoreError::Sql { error, hint }) = ask(&pair.shared, sql) {
            let told = format!("{error} {}", hint.unwrap_or_default());
            for name in &hidden {
                assert!(!names(&told, name) || names(&sql.to_lowercase(), name), "{sql}: {told}");
            }
        }
    }
}
