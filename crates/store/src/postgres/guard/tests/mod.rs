//! Statements against the guard: what they see, what they may do, how long they run and what they leave behind.

mod answers;
mod bombs;
mod confinement;
mod second_wall;
mod statements;
mod views;

use std::time::Duration;

use super::parser::Translated;
use super::{query, run};
use crate::error::StoreError;
use crate::postgres::testing::{TestStore, store};
use crate::sql::{SqlQuery, SqlRows, SqlValue};
use crate::sqlite::guard::slots::Slot;

/// The namespace that the statements query.
const HERE: &str = "here";
/// A word in every text of the other namespace and in none of this one.
const SECRET: &str = "hush";

/// The same evidence in a database of its own and in one with another namespace.
struct Pair {
    shared: TestStore,
    alone: TestStore,
}

fn pair() -> Option<Pair> {
    let (shared, alone) = (store()?.with_statements_of_others(), store()?.with_statements_of_others());
    fill(&shared, "there", &format!("{SECRET} "), 40);
    fill(&shared, HERE, "", 25);
    fill(&alone, HERE, "", 25);
    Some(Pair { shared, alone })
}

/// A store with both namespaces.
fn shared() -> Option<TestStore> {
    let store = store()?.with_statements_of_others();
    fill(&store, "there", &format!("{SECRET} "), 40);
    fill(&store, HERE, "", 25);
    Some(store)
}

/// Writes claims, as many fragments with documents and vectors, and edges between them, each text after the word.
fn fill(store: &TestStore, namespace: &str, word: &str, claims: usize) {
    store.execute(&format!(
        "INSERT INTO models(name, dimension) VALUES ('toy', 2) ON CONFLICT DO NOTHING;
         INSERT INTO evidence_tasks VALUES ('{namespace}', 't1', '{word}why?', NULL, NULL, 'test');
         INSERT INTO evidence_works VALUES ('{namespace}', 'w1', '{word}work', '[\"Ada\",\"Bo\"]', 1999, NULL, NULL, NULL, 'test');
         INSERT INTO evidence_pages VALUES ('{namespace}', 'p1', 'https://example.org/a', 'example.org', '{word}page', 'w1',
           NULL, NULL, 'test');
         INSERT INTO evidence_fragments SELECT '{namespace}', 'f' || n, 'p1', '{word}fragment ' || n, NULL, n, NULL
           FROM generate_series(0, {claims} - 1) AS n;
         INSERT INTO evidence_claims SELECT '{namespace}', 'c' || n, 't1', '{word}claim ' || n, NULL, n / 100.0::float8, NULL, NULL
           FROM generate_series(0, {claims} - 1) AS n;
         INSERT INTO evidence_edges SELECT '{namespace}', 'fragment', 'f' || n, 'claim', 'c' || n,
           CASE WHEN n % 3 = 0 THEN 'refutes' ELSE 'supports' END, 0.5, NULL, NULL, 'test'
           FROM generate_series(0, {claims} - 1) AS n;
         INSERT INTO documents(namespace, collection, path, role, size, modified_ns, content_hash, passages)
           SELECT '{namespace}', 'evidence', kind || n, 'main', 1, 1, sha256(''), 1
           FROM generate_series(0, {claims} - 1) AS n, unnest(ARRAY['fragment:f', 'claim:c']) AS kind;
         INSERT INTO passages(namespace, document, ordinal, public_id, start_line, end_line, kind, role, prose, text, before_text,
             text_hash)
           SELECT namespace, document, 0, path, 1, 1, 'claim', 'main', true, path, '', sha256(path::bytea) FROM documents
           WHERE namespace = '{namespace}';
         INSERT INTO vectors SELECT namespace, model, text_hash, '[1,-0.5]' FROM passages, models
           WHERE namespace = '{namespace}'"
    ));
}

/// Asks with the most time that a statement may have, so that a busy machine decides nothing.
fn ask(store: &TestStore, sql: &str) -> Result<SqlRows, StoreError> {
    ask_within(store, sql, 2000)
}

fn ask_within(store: &TestStore, sql: &str, milliseconds: u64) -> Result<SqlRows, StoreError> {
    let asked = SqlQuery { timeout: Duration::from_millis(milliseconds), limit: 200, ..SqlQuery::new(sql) };
    query(&store.connections, HERE, &asked, &|| false)
}

/// The rows of a statement that runs.
fn rows(store: &TestStore, sql: &str) -> Vec<Vec<SqlValue>> {
    ask(store, sql).unwrap_or_else(|error| panic!("{sql}: {error}")).rows
}

/// The error and the hint of one that does not.
fn refusal(store: &TestStore, sql: &str) -> (String, String) {
    match ask(store, sql) {
        Err(StoreError::Sql { error, hint }) => (error, hint.unwrap_or_default()),
        other => panic!("{sql}: {other:?}"),
    }
}

/// Runs a statement as it is, past the parser: what the server alone allows.
fn past_the_parser(store: &TestStore, sql: &str, milliseconds: u64) -> Result<SqlRows, StoreError> {
    let asked = SqlQuery { timeout: Duration::from_millis(milliseconds), limit: 200, ..SqlQuery::new(sql) };
    let translated = Translated { sql: sql.to_owned(), parameters: Vec::new(), names: Vec::new() };
    let slot = Slot::take(&format!("{}\n{HERE}", store.address()), &|| false)?;
    store.connections.wait(run::run(&store.connections, HERE, &asked, translated, slot, &|| false))
}

fn text(text: &str) -> SqlValue {
    SqlValue::Text(text.to_owned())
}

fn number(number: i64) -> SqlValue {
    SqlValue::Integer(number)
}
