//! Row-level security: a second wall behind the filters of searches. A transaction that concerns some namespaces runs under the role
//! `tamis_searcher`, to which the server shows no row of another namespace, whatever a statement asks for.

use deadpool_postgres::{GenericClient, Transaction};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use super::connection::Working;
use super::failure;
use super::failure::Failure;
use super::servers::{HERE_ALONE, are_distributed};

/// Makes the role and its policies.
pub(crate) const ROLE: &str = include_str!("schema/row_security.sql");

/// Confines a transaction. The namespaces come first, since the role may not change them back. Where the settings of a user or a
/// database switch the policies off, the server would refuse what the role reads.
const CONFINE: &str = "SELECT set_config('tamis.namespaces', $1::text[]::text, true), set_config('row_security', 'on', true), \
     set_config('role', 'tamis_searcher', true)";

/// True if the role is there, may be taken on, reads through the policies and cannot go round them.
const IS_READY: &str = "SELECT coalesce((SELECT NOT r.rolsuper AND NOT r.rolbypassrls AND pg_has_role(r.oid, 'SET') \
      AND has_schema_privilege(r.oid, 'tamis', 'USAGE') \
      AND NOT EXISTS (SELECT 1 FROM pg_extension e WHERE e.extname IN ('vector', 'pg_textsearch') \
        AND NOT has_schema_privilege(r.oid, e.extnamespace, 'USAGE')) \
      AND NOT EXISTS (SELECT 1 FROM pg_class c WHERE c.relnamespace = 'tamis'::regnamespace AND c.relkind IN ('r', 'p') \
        AND has_table_privilege(r.oid, c.oid, 'SELECT') AND c.relname <> 'models' \
        AND (NOT c.relrowsecurity OR pg_has_role(r.oid, c.relowner, 'USAGE'))) \
      AND has_table_privilege(r.oid, 'passages', 'SELECT') \
      AND has_function_privilege(r.oid, 'words_with_each(bigint[], bigint[], bigint[], bigint[])', 'EXECUTE') \
    FROM pg_roles r WHERE r.rolname = 'tamis_searcher'), false)";

/// Finds out whether transactions can be confined to namespaces, and makes the role if it is missing and the user may. Distributed tables
/// have no policies: Citus passes a restrictive one on as a permissive one, which keeps nothing back.
pub(crate) async fn prepare(client: &impl GenericClient) -> Result<bool, Failure> {
    let ready = async || Ok::<bool, Failure>(client.query_one(IS_READY, &[]).await?.get(0));
    if ready().await? {
        return Ok(true);
    }
    if are_distributed(client).await? {
        return Ok(false);
    }
    match client.batch_execute(&format!("{HERE_ALONE};\n{ROLE}")).await {
        Ok(()) => ready().await,
        Err(error) if is_refusal(&error) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// True if the user may not make the role, or the server takes no writes.
fn is_refusal(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) || error.as_db_error().is_some_and(failure::is_read_only)
}

/// Runs work in a transaction that reads these namespaces alone, to its end. Its first statement follows without waiting for the
/// answer, so that being confined costs no exchange of messages; if the server refuses, it runs nothing that follows either.
pub(crate) async fn confined(
    transaction: &Transaction<'_>,
    namespaces: &[&str],
    work: Working<'_>,
) -> Result<(), Failure> {
    // A name with a zero byte cannot be stored, and the server refuses it.
    let names: Vec<&str> = namespaces.iter().copied().filter(|name| !name.contains('\0')).collect();
    let confine = async { Ok::<_, Failure>(transaction.query_typed(CONFINE, &[(&names, Type::TEXT_ARRAY)]).await?) };
    tokio::try_join!(biased; confine, work)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::connection::Connections;
    use crate::postgres::failure::Failure;
    use crate::postgres::select::{Scope, Statement, Words};
    use crate::postgres::tests::{Random, TestStore, store};
    use crate::postgres::words::in_memory::TermNumbers;
    use crate::postgres::{PostgresStore, select};
    use crate::prelude::*;
    use crate::{Attribute, Change, Filter, LexicalQuery, ModelKey, NewDocument, NewPassage, TextForm};
    use std::collections::BTreeSet;

    /// Names that a list in SQL could misread.
    const NAMES: [&str; 9] =
        ["plain", "with space", "a,b", "o'hara", "\"quoted\"", "{braced}", "back\\slash", "NULL", "ümlaut"];

    /// Tables with something of each namespace.
    const FILLED: [&str; 7] = ["namespaces", "documents", "attributes", "passages", "words", "frequencies", "vectors"];

    fn filled() -> Option<TestStore> {
        let store = store()?;
        let changes = NAMES.iter().map(|name| {
            let mut document = NewDocument::new(*name, "docs", "secret.md");
            document.attributes = vec![Attribute { name: "kind".to_owned(), value: "secret".to_owned() }];
            let text = format!("the secret of {name}");
            let passage = NewPassage::new("section", 1..=1, text, TextForm::Prose);
            document.passages = vec![NewPassage { symbol: Some("secret".to_owned()), ..passage }];
            Change::Put(document)
        });
        store.apply(&changes.collect::<Vec<_>>()).unwrap();
        let hashes = store.unembedded("model", &Filter::default(), 100).unwrap();
        let vectors: Vec<_> = hashes.iter().map(|text| (text.hash, vec![1.0, 0.0])).collect();
        store.put_vectors(&ModelKey { id: "model".into(), dimension: 2 }, &vectors).unwrap();
        Some(store)
    }

    fn named(names: &[&str]) -> Filter {
        Filter { namespaces: names.iter().map(|name| (*name).to_owned()).collect(), ..Filter::default() }
    }

    /// The namespaces of the rows that a statement without any condition finds.
    async fn found(transaction: &Transaction<'_>, from: &str) -> Result<BTreeSet<String>, Failure> {
        let rows = transaction.query(&format!("SELECT DISTINCT namespace FROM {from}"), &[]).await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    /// The numbers of the word in all texts, which has one of its own in each namespace.
    fn numbers(store: &TestStore) -> Vec<i64> {
        let numbers = store.connections.read(async |transaction| {
            let rows = transaction.query("SELECT number FROM namespaces", &[]).await?;
            Ok(rows.iter().map(|row| TermNumbers::new(row.get(0)).get("secret")).collect())
        });
        numbers.unwrap()
    }

    #[test]
    fn a_transaction_of_some_namespaces_reads_no_other_without_any_filter() {
        let Some(store) = filled() else { return };
        assert!(store.connections.has_row_security());
        let numbers = numbers(&store);
        let mut random = Random(5);
        for _ in 0..20 {
            let names: BTreeSet<&str> = (0..1 + random.below(4)).map(|_| *random.one_of(&NAMES)).collect();
            let expected: BTreeSet<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let asked: Vec<&str> = names.iter().copied().chain(["missing", "zero\0byte"]).collect();
            store
                .connections
                .read_of(&asked, async |transaction| {
                    for table in FILLED {
                        assert_eq!(found(transaction, table).await?, expected, "{table}");
                    }
                    // The store's own searches, as if they had lost the names of their filter.
                    let everything = Filter::default();
                    assert_eq!(select::select(transaction, &everything).await?.len(), names.len());
                    let scope = Scope::read(transaction, &everything).await?;
                    assert_eq!(scope.namespaces, expected.iter().cloned().collect::<Vec<_>>());
                    let wanted = vec!["secret".to_owned()];
                    let each = [numbers.clone(), numbers.clone()];
                    for asked in [Words::WithEach(&each[..1]), Words::WithEach(&each), Words::Defining(&wanted)] {
                        let mut statement = Statement::new("SELECT w.namespace FROM words w WHERE ");
                        scope.words(&mut statement, asked);
                        assert_eq!(statement.query(transaction).await?.len(), names.len(), "{asked:?}");
                    }
                    for number in &numbers {
                        let from = format!("words_with_all(ARRAY[{number}])");
                        assert!(found(transaction, &from).await?.is_subset(&expected), "{number}");
                    }
                    Ok(())
                })
                .unwrap();
            let filter = named(&names.iter().copied().collect::<Vec<_>>());
            assert_eq!(store.lexical(&LexicalQuery::new("secret"), &filter, 20).unwrap().hits.len(), names.len());
            assert_eq!(store.nearest("model", &[1.0, 0.0], &filter, 20).unwrap().hits.len(), names.len());
            assert_eq!(store.defining("secret", &filter, 20).unwrap().len(), names.len());
            assert_eq!(store.containing("the secret", &filter, 20).unwrap().len(), names.len());
        }
        assert_eq!(store.documents("o'hara").unwrap().len(), 1);
        assert_eq!(store.document_passages("NULL", "secret.md").unwrap()[0].text, "the secret of NULL");
    }

    #[test]
    fn large_namespaces_are_searched_under_the_role() {
        let Some(filled) = filled() else { return };
        let mut store = filled.another();
        store.retrievers.sizes = crate::postgres::Sizes { few: 0, many: 0, ..Default::default() };
        for name in NAMES {
            let filter = named(&[name]);
            assert_eq!(store.lexical(&LexicalQuery::new("secret"), &filter, 20).unwrap().hits.len(), 1, "{name}");
            let nearest = store.nearest("model", &[1.0, 0.0], &filter, 20).unwrap();
            assert_eq!((nearest.hits.len(), nearest.background.count), (1, 1), "{name}");
        }
    }

    #[test]
    fn the_role_without_namespaces_reads_nothing_and_can_only_read() {
        let Some(store) = filled() else { return };
        let numbers = numbers(&store);
        let all = "SELECT relname::text FROM pg_class WHERE relnamespace = 'tamis'::regnamespace AND relkind IN ('r', 'p') \
             AND EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'namespace')";
        store
            .connections
            .write(async |transaction| {
                transaction.batch_execute("SET LOCAL ROLE tamis_searcher").await?;
                let tables = transaction.query(all, &[]).await?;
                assert!(tables.len() >= 18, "{}", tables.len());
                for row in &tables {
                    // A table is behind the policies, or out of reach.
                    let table: &str = row.get(0);
                    transaction.batch_execute("SAVEPOINT one").await?;
                    match found(transaction, table).await {
                        Ok(namespaces) => assert!(namespaces.is_empty(), "{table}"),
                        Err(Failure::Server(error)) if error.code().is_some_and(|code| code.code() == "42501") => {}
                        Err(failure) => return Err(failure),
                    }
                    transaction.batch_execute("ROLLBACK TO one").await?;
                }
                assert!(found(transaction, &format!("words_with_any(ARRAY{numbers:?})")).await?.is_empty());
                let each = format!("words_with_each(ARRAY{numbers:?}, NULL, NULL, NULL)");
                assert!(found(transaction, &each).await?.is_empty());
                // An error would name the value of a row that a condition saw.
                transaction.batch_execute("SELECT 1 FROM words WHERE indexed::integer = 1").await?;
                transaction.batch_execute("SELECT 1 FROM passages WHERE text::integer = 1").await?;
                for refused in [
                    "SELECT value FROM meta",
                    "INSERT INTO properties(namespace, name, value) VALUES ('plain', 'a', 'b')",
                    "UPDATE documents SET path = 'x'",
                    "DELETE FROM passages",
                    "ALTER TABLE passages DISABLE ROW LEVEL SECURITY",
                    "DROP POLICY of_namespaces ON passages",
                    "CREATE FUNCTION tamis.peek() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
                    "SET LOCAL row_security = off; SELECT text FROM passages",
                ] {
                    transaction.batch_execute("SAVEPOINT one").await?;
                    let error = transaction.batch_execute(refused).await.expect_err(refused);
                    let code = error.code().map(|code| code.code().to_owned()).unwrap_or_default();
                    assert!(["42501", "0A000"].contains(&code.as_str()), "{refused}: {error:?}");
                    transaction.batch_execute("ROLLBACK TO one").await?;
                }
                Ok(())
            })
            .unwrap();
    }

    #[test]
    fn what_was_recorded_of_several_namespaces_is_seen_by_who_sees_all_of_them() {
        let Some(store) = store() else { return };
        for names in ["anvil", "anvil,bellows", "bellows"] {
            store.execute(&format!(
                "INSERT INTO usage_quality(namespace, at_ms, entry_point, corpus, query_hash, mode, candidates, kept, dropped, returned, \
                 top_k, threshold_method, milliseconds, total_ms) \
                 VALUES ('{names}', 0, 'search', 'all', sha256(''), 'hybrid', 0, 0, 0, 0, 1, 'auto', '{{}}', 1)"
            ));
        }
        for (asked, expected) in [(&["anvil"][..], 1), (&["bellows", "anvil"], 3), (&["crucible"], 0)] {
            let seen = store.connections.read_of(asked, async |transaction| {
                Ok(transaction.query_one("SELECT count(*) FROM usage_quality", &[]).await?.get::<_, i64>(0))
            });
            assert_eq!(seen.unwrap(), expected, "{asked:?}");
        }
    }

    #[test]
    fn settings_that_switch_the_policies_off_neither_fail_a_search_nor_open_it() {
        let Some(store) = filled() else { return };
        let url = format!("{}?options=-c%20row_security%3Doff", store.url());
        let off = PostgresStore::open(&url, "here").unwrap();
        assert!(off.connections.has_row_security());
        assert_eq!(off.lexical(&LexicalQuery::new("secret"), &named(&NAMES[..1]), 5).unwrap().hits.len(), 1);
        let seen = off.connections.read_of(&NAMES[..1], async |transaction| found(transaction, "passages").await);
        assert_eq!(seen.unwrap(), BTreeSet::from([NAMES[0].to_owned()]));
    }

    #[test]
    fn a_user_without_the_role_has_everything_but_the_second_wall() {
        let Some(server) = store() else { return };
        let user = format!("tamis_plain_{}", std::process::id());
        // The tables of the test go, and the user makes its own.
        server.execute(&format!(
            "DROP SCHEMA tamis CASCADE; CREATE ROLE {user} LOGIN; \
             DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO {user}', current_database()); END $$"
        ));
        let _forgotten = Forgotten { server: &server, user: user.clone() };
        let url = server.url();
        let host = url.find('@').map_or("", |at| &url[at..]);
        let url = format!("postgres://{user}{host}");
        let plain = PostgresStore::open(&url, "here").unwrap();
        assert!(!plain.status().unwrap().row_security);
        assert_eq!(plain.status().unwrap().user, user);
        let mut document = NewDocument::new("here", "docs", "a.md");
        document.passages = vec![NewPassage::new("section", 1..=1, "a bird", TextForm::Prose)];
        plain.apply(&[Change::Put(document)]).unwrap();
        let found = || plain.lexical(&LexicalQuery::new("bird"), &named(&["here"]), 5).unwrap().hits.len();
        assert_eq!(found(), 1);
        // The server's administrator makes up for it, and the next start builds the wall.
        server.execute(&format!("GRANT tamis_searcher TO {user} WITH SET TRUE, INHERIT FALSE"));
        let walled = PostgresStore::open(&url, "here").unwrap();
        assert!(walled.status().unwrap().row_security);
        assert_eq!(walled.lexical(&LexicalQuery::new("bird"), &named(&["here"]), 5).unwrap().hits.len(), 1);
        assert_eq!(walled.lexical(&LexicalQuery::new("bird"), &named(&["there"]), 5).unwrap().hits.len(), 0);
        // A process of before goes on without it.
        assert_eq!(found(), 1);
        // A role that goes round the policies is no wall.
        let connections = Connections::new(&url).unwrap();
        server.execute("ALTER TABLE passages DISABLE ROW LEVEL SECURITY");
        connections.prepare_row_security().unwrap();
        assert!(connections.has_row_security(), "{ROLE}");
    }

    /// A user that is dropped at the end, with all it has.
    struct Forgotten<'s> {
        server: &'s TestStore,
        user: String,
    }

    impl Drop for Forgotten<'_> {
        fn drop(&mut self) {
            let user = &self.user;
            self.server
                .execute(&format!("REASSIGN OWNED BY {user} TO CURRENT_USER; DROP OWNED BY {user}; DROP ROLE {user}"));
        }
    }
}
