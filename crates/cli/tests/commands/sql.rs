//! `tamis sql`: statements on the evidence graph, and refusals.

use crate::support::{Tree, run};

#[test]
fn rows_come_as_a_table_and_for_programs() {
    let tree = Tree::indexed();
    let sql = "SELECT column1 AS id, column2 AS n FROM (VALUES ('a', 1), ('b\nc', NULL)) ORDER BY id";
    let (code, out, err) = run(tree.tamis(&["sql", sql]));
    assert_eq!(code, 0, "{err}");
    assert!(out.contains(" a    1") && out.contains(" b c  –") && out.contains("2 rows ("), "{out}");
    let (code, out, _) = run(tree.tamis(&["sql", sql, "--jsonl"]));
    assert_eq!((code, out.as_str()), (0, "{\"id\":\"a\",\"n\":1}\n{\"id\":\"b\\nc\",\"n\":null}\n"));
    let (code, out, _) = run(tree.tamis(&["sql", sql, "--csv"]));
    assert_eq!((code, out.as_str()), (0, "id,n\na,1\n\"b\nc\",\n"));
    let answer = tree.json(&["sql", sql, "--limit", "1", "--json"]);
    assert_eq!(answer["rows"], serde_json::json!([["a", 1]]));
    assert_eq!((&answer["row_count"], &answer["truncated"]), (&1.into(), &true.into()));
    let (_, _, err) = run(tree.tamis(&["sql", sql, "--limit", "1", "--csv"]));
    assert!(err.contains("there are more rows"), "{err}");
}

#[test]
fn the_exit_status_says_whether_there_are_rows() {
    let tree = Tree::indexed();
    let (code, out, _) = run(tree.tamis(&["sql", "SELECT * FROM claims"]));
    assert_eq!(code, 1);
    assert!(out.contains("no rows"), "{out}");
    for (arguments, part) in [
        (&["sql", "SELECT * FROM clams"][..], "did you mean claims?"),
        (&["sql", "SELECT count(*) FROM documents"], "no such table: documents"),
        (&["sql", "PRAGMA query_only = 0"], "PRAGMA is not allowed"),
        (&["sql", "SELECT 1", "--limit", "201"], "from 1 to 200"),
        (&["sql", "SELECT 1", "--timeout", "0"], "from 1 to 2000"),
        (&["sql", "SELECT 1", "--namespace", "elsewhere"], "namespace"),
        (&["sql", "SELECT :a", "--param", "b=1"], "has no parameter b"),
        (&["sql"], "required"),
    ] {
        let (code, _, err) = run(tree.tamis(arguments));
        assert_eq!(code, 2, "{arguments:?}");
        assert!(err.contains(part), "{arguments:?}: {err}");
    }
}

#[test]
fn a_statement_can_come_from_standard_input_with_its_values_beside_it() {
    let tree = Tree::indexed();
    let mut command = tree.tamis(&["sql", "-", "--param", "a=7", "--param", "b='; DROP TABLE claims", "--jsonl"]);
    command.write_stdin("SELECT :a + 1 AS a, :b AS b\n");
    let (code, out, err) = run(command);
    assert_eq!((code, out.as_str()), (0, "{\"a\":8,\"b\":\"'; DROP TABLE claims\"}\n"), "{err}");
}

#[test]
fn the_tables_are_told() {
    let tree = Tree::empty();
    let (code, out, _) = run(tree.tamis(&["sql", "--schema"]));
    assert_eq!(code, 0);
    assert!(out.contains("claims: ") && out.contains("nli_edge_confidence real"), "{out}");
    let tables = tree.json(&["sql", "--schema", "--json"]);
    assert_eq!(tables.as_array().map(Vec::len), Some(7));
}

/// An endless statement, through the command: it ends, and leaves the database unchanged.
#[test]
fn what_has_no_end_is_ended() {
    let tree = Tree::indexed();
    let database = tree.root().join(".tamis/tamis.db");
    let before = std::fs::read(&database).unwrap();
    let sql = "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT x FROM t ORDER BY -x";
    let (code, _, err) = run(tree.tamis(&["sql", sql, "--timeout", "200"]));
    assert_eq!(code, 2);
    assert!(err.contains("takes longer than 200 ms") || err.contains("of memory"), "{err}");
    assert!(before == std::fs::read(&database).unwrap(), "the database changed");
}
