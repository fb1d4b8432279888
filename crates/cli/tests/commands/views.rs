//! Views, ranking and comparison of evidence through the binary.

use crate::support::{Tree, run};
use std::fs;

const GRAPH: &str = r#"{"record":"task","id":"t1","question":"Does folic acid prevent strokes?"}
{"record":"page","id":"p1","url":"https://trials.example/folic","title":"A trial of vitamins"}
{"record":"fragment","id":"f1","page_id":"p1","text":"Strokes were a tenth rarer among those who took folic acid."}
{"record":"fragment","id":"f2","page_id":"p1","text":"Folic acid had no effect on strokes in a later trial."}
{"record":"fragment","id":"f3","page_id":"p1","text":"Folic acid is found in spinach, and strokes in swimming pools."}
{"record":"claim","id":"c1","task_id":"t1","text":"Folic acid makes strokes rarer."}
{"record":"edge","source_type":"fragment","source_id":"f1","target_type":"claim","target_id":"c1","relation":"supports"}
{"record":"edge","source_type":"fragment","source_id":"f2","target_type":"claim","target_id":"c1","relation":"refutes"}
"#;

fn graph() -> Tree {
    let tree = Tree::empty();
    tree.write("graph.jsonl", GRAPH);
    let (code, _, error) = run(tree.tamis(&["import", "evidence", "graph.jsonl"]));
    assert_eq!(code, 0, "{error}");
    tree
}

#[test]
fn views_are_listed_and_asked() {
    let tree = graph();
    let listed = tree.json(&["views", "--json"]);
    assert!(listed.as_array().is_some_and(|views| views.len() >= 17), "{listed}");
    assert_eq!(listed[0]["name"], "v_contradictions");
    assert_eq!(listed[0]["parameters"][0]["name"], "task_id");
    let (code, out, _) = run(tree.tamis(&["view", "v_contradictions", "--task", "t1", "--csv"]));
    let expected = "claim_id,task_id,claim_text,supports,refutes,neutral,n,controversy\n\
                    c1,t1,Folic acid makes strokes rarer.,1,1,0,2,0.5\n";
    assert_eq!((code, out.as_str()), (0, expected));
    let (code, out, _) = run(tree.tamis(&["view", "v_contradictions", "--task", "t2"]));
    assert!(code == 1 && out.starts_with("no rows"), "{out}");
    let (code, _, error) = run(tree.tamis(&["view", "v_contradictons"]));
    assert!(code == 2 && error.contains("did you mean v_contradictions?"), "{error}");
    let (code, _, error) = run(tree.tamis(&["view", "v_contradictions", "--param", "min_controversy=high"]));
    assert!(code == 2 && error.contains("must be a number"), "{error}");
}

#[test]
fn trap_ones_own_view_cannot_splice() {
    let tree = graph();
    let user = tree.root().join("user");
    fs::create_dir_all(user.join("views")).expect("made");
    let header = "{# answers = \"Which claims say it?\"\nparameters = [{ name = \"word\", type = \"text\", is = \"a word\" }] #}\n";
    let write =
        |name: &str, body: &str| fs::write(user.join("views").join(name), format!("{header}{body}")).expect("written");
    write("said.sql.j2", "SELECT id FROM claims WHERE instr(text, :word)");
    write("spliced.sql.j2", "SELECT id FROM claims WHERE instr(text, '{{ word }}')");
    let ask = |arguments: &[&str]| {
        let mut command = tree.tamis(arguments);
        command.env("TAMIS_CONFIG_HOME", &user);
        run(command)
    };
    assert_eq!(ask(&["view", "said", "--param", "word=strokes", "--csv"]), (0, "id\nc1\n".into(), String::new()));
    assert_eq!(ask(&["view", "said", "--param", "word=') OR (1=1", "--csv"]).0, 1, "a value is a value");
    let (code, _, error) = ask(&["view", "spliced", "--param", "word=x"]);
    assert!(code == 2 && error.contains("spliced.sql.j2: line 3: a template may ask"), "{error}");
    let (code, _, error) = ask(&["view", "said"]);
    assert!(code == 2 && error.contains("needs it: a word"), "{error}");
    let (code, out, _) = ask(&["views"]);
    assert!(code == 0 && out.contains("cannot be used:") && out.contains("Which claims say it?"), "{out}");
}

#[test]
fn fragments_are_ranked_and_linked_and_claims_compared() {
    let tree = graph();
    let (code, out, error) = run(tree.tamis(&["evidence", "rank", "c1"]));
    assert_eq!(code, 0, "{error}");
    assert!(out.contains("  f1  page p1  [supports]\n") && out.contains(" look relevant ("), "{out}");
    let ranked = tree.json(&["evidence", "rank", "c1", "--cut", "fixed:k=3", "--link", "--json"]);
    assert_eq!((ranked["linked"].as_u64(), ranked["fragments"].as_array().map(Vec::len)), (Some(1), Some(3)));
    let chain = tree.json(&["view", "v_evidence_chain", "--param", "relation=neutral", "--json"]);
    assert_eq!((chain["row_count"].as_u64(), chain["rows"][0][5].as_str()), (Some(1), Some("f3")));
    let (code, _, error) = run(tree.tamis(&["evidence", "rank", "c9"]));
    assert!(code == 2 && error.contains("claim c9: not in the index"), "{error}");

    let (code, out, _) =
        run(tree.tamis(&["evidence", "search", "are strokes rarer with folic acid", "--min-similarity", "0.3"]));
    assert!(
        code == 0 && out.contains("  c1\n") && out.contains("Kept 1 of 1: ") && out.contains("(1 passage compared)"),
        "{out}"
    );
    let (code, out, _) =
        run(tree.tamis(&["evidence", "search", "folic acid", "--min-similarity", "1", "--target", "fragments"]));
    assert!(
        code == 1 && out.starts_with("Nothing clearly relevant: ") && out.contains("(3 passages compared)"),
        "{out}"
    );
    let (code, _, error) = run(tree.tamis(&["evidence", "search", "x", "--top-k", "51"]));
    assert!(code == 2 && error.contains("--top-k") && error.contains("1 to 50"), "{error}");
}
