//! The statements that distribute the tables, on a server whose functions of Citus are made up: they check what Citus would refuse,
//! and note what they are asked for.

use super::tables::{COLUMN, DISTRIBUTED, LOCAL, REFERENCE};
use super::*;
use crate::postgres::testing::{TestStore, store};
use crate::prelude::*;
use crate::record::Change;
use crate::{Filter, LexicalQuery, ModelKey, NewDocument, NewNamespace, NewPassage, StoreError, TextForm};

/// A table of what was distributed, and functions that look at a table as Citus does: its keys have the column, and no foreign key
/// leads to or from a table elsewhere. A command on shards runs on the table.
const CITUS: &str = "
CREATE TABLE public.pg_dist_partition(logicalrelid regclass PRIMARY KEY, at serial, how text, place text, shards integer);
CREATE FUNCTION public.create_distributed_table(t regclass, c text, colocate_with text DEFAULT 'default', shard_count integer DEFAULT NULL)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM pg_index i WHERE i.indrelid = t AND i.indisunique AND NOT EXISTS (SELECT FROM pg_attribute a
      WHERE a.attrelid = t AND a.attname = c AND a.attnum = ANY(i.indkey::smallint[]))) THEN
    RAISE EXCEPTION 'cannot create constraint on %', t;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_attribute a JOIN pg_collation o ON o.oid = a.attcollation
      WHERE a.attrelid = t AND a.attname = c AND a.attnotnull AND a.atttypid = 'text'::regtype AND o.collname = 'C') THEN
    RAISE EXCEPTION '% cannot lie with the others', t;
  END IF;
  IF EXISTS (SELECT FROM pg_constraint WHERE contype = 'f' AND (conrelid = t OR confrelid = t)) THEN
    RAISE EXCEPTION 'a foreign key of % leads elsewhere', t;
  END IF;
  IF EXISTS (SELECT FROM pg_trigger WHERE tgrelid = t AND NOT tgisinternal) THEN
    RAISE EXCEPTION '% has a trigger', t;
  END IF;
  -- Those with a subquery are refused, and restrictive ones become permissive.
  IF EXISTS (SELECT FROM pg_policy WHERE polrelid = t) OR (SELECT relrowsecurity FROM pg_class WHERE oid = t) THEN
    RAISE EXCEPTION '% has policies', t;
  END IF;
  -- The nodes do not know the role.
  IF EXISTS (SELECT FROM pg_class, aclexplode(relacl) a WHERE oid = t AND a.grantee <> relowner) THEN
    RAISE EXCEPTION '% is granted to others', t;
  END IF;
  INSERT INTO pg_dist_partition(logicalrelid, how, place, shards) VALUES (t, c, colocate_with, shard_count);
END $$;
CREATE FUNCTION public.undistribute_table(t regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM pg_constraint WHERE contype = 'f' AND (conrelid = t OR confrelid = t)) THEN
    RAISE EXCEPTION '% has a foreign key', t;
  END IF;
  DELETE FROM pg_dist_partition WHERE logicalrelid = t;
END $$;
CREATE TABLE public.pg_dist_node(groupid integer, nodename text, nodeport integer, noderole text);
INSERT INTO public.pg_dist_node VALUES (1, 'one', 1, 'primary'), (2, 'two', 2, 'primary');
CREATE TABLE public.pg_dist_placement(shardid bigint, groupid integer);
INSERT INTO public.pg_dist_placement VALUES (11, 1), (12, 2);
CREATE FUNCTION public.get_shard_id_for_distribution_column(t regclass, name text) RETURNS bigint LANGUAGE sql
AS $$ SELECT CASE name WHEN 'away' THEN 12 ELSE 11 END $$;
CREATE FUNCTION public.run_command_on_workers(command text) RETURNS TABLE(nodename text, nodeport integer, success boolean, result text)
LANGUAGE sql AS $$ VALUES ('one', 1, true, '1'), ('two', 2, false, 'no connection') $$;
CREATE FUNCTION public.create_reference_table(t regclass) RETURNS void LANGUAGE sql
AS $$ INSERT INTO pg_dist_partition(logicalrelid, how) VALUES (t, 'reference') $$;
CREATE FUNCTION public.run_command_on_shards(t regclass, command text) RETURNS TABLE(shardid bigint, success boolean, result text)
LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format(command, t);
  RETURN QUERY SELECT 1::bigint, true, 'done';
EXCEPTION WHEN OTHERS THEN
  RETURN QUERY SELECT 1::bigint, false, SQLERRM;
END $$;";

fn mill(namespace: &str) -> Change {
    Change::Put(NewDocument {
        passages: vec![NewPassage::new("section", 1..=1, "the mill grinds slowly", TextForm::Prose)],
        ..NewDocument::new(namespace, "docs", "mill.md")
    })
}

fn rows(store: &TestStore, statement: &str) -> Vec<String> {
    store
        .connections
        .wait(async {
            let connection = store.connections.session_of_its_own().await?;
            Ok(connection.query(statement, &[]).await?.iter().map(|row| row.get(0)).collect())
        })
        .unwrap()
}

const KEYS: &str = "SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint \
     WHERE contype = 'f' AND connamespace = 'tamis'::regnamespace ORDER BY 1";

#[test]
fn every_table_has_its_place() {
    let Some(store) = store() else { return };
    let mut placed: Vec<&str> =
        DISTRIBUTED.iter().chain(REFERENCE).copied().chain(LOCAL.iter().map(|(table, _)| *table)).collect();
    placed.sort_unstable();
    let found = rows(
        &store,
        "SELECT relname::text FROM pg_class WHERE relnamespace = 'tamis'::regnamespace AND relkind = 'r' ORDER BY relname COLLATE \"C\"",
    );
    assert_eq!(found, placed, "name new tables in sharding/tables.rs");
}

#[test]
fn tables_are_distributed_together_with_their_keys() {
    let Some(store) = store() else { return };
    store.execute(CITUS);
    let keys = rows(&store, KEYS);
    let planned = store.shard_statements(Some(64)).unwrap();
    assert!(planned.has_citus);
    assert!(rows(&store, "SELECT how FROM pg_dist_partition").is_empty(), "nothing is changed yet");
    assert_eq!(store.shard(Some(64)).unwrap(), planned);
    let found =
        rows(&store, "SELECT concat_ws(' ', logicalrelid, how, place, shards) FROM pg_dist_partition ORDER BY at");
    let mut expected: Vec<String> = REFERENCE.iter().map(|table| format!("{table} reference")).collect();
    expected.push(format!("namespaces {COLUMN} none 64"));
    expected.extend(DISTRIBUTED[1..].iter().map(|table| format!("{table} {COLUMN} namespaces")));
    assert_eq!(found, expected);
    assert_eq!(rows(&store, KEYS), keys);
    // The second time there is nothing to distribute.
    assert!(
        store.shard(None).unwrap().statements.iter().all(|statement| !statement.contains("create_distributed_table"))
    );
    let refused = store.apply(&[mill("here")]).unwrap_err();
    assert!(matches!(refused, StoreError::Replaced { .. }), "it lists no namespaces: {refused}");
    let opened = store.another();
    opened.apply(&[mill("here")]).unwrap();
    assert_eq!(opened.lexical(&LexicalQuery::new("mill"), &Filter::default(), 5).unwrap().hits.len(), 1);
}

#[test]
fn what_the_server_refuses_changes_nothing() {
    let Some(store) = store() else { return };
    store.execute(CITUS);
    store.execute("ALTER TABLE tamis.vectors ADD UNIQUE (text_hash, model)");
    let keys = rows(&store, KEYS);
    let error = store.shard(None).unwrap_err().to_string();
    assert!(error.contains("cannot create constraint on vectors"), "{error}");
    assert!(rows(&store, "SELECT how FROM pg_dist_partition").is_empty());
    assert_eq!(rows(&store, KEYS), keys);
}

#[test]
fn a_server_without_citus_is_an_error_that_says_what_to_do() {
    let Some(store) = store() else { return };
    let planned = store.shard_statements(None).unwrap();
    assert!(!planned.has_citus && planned.statements.len() > DISTRIBUTED.len());
    let error = store.shard(None).unwrap_err().to_string();
    assert!(error.contains("Citus is not installed") && error.contains("CREATE EXTENSION citus"), "{error}");
}

#[test]
fn shards_have_indexes_of_words_without_names() {
    let Some(store) = store() else { return };
    store.execute(CITUS);
    if rows(&store, "SELECT name::text FROM pg_available_extensions WHERE name = 'pg_textsearch'").is_empty() {
        eprintln!("skipped: the server has no index of words");
        return;
    }
    store.execute("CREATE EXTENSION pg_textsearch SCHEMA public");
    let texts = ["the mill grinds slowly", "a mill by the river", "the river is cold", "nothing of that"];
    let passages = texts.map(|text| NewPassage::new("section", 1..=1, text, TextForm::Prose)).to_vec();
    store.apply(&[Change::Put(NewDocument { passages, ..NewDocument::new("here", "docs", "mill.md") })]).unwrap();
    let query = LexicalQuery::new("mill river");
    let before = store.lexical(&query, &Filter::default(), 5).unwrap().hits;
    let run = || -> Result<()> {
        store.connections.wait(async {
            let connection = store.connections.session_of_its_own().await?;
            for statement in word_indexes() {
                store.run(&connection, &statement).await?;
            }
            Ok(())
        })
    };
    run().unwrap();
    // Shards that have one keep it.
    run().unwrap();
    let indexes = "SELECT count(*)::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam WHERE a.amname = 'bm25'";
    assert_eq!(rows(&store, indexes), ["1"]);
    assert_eq!(store.status().unwrap().candidates_by, "bm25");
    let mut by_index = store.another();
    by_index.legs.sizes = crate::postgres::sizes::Sizes { few: 1, many: 1, ..Default::default() };
    assert_eq!(by_index.lexical(&query, &Filter::default(), 5).unwrap().hits, before);
}

#[test]
fn what_fails_on_a_shard_is_an_error() {
    let Some(store) = store() else { return };
    store.execute(CITUS);
    let failed = store.connections.wait(async {
        let connection = store.connections.session_of_its_own().await?;
        store.run(&connection, "SELECT shardid, success, result FROM run_command_on_shards('words', 'SELEC 1')").await
    });
    assert!(failed.unwrap_err().to_string().contains("shard 1: syntax error"));
}

#[test]
fn namespaces_of_a_node_that_is_away_are_known() {
    let Some(store) = store() else { return };
    store.execute(CITUS);
    store.apply(&[mill("here")]).unwrap();
    assert!(store.unreachable().unwrap().is_empty());
    store.shard(None).unwrap();
    let opened = store.another();
    opened.apply(&[mill("away"), mill("gone")]).unwrap();
    opened.publish(&mut |_| Ok(())).unwrap();
    opened.remove_namespace("gone").unwrap();
    opened.put_namespace(&NewNamespace { name: "away".into(), owner: Some("team".into()), shared: true }).unwrap();
    let listed = rows(&store, "SELECT l::text FROM namespace_list l ORDER BY 1");
    let known = "SELECT (namespace, root, machine, owner, shared, documents, passages, change_number, changed_ms, published_ms)::text \
         FROM namespaces WHERE namespace IN ('away', 'gone', 'here') ORDER BY 1";
    assert_eq!(listed, rows(&store, known));
    let names: Vec<String> = opened.namespaces().unwrap().into_iter().map(|namespace| namespace.name).collect();
    assert_eq!(names, ["away", "here"]);
    assert_eq!(opened.unreachable().unwrap(), ["away"]);
    let status = opened.status().unwrap();
    assert!(status.distributed && !status.row_security);
    assert_eq!(status.unreachable, ["away"]);
}

#[test]
fn no_node_is_asked_about_nothing() {
    let Some(store) = store() else { return };
    // As on a node that is away, whoever reads these tables fails.
    for table in ["documents", "passages", "vectors", "models"] {
        store.execute(&format!("ALTER TABLE {table} RENAME TO {table}_away"));
    }
    assert!(store.attributes(&[], &[crate::DocumentId(1)]).is_err());
    assert!(store.attributes(&[], &[]).unwrap().is_empty());
    assert!(store.records(&[], &[]).unwrap().is_empty());
    assert!(store.passages(&[], &[]).unwrap().is_empty());
    assert!(store.vectors("toy", &[], &[]).unwrap().is_empty());
}

#[test]
fn tables_that_come_back_are_as_before() {
    let Some(store) = store() else { return };
    store.execute(CITUS);
    let constraints = "SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint \
         WHERE connamespace = 'tamis'::regnamespace ORDER BY 1";
    let policies = "SELECT concat_ws(' ', tablename, policyname, permissive, roles, qual) FROM pg_policies ORDER BY 1";
    let identity =
        "SELECT attidentity::text FROM pg_attribute WHERE attrelid = 'models'::regclass AND attname = 'model'";
    let model = ModelKey { id: "first".into(), dimension: 2 };
    store.put_vectors(&model, &[]).unwrap();
    let before = (rows(&store, constraints), rows(&store, policies));
    assert!(store.unshard().unwrap().statements.is_empty(), "there is nothing to bring back");
    store.shard(None).unwrap();
    let sharded = store.another();
    assert!(!sharded.status().unwrap().row_security);
    sharded.apply(&[mill("here")]).unwrap();
    sharded.put_vectors(&ModelKey { id: "second".into(), ..model.clone() }, &[]).unwrap();
    sharded.unshard().unwrap();
    assert_eq!((rows(&store, constraints), rows(&store, policies)), before);
    assert_eq!(rows(&store, identity), ["a"]);
    assert!(rows(&store, "SELECT how FROM pg_dist_partition").is_empty());
    let back = store.another();
    let status = back.status().unwrap();
    assert!(!status.distributed && status.row_security);
    back.apply(&[mill("there")]).unwrap();
    back.put_vectors(&ModelKey { id: "third".into(), ..model }, &[]).unwrap();
    let models = "SELECT concat_ws(' ', model, name) FROM models ORDER BY 1";
    assert_eq!(rows(&store, models), ["1 first", "2 second", "3 third"]);
    assert_eq!(back.lexical(&LexicalQuery::new("mill"), &Filter::default(), 5).unwrap().hits.len(), 2);
}
