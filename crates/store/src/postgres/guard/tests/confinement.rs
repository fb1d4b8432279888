//! A statement sees only the evidence of its namespace, whatever it names and however.

use super::*;

/// Statements that try to see more than they may. In a database without other namespaces they return the same.
const PROBES: &[&str] = &[
    // Tables of the index by their names, with and without columns, in every position for a table.
    "SELECT * FROM documents",
    "SELECT count(*) FROM documents",
    "SELECT 1 FROM documents",
    "SELECT count(*) FROM evidence_claims",
    "SELECT text FROM evidence_claims",
    "SELECT text FROM tamis.evidence_claims",
    "SELECT text FROM \"tamis\".\"evidence_claims\"",
    "SELECT count(*) FROM tamis_sql.claims",
    "SELECT tamis.evidence_claims.text FROM claims",
    "SELECT evidence_claims.text FROM claims AS evidence_claims",
    "SELECT 'c1' IN evidence_claims",
    "SELECT EXISTS (SELECT 1 FROM documents)",
    "SELECT (SELECT count(*) FROM passages)",
    "SELECT claims.* FROM claims LEFT JOIN documents ON 1",
    "SELECT count(*) FROM claims JOIN (SELECT 'there' AS namespace) USING (namespace)",
    "SELECT text FROM (SELECT * FROM evidence_claims) AS claims",
    "SELECT id FROM claims UNION SELECT path FROM documents",
    "SELECT id FROM claims ORDER BY (SELECT max(id) FROM documents)",
    "SELECT id FROM claims LIMIT (SELECT count(*) FROM documents)",
    "VALUES ((SELECT count(*) FROM documents))",
    "SELECT * FROM claims WHERE namespace = 'there'",
    "SELECT claims.namespace FROM claims",
    "SELECT origin FROM claims",
    "SELECT value FROM meta WHERE key = 'sql_secret'",
    "SELECT * FROM properties",
    "SELECT * FROM namespaces",
    "SELECT embedding FROM vectors",
    // Table expressions, aliases and subqueries with the names of views and tables.
    "WITH claims AS (SELECT * FROM evidence_claims) SELECT text FROM claims",
    "WITH claims AS (SELECT 1 AS id) SELECT count(*) FROM claims",
    "WITH documents AS (SELECT id FROM claims) SELECT count(*) FROM documents",
    "WITH documents AS (SELECT * FROM documents) SELECT count(*) FROM documents",
    "SELECT (WITH documents AS (SELECT 1 AS id) SELECT count(*) FROM documents), (SELECT count(*) FROM documents)",
    "WITH pg_class AS (SELECT 1 AS id) SELECT * FROM pg_class",
    "SELECT (WITH pg_class AS (SELECT 1) SELECT 1), (SELECT count(*) FROM pg_class)",
    "WITH RECURSIVE claims(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM claims WHERE id < 5) SELECT count(*) FROM claims",
    // The server's own tables.
    "SELECT * FROM pg_class",
    "SELECT count(*) FROM pg_catalog.pg_class",
    "SELECT * FROM \"pg_authid\"",
    "SELECT usename FROM pg_user",
    "SELECT query FROM pg_stat_activity",
    "SELECT * FROM pg_settings",
    "SELECT most_common_vals FROM pg_stats",
    "SELECT table_name FROM information_schema.tables",
    // Hidden columns, whole rows, and columns that are calls.
    "SELECT ctid, xmin, tableoid FROM claims",
    "SELECT tableoid FROM claims",
    "SELECT claims FROM claims",
    "SELECT c FROM claims c",
    "SELECT c.row_to_json FROM claims c",
    "SELECT (c).text FROM claims c",
    "SELECT (c.*)::text FROM claims c",
    "SELECT current_user",
    "SELECT session_user, current_schema, current_database()",
    "SELECT 'evidence_claims'::regclass",
    "SELECT CAST('postgres' AS regrole)",
    "SELECT 16384::oid::regclass",
    // An error must not name a value of another namespace.
    "SELECT count(*) FROM claims WHERE CAST(text AS REAL) > 0",
    "SELECT count(*) FROM claims WHERE CAST(substr(text, 1, 4) AS DATE) IS NULL",
    "SELECT count(*) FROM claims WHERE 1 / (length(text) - 12) > 0",
    "SELECT sum(CAST(text AS BOOLEAN)) FROM claims",
];

/// Statements of every kind that is allowed.
const ALLOWED: &[&str] = &[
    "SELECT count(*), min(text), max(text) FROM claims",
    "SELECT count(*) FROM fragments JOIN edges ON source_id = fragments.id JOIN claims ON claims.id = target_id",
    "SELECT target_id, hex(embedding_blob) FROM embeddings ORDER BY 1, 2",
    "SELECT count(*) FROM embeddings WHERE target_type = 'claim' AND target_id = 'c3'",
    "SELECT a.value FROM works, json_each(authors) AS a ORDER BY 1",
    "SELECT count(*) FROM claims NATURAL JOIN (SELECT 'c1' AS id)",
    "SELECT count(*) FROM claims a, claims b LEFT JOIN claims c ON c.id = a.id",
    "SELECT id FROM claims EXCEPT SELECT 'c1' INTERSECT SELECT id FROM claims ORDER BY id",
];

#[test]
fn a_statement_answers_alike_with_or_without_another_namespace() {
    let Some(pair) = pair() else { return };
    for sql in PROBES.iter().chain(ALLOWED) {
        let shared = ask(&pair.shared, sql).map(|rows| (rows.columns, rows.rows));
        let alone = ask(&pair.alone, sql).map(|rows| (rows.columns, rows.rows));
        assert!(matches!(shared, Ok(_) | Err(StoreError::Sql { .. })), "{sql}: {shared:?}");
        let (shared, alone) = (format!("{shared:?}"), format!("{alone:?}"));
        assert_eq!(shared, alone, "{sql}");
        assert!(!shared.contains(SECRET), "{sql}: {shared}");
        for hidden in ["tamis_sql", "sql_secret", "tamis.scope"] {
            assert!(!shared.contains(hidden) || sql.contains(hidden), "{sql}: {shared}");
        }
    }
    for sql in ALLOWED {
        assert!(!rows(&pair.shared, sql).is_empty(), "{sql}");
    }
}

#[test]
fn namespaces_are_distinguished_by_all_of_their_names() {
    let Some(store) = shared() else { return };
    let asked = SqlQuery::new("SELECT count(*) FROM claims");
    for namespace in ["her", "here ", "HERE", "here' OR '1'='1", "'", "there", "", "hör\"e", "\\", "%", "$1"] {
        let given = query(&store.connections, namespace, &asked, &|| false).unwrap();
        assert_eq!(given.rows, [[number(if namespace == "there" { 40 } else { 0 })]], "{namespace:?}");
    }
    let refused = query(&store.connections, "here\0", &asked, &|| false);
    assert!(matches!(refused, Err(StoreError::Invalid { .. })), "{refused:?}");
}

#[test]
fn every_column_of_every_table_can_be_read_in_every_way() {
    let Some(store) = shared() else { return };
    for table in crate::SQL_TABLES {
        let name = table.name;
        for sql in [
            format!("SELECT 1 FROM {name}"),
            format!("SELECT count(*) FROM {name} a, {name} b"),
            format!("WITH x AS MATERIALIZED (SELECT 1 FROM {name}) SELECT count(*) FROM x"),
            format!("SELECT 1 FROM claims c LEFT JOIN {name} ON 1"),
            format!("SELECT 1 FROM {name} UNION SELECT 2 FROM {name}"),
        ] {
            assert!(!rows(&store, &sql).is_empty(), "{sql}");
        }
        for column in table.columns {
            let one = column.name;
            for sql in [
                format!("SELECT {one} FROM {name}"),
                format!("SELECT x.{one} FROM {name} AS x ORDER BY 1"),
                format!("SELECT {one}, count(*) FROM {name} GROUP BY {one}"),
                format!("SELECT count(*) FROM {name} WHERE {one} IS NULL OR 1"),
                format!("SELECT count(*) FROM {name} JOIN {name} AS y USING ({one})"),
            ] {
                assert!(!rows(&store, &sql).is_empty(), "{sql}");
            }
        }
    }
}
