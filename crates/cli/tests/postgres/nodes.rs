//! Searches while a node of a distributed store is away. The server is made to look like one with Citus, which lists the namespaces
//! itself and fails where a statement concerns the namespace of the other node.

use crate::database::TestDatabase;
use crate::{done, tamis, tree};
use serde_json::{Value, json};

const AWAY: &str = "
SET search_path = tamis, public;
INSERT INTO meta VALUES ('distributed_by', 'namespace');
REVOKE ALL ON SCHEMA tamis FROM tamis_searcher;
CREATE TABLE namespace_list AS SELECT * FROM namespaces;
ALTER TABLE namespaces RENAME TO namespaces_of_nodes;
CREATE FUNCTION is_here(name text) RETURNS boolean LANGUAGE plpgsql COST 1000000 AS $$
BEGIN
  IF name = 'away' THEN
    RAISE EXCEPTION 'connection to the remote node tamis@two:2 failed' USING ERRCODE = '08006';
  END IF;
  RETURN true;
END $$;
CREATE VIEW namespaces AS SELECT * FROM namespaces_of_nodes WHERE is_here(namespace);
CREATE TABLE public.pg_dist_node(groupid integer, nodename text, nodeport integer, noderole text);
INSERT INTO public.pg_dist_node VALUES (1, 'one', 1, 'primary'), (2, 'two', 2, 'primary');
CREATE TABLE public.pg_dist_placement(shardid bigint, groupid integer);
INSERT INTO public.pg_dist_placement VALUES (11, 1), (12, 2);
CREATE FUNCTION public.get_shard_id_for_distribution_column(t regclass, name text) RETURNS bigint LANGUAGE sql
AS $$ SELECT CASE name WHEN 'away' THEN 12 ELSE 11 END $$;
CREATE FUNCTION public.run_command_on_workers(command text) RETURNS TABLE(nodename text, nodeport integer, success boolean, result text)
LANGUAGE sql AS $$ VALUES ('one', 1, true, '1'), ('two', 2, false, 'no connection') $$";

#[test]
fn a_search_answers_from_the_nodes_that_are_there() {
    let Some(database) = TestDatabase::create() else { return };
    let directory = tree();
    let root = directory.path();
    let url = database.url();
    for namespace in ["here", "away"] {
        done(tamis(root, Some(&url)).env("TAMIS_STORE_NAMESPACE", namespace).args(["index", "--wait"]));
    }
    let search = |namespaces: &[&str]| {
        let mut command = tamis(root, Some(&url));
        command.args(["search", "heat the oven", "--no-refresh", "--json"]);
        command.args(namespaces.iter().flat_map(|name| ["--namespace", name]));
        let output = command.output().expect("it runs");
        let answer: Option<Value> = serde_json::from_slice(&output.stdout).ok();
        (output.status.code(), answer.unwrap_or_default(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let places = |answer: &Value| -> Vec<(Value, Value)> {
        let results = answer["results"].as_array().expect("results").iter();
        results.map(|hit| (hit["namespace"].clone(), hit["path"].clone())).collect()
    };
    let (_, alone, _) = search(&["here"]);
    assert_eq!(places(&alone)[0], (json!("here"), json!("oven.md")));
    database.execute(AWAY);

    let (code, answer, warned) = search(&["here"]);
    assert_eq!((code, places(&answer), &answer["partial"]), (Some(0), places(&alone), &Value::Null), "{warned}");
    for namespaces in [&["away", "here"][..], &[]] {
        let (code, answer, warned) = search(namespaces);
        assert_eq!(code, Some(0), "{warned}");
        assert_eq!((&answer["partial"], &answer["missing_namespaces"]), (&json!(true), &json!(["away"])));
        assert_eq!(places(&answer), places(&alone));
        assert_eq!(answer["index"]["namespaces"], json!(["here"]));
        assert!(warned.contains("not searched, since their server is away: away"), "{warned}");
    }
    let (code, _, error) = search(&["away"]);
    assert_eq!(code, Some(2));
    assert!(error.contains("a node of Citus is away; start it, or search namespaces of the other nodes"), "{error}");
    let status = done(tamis(root, Some(&url)).args(["store", "status"]));
    assert!(status.contains("passages; its node is away"), "{status}");
}
