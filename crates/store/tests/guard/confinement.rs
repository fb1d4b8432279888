//! A statement sees only the evidence of its namespace, whatever it names and however.

use tamis_store::StoreError;

use crate::common::*;

/// Statements that try to see more than they may. On an index without other namespaces they return the same.
const PROBES: &[&str] = &[
    // Tables of the index by their names, with and without columns, in every position for a table.
    "SELECT * FROM documents",
    "SELECT id FROM documents",
    "SELECT rowid FROM documents",
    "SELECT text FROM evidence_claims",
    "SELECT text FROM main.evidence_claims",
    "SELECT text FROM \"main\".\"evidence_claims\"",
    "SELECT text FROM MAIN.EVIDENCE_CLAIMS",
    "SELECT text FROM temp.evidence_claims",
    "SELECT main.evidence_claims.text FROM claims",
    "SELECT evidence_claims.text FROM claims AS evidence_claims",
    "SELECT 'c1' IN evidence_claims",
    "SELECT EXISTS (SELECT 1 FROM documents)",
    "SELECT (SELECT text FROM texts WHERE id = claims.rowid) FROM claims",
    "SELECT count(*) FROM claims CROSS JOIN texts",
    "SELECT claims.* FROM claims LEFT JOIN documents ON 1",
    "SELECT count(*) FROM documents JOIN passages USING (id)",
    "SELECT count(*) FROM evidence_claims NATURAL JOIN evidence_fragments",
    "SELECT count(*) FROM evidence_claims JOIN (SELECT 'there' AS namespace) USING (namespace)",
    "SELECT count(*) FROM claims JOIN (SELECT 'there' AS namespace) USING (namespace)",
    "SELECT text FROM (SELECT * FROM evidence_claims) AS claims",
    "SELECT id FROM claims UNION SELECT path FROM documents",
    "SELECT id FROM claims ORDER BY (SELECT max(id) FROM documents)",
    "SELECT sum(size) OVER () FROM documents",
    "SELECT * FROM claims WHERE namespace = 'there'",
    "SELECT origin FROM claims",
    "SELECT value FROM meta WHERE key = 'instance'",
    "SELECT * FROM properties",
    "SELECT vector FROM vectors",
    // Table expressions, aliases and subqueries with the names of views and tables.
    "WITH claims AS (SELECT * FROM main.evidence_claims) SELECT count(*) FROM claims",
    "WITH claims AS (SELECT 1 AS id) SELECT count(*) FROM claims",
    "WITH claims(id) AS (SELECT id FROM main.claims) SELECT count(*), max(id) FROM claims",
    "WITH documents AS (SELECT id FROM claims) SELECT count(*) FROM documents",
    "WITH documents AS (SELECT * FROM documents) SELECT count(*) FROM documents",
    "WITH RECURSIVE claims(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM claims WHERE id < 5) SELECT count(*) FROM claims",
    "WITH x AS MATERIALIZED (SELECT * FROM main.evidence_claims) SELECT count(*) FROM x",
    "WITH edges AS (SELECT * FROM evidence_edges), claims AS (SELECT * FROM edges) SELECT count(*) FROM claims",
    "SELECT claims.text FROM main.evidence_claims AS claims",
    "SELECT (WITH claims AS (SELECT * FROM evidence_claims) SELECT count(*) FROM claims) FROM tasks",
    // SQLite's own tables.
    "SELECT * FROM sqlite_schema",
    "SELECT sql FROM sqlite_temp_schema",
    "SELECT sql FROM temp.sqlite_schema",
    "SELECT count(*) FROM sqlite_temp_master JOIN (SELECT 'claims' AS name) USING (name)",
    "SELECT count(*) FROM sqlite_schema JOIN (SELECT 'documents' AS name) USING (name)",
    "SELECT * FROM sqlite_schema NATURAL FULL JOIN (SELECT 'documents' AS name)",
    "SELECT * FROM sqlite_sequence",
    "SELECT count(*) FROM sqlite_sequence JOIN (SELECT 'documents' AS name) USING (name)",
    "SELECT count(*) FROM sqlite_sequence JOIN (SELECT value AS seq FROM json_each('[1,2,3,50,80,130,131]')) USING (seq)",
    "SELECT count(*) FROM sqlite_stat1 JOIN (SELECT 'documents' AS tbl) USING (tbl)",
    // Virtual tables that need no creation.
    "SELECT * FROM pragma_database_list",
    "SELECT count(*) FROM pragma_database_list JOIN (SELECT 'temp' AS name) USING (name)",
    "SELECT * FROM pragma_table_info('evidence_claims')",
    "SELECT count(*) FROM PRAGMA_TABLE_XINFO('documents')",
    "SELECT * FROM dbstat('main')",
    "SELECT count(*) FROM dbstat JOIN (SELECT 'documents' AS name) USING (name)",
    "SELECT * FROM sqlite_dbpage",
    "SELECT count(*) FROM sqlite_stmt",
    "SELECT * FROM bytecode('SELECT 1')",
    "SELECT * FROM tables_used('SELECT 1')",
    "SELECT count(*) FROM fts3tokenize",
    "SELECT count(*) FROM fts5vocab",
    "SELECT * FROM rtree",
    "SELECT * FROM generate_series(1, 3)",
    // What a server would understand.
    "SELECT text FROM tamis.evidence_claims",
    "SELECT embedding FROM vectors",
    "SELECT (WITH documents AS (SELECT 1 AS id) SELECT count(*) FROM documents), (SELECT count(*) FROM documents)",
    "SELECT count(*) FROM pg_catalog.pg_class",
    "SELECT ctid, xmin, tableoid FROM claims",
    "SELECT claims FROM claims",
    "SELECT (c.*)::text FROM claims c",
    "SELECT current_user",
    "SELECT count(*) FROM claims WHERE CAST(text AS REAL) > 0",
    "SELECT sum(CAST(text AS BOOLEAN)) FROM claims",
    "SELECT set_config('tamis.namespaces', '{there}', true), (SELECT string_agg(text, ',') FROM claims)",
    "SELECT 1) AS answer(c1); SELECT (1",
    "SELECT 1 / 0",
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
    for table in tamis_store::SQL_TABLES {
        let name = table.name;
        let columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        for sql in [
            format!("SELECT * FROM {name}"),
            format!("SELECT 1 FROM {name}"),
            format!("SELECT count(*) FROM {name}"),
            format!("SELECT count(*) FROM {name} a, {name} b"),
            format!("SELECT EXISTS (SELECT 1 FROM {name})"),
            format!("SELECT (SELECT count(*) FROM {name})"),
            format!("WITH x AS MATERIALIZED (SELECT 1 FROM {name}) SELECT count(*) FROM x"),
            format!("SELECT 1 FROM claims LEFT JOIN {name} ON 1"),
            format!("SELECT 1 FROM {name} UNION SELECT 2 FROM {name}"),
        ] {
            given(&sql);
        }
        // The named columns decide how SQLite merges a view into a statement.
        for one in &columns {
            for sql in [
                format!("SELECT {one} FROM {name}"),
                format!("SELECT x.{one} FROM {name} AS x ORDER BY 1"),
                format!("SELECT {one}, count(*) FROM {name} GROUP BY {one}"),
                format!("SELECT DISTINCT typeof({one}) FROM main.{name}"),
                format!("SELECT count(*) FROM {name} WHERE {one} IS NULL OR 1"),
                format!("SELECT 1 WHERE NULL IS NULL OR 1 IN (SELECT {one} FROM {name})"),
                format!("SELECT count(*) FROM {name} JOIN {name} AS y USING ({one})"),
            ] {
                given(&sql);
            }
            for other in &columns {
                given(&format!("SELECT {one}, {other} FROM {name}"));
            }
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
    let visible = |name: &String| tamis_store::SQL_TABLES.iter().any(|table| table.name == name);
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

/// The reader that SQLite's authorizer names is the nearest name in FROM, which can be a table expression of the statement.
#[test]
fn trap_a_table_expression_named_like_a_view_does_not_read_for_it() {
    let pair = pair();
    for sql in [
        "WITH claims AS (SELECT * FROM main.evidence_claims) SELECT count(*) FROM claims",
        "WITH claims AS (SELECT * FROM evidence_claims) SELECT count(*) FROM claims",
        "SELECT count(*) FROM (SELECT * FROM evidence_claims) AS claims",
    ] {
        let (error, hint) = refusal(&pair.shared, sql);
        assert!(
            error.starts_with("no such table: ") && hint.contains("the tables are tasks"),
            "{sql}: {error}; {hint}"
        );
    }
}

/// SQLite does not ask the authorizer about a column that is only joined by USING.
#[test]
fn trap_a_column_that_is_only_joined_by_is_seen_no_more_than_others() {
    let pair = pair();
    for (table, column) in [
        ("evidence_claims", "namespace"),
        ("main.evidence_claims", "namespace"),
        ("temp.evidence_claims", "namespace"),
        ("documents", "path"),
        ("sqlite_sequence", "name"),
        ("temp.sqlite_sequence", "seq"),
        ("sqlite_stat1", "tbl"),
    ] {
        let sql = format!("SELECT count(*) FROM {table} JOIN (SELECT 'there' AS {column}) USING ({column})");
        let (error, _) = refusal(&pair.shared, &sql);
        assert!(error.starts_with("no such table: ") || error.starts_with("cannot join"), "{sql}: {error}");
    }
}
