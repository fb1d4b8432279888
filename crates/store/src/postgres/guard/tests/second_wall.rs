//! Statements that come past the parser: the server's own walls hold too.

use super::*;

/// Statements that would see or do what they must not.
const HOSTILE: &[&str] = &[
    "SELECT text FROM tamis.evidence_claims",
    "SELECT count(*) FROM tamis.documents",
    "SELECT value FROM tamis.meta",
    "SELECT tamis.sealed('there')",
    "SELECT set_config('role', 'none', true), query_to_xml('SELECT text FROM tamis.evidence_claims', true, true, '')",
    "SELECT set_config('role', 'postgres', false)",
    "SELECT set_config('session_authorization', 'postgres', false)",
    "SELECT set_config('transaction_read_only', 'off', true)",
    "SELECT set_config('tamis.scope', 'there', true), (SELECT string_agg(text, ',') FROM claims)",
    "SELECT set_config('tamis.scope', left(current_setting('tamis.scope'), 64) || 'there', true), (SELECT min(text) FROM claims)",
    "SELECT (SELECT min(text) FROM claims) FROM (SELECT set_config('tamis.scope', repeat('0', 64) || 'there', true) OFFSET 0) AS s",
    "SELECT xpath('/', query_to_xml('SELECT * FROM tamis.passages', true, true, ''))",
    "SELECT schema_to_xml('tamis', true, true, '')",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_ls_dir('.')",
    "SELECT lo_import('/etc/passwd')",
    "SELECT lo_from_bytea(0, 'x')",
    "SELECT pg_stat_reset()",
    "SELECT pg_reload_conf()",
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename <> 'tamis_reader' AND pid <> pg_backend_pid()",
    "SELECT rolpassword FROM pg_authid",
    "SELECT * FROM pg_stats WHERE schemaname = 'tamis' AND 1 / 0 = 1",
    "SELECT nextval('tamis.passage_numbers')",
    "SELECT * FROM claims FOR UPDATE",
    "SELECT * INTO TEMP x FROM claims",
    "WITH x AS (DELETE FROM claims RETURNING id) SELECT * FROM x",
    "WITH x AS (UPDATE tamis.evidence_claims SET text = '' RETURNING id) SELECT * FROM x",
    "SELECT text FROM claims WHERE text::integer > 0",
    "DELETE FROM claims",
    "DROP VIEW tamis_sql.claims",
    "CREATE TEMP TABLE x(y int)",
    "CREATE OR REPLACE FUNCTION tamis_sql.answer() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "COPY (SELECT 1) TO PROGRAM 'id'",
    "COPY tamis.evidence_claims TO STDOUT",
    "DO 'BEGIN PERFORM 1; END'",
    "SET ROLE postgres",
    "RESET ROLE",
    "RESET SESSION AUTHORIZATION",
    "LISTEN x",
    "NOTIFY x",
    "PREPARE x AS SELECT 1",
    "DECLARE x CURSOR WITH HOLD FOR SELECT 1",
    "COMMIT",
    "ROLLBACK",
    "SELECT 1; SELECT 2",
    "SELECT 1) AS answer(c1); SELECT (1",
    "SELECT 1; COMMIT; DROP TABLE tamis.evidence_claims",
];

/// The state that a connection must be in when it is back in its pool.
fn assert_clean(store: &TestStore, after: &str) {
    store
        .connections
        .wait(async {
            // All connections that the pool holds, so that none is missed.
            let mut held = Vec::new();
            for _ in 0..4 {
                held.push(store.connections.connection().await?);
            }
            for connection in &held {
                let row = connection
                    .query_one(
                        "SELECT current_user = session_user, current_setting('search_path'), current_setting('statement_timeout'), \
                         coalesce(current_setting('tamis.scope', true), ''), current_setting('transaction_read_only'), \
                         (SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory'), \
                         (SELECT count(*) FROM pg_cursors) + (SELECT count(*) FROM pg_prepared_statements WHERE name = 'x'), \
                         pg_current_xact_id_if_assigned() IS NULL, (SELECT count(*) FROM pg_listening_channels())",
                        &[],
                    )
                    .await?;
                assert!(row.get::<_, bool>(0), "role after {after}");
                assert_eq!(row.get::<_, String>(1), "tamis, public", "after {after}");
                assert_eq!(row.get::<_, String>(2), "10min", "after {after}");
                assert_eq!(row.get::<_, String>(3), "", "after {after}");
                assert_eq!(row.get::<_, String>(4), "off", "after {after}");
                assert_eq!(row.get::<_, i64>(5), 0, "locks after {after}");
                // The cursor of this very statement is one.
                assert!(row.get::<_, i64>(6) <= 1, "cursors after {after}");
                assert!(row.get::<_, bool>(7), "transaction after {after}");
                assert_eq!(row.get::<_, i64>(8), 0, "after {after}");
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn the_server_refuses_what_the_parser_would() {
    let Some(store) = shared() else { return };
    for sql in HOSTILE {
        let given = past_the_parser(&store, sql, 500);
        let told = format!("{given:?}");
        assert!(!told.contains(SECRET), "{sql}: {told}");
        let harmless =
            given.as_ref().is_ok_and(|rows| rows.rows.iter().flatten().all(|value| *value == SqlValue::Null));
        assert!(given.is_err() || harmless || given.is_ok_and(|rows| rows.rows.is_empty()), "{sql}: {told}");
        assert_clean(&store, sql);
    }
    assert_eq!(rows(&store, "SELECT count(*) FROM claims"), [[number(25)]]);
    let other = query(&store.connections, "there", &SqlQuery::new("SELECT count(*) FROM claims"), &|| false).unwrap();
    assert_eq!(other.rows, [[number(40)]]);
}

/// Statements that the server cannot refuse, and that must leave nothing behind.
#[test]
fn a_connection_is_clean_after_what_the_server_cannot_refuse() {
    let Some(store) = shared() else { return };
    for sql in [
        "SELECT pg_advisory_lock(1)",
        "SELECT set_config('search_path', 'public', false)",
        "SELECT set_config('statement_timeout', '0', false), set_config('work_mem', '1GB', false)",
        "SELECT pg_notify('tamis_changes', 'x')",
        "SELECT pg_sleep(10)",
        "SELECT set_config('statement_timeout', '0', true), pg_sleep(10)",
        "SELECT regexp_count(repeat('a', 5000), '(a*)*(b|c)*(a*)*d')",
        "SELECT count(*) FROM generate_series(1, 100000000000)",
        "SELECT 1 / 0",
    ] {
        let started = std::time::Instant::now();
        let told = format!("{:?}", past_the_parser(&store, sql, 200));
        assert!(started.elapsed() < Duration::from_secs(3), "{sql}: {:?} {told}", started.elapsed());
        assert!(!told.contains(SECRET), "{sql}: {told}");
        assert_clean(&store, sql);
    }
}

/// A condition runs after the view's own, so that its errors cannot name values of others.
#[test]
fn errors_of_conditions_come_from_visible_rows_alone() {
    let Some(store) = shared() else { return };
    let sql = "SELECT count(*) FROM claims WHERE (CASE WHEN text LIKE 'hush%' THEN text ELSE '1' END)::integer = 1";
    let given = past_the_parser(&store, sql, 1000).unwrap();
    assert_eq!(given.rows, [[number(25)]]);
}

/// A copy of the tables without rights would run statements as whoever restored it.
#[test]
fn rights_are_restored_before_a_statement_runs() {
    let Some(store) = shared() else { return };
    store.execute(
        "ALTER FUNCTION tamis_sql.answer(text, text[], bigint, bigint) OWNER TO CURRENT_USER;
         GRANT EXECUTE ON FUNCTION tamis_sql.answer(text, text[], bigint, bigint) TO PUBLIC",
    );
    assert_eq!(rows(&store, "SELECT count(*) FROM claims"), [[number(25)]]);
    let told = format!("{:?}", past_the_parser(&store, "SELECT text FROM tamis.evidence_claims", 500));
    assert!(told.contains("cannot be run"), "{told}");
    store.execute("REVOKE ALL ON SCHEMA tamis_sql FROM tamis_reader");
    assert_eq!(rows(&store, "SELECT count(*) FROM claims"), [[number(25)]]);
}
