//! `tamis cut`: a filter over the results of any engine.

use crate::support::{bare, run};

fn filtered(arguments: &[&str], input: &str) -> (i32, String, String) {
    let mut command = bare(&[&["cut"], arguments].concat());
    command.write_stdin(input);
    run(command)
}

const SCORES: &str = "{\"score\": 0.91, \"id\": 1}\n{\"score\":0.90,\"id\":2}\r\n  {\"id\":3,\"score\":0.2}\n{\"score\":0.19}\n{\"score\":0.18}";

#[test]
fn the_relevant_lines_come_out_as_they_came_in() {
    let (code, out, err) = filtered(&[], SCORES);
    assert_eq!(code, 0, "{err}");
    assert_eq!(out, "{\"score\": 0.91, \"id\": 1}\n{\"score\":0.90,\"id\":2}\r\n");
    assert!(err.starts_with("tamis: 2 of 5 look relevant ("), "{err}");
    assert_eq!(filtered(&["--quiet"], SCORES).2, "");
    let (_, out, _) = filtered(&["--method", "fixed:k=100"], SCORES);
    assert_eq!(out, SCORES, "all of them, to the missing end of the last line");
}

#[test]
fn distances_similarities_and_fields_in_objects() {
    let distances = "{\"distance\":0.1}\n{\"distance\":0.12}\n{\"distance\":0.8}\n";
    let (code, out, err) = filtered(&["--score", "distance", "--method", "fixed:k=2"], distances);
    assert_eq!((code, out.lines().count()), (0, 2), "{err}");
    assert_eq!(filtered(&["--score", "similarity"], distances).0, 2, "there is no such field");
    let nested = "{\"hit\":{\"distance\":0.1}}\n{\"hit\":{\"distance\":0.9}}\n";
    assert_eq!(filtered(&["--score", "hit.distance", "--method", "fixed:k=1"], nested).1.lines().count(), 1);
    let costs = "{\"cost\":1}\n{\"cost\":5}\n";
    assert_eq!(filtered(&["--score", "cost", "--lower-is-better", "--method", "fixed:k=1"], costs).1, "{\"cost\":1}\n");
    let (code, _, err) = filtered(&["--score", "cost", "--method", "fixed:k=1"], costs);
    assert_eq!(code, 2);
    assert!(err.contains("line 2: 5 is better than 1 before it (higher is better)"), "{err}");
}

#[test]
fn disorder_is_an_error_that_names_the_line_unless_sorting_is_asked_for() {
    let input = "{\"score\":1}\n\n{\"score\":3}\n{\"score\":2}";
    let (code, out, err) = filtered(&["--method", "fixed"], input);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("line 3: 3 is better than 1") && err.contains("--sort"), "{err}");
    let (code, out, _) = filtered(&["--sort", "--method", "fixed"], input);
    assert_eq!((code, out.as_str()), (0, "{\"score\":3}\n{\"score\":2}\n{\"score\":1}\n"));
}

#[test]
fn one_malformed_line_is_named_and_nothing_is_written() {
    let (code, out, err) = filtered(&[], "{\"score\":3}\n{\"score\":2}\n{\"score\":\n");
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("line 3: not JSON") && err.contains("nothing is written"), "{err}");
}

#[test]
fn nothing_kept_is_status_1_and_so_is_nothing_given() {
    let (code, out, err) = filtered(&["--background", "0.95"], SCORES);
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(err.contains("Nothing clearly relevant"), "{err}");
    assert_eq!(filtered(&[], "").0, 1);
    let (code, _, err) = filtered(&["--method", "background", "--background", "0.95"], SCORES);
    assert!(code == 1 && err.contains("Nothing clearly relevant: "), "{err}");
}

#[test]
fn a_byte_order_mark_belongs_to_no_line() {
    for (input, kept) in [
        ("{\"score\":3}\n{\"score\":2}\n", "{\"score\":3}\n"),
        ("id,score\na,3\nb,2\n", "id,score\na,3\n"),
        ("\"score\"\t\"id\"\n3\ta\n2\tb\n", "\"score\"\t\"id\"\n3\ta\n"),
        ("3\n2\n", "3\n"),
    ] {
        let marked = format!("\u{feff}{input}");
        let (code, out, err) = filtered(&["--method", "fixed:k=1"], &marked);
        assert_eq!((code, out.as_str()), (0, kept), "{input}: {err}");
    }
}

#[test]
fn a_method_reads_the_legs_on_its_own_scale() {
    let legs = "{\"similarity\":0.6,\"bm25\":8}\n{\"similarity\":0.5,\"bm25\":2}\n";
    let (code, out, err) = filtered(&["--method", "language"], legs);
    assert_eq!((code, out.as_str()), (1, ""), "a similarity of 0.6 does not reach 0.65: {err}");
    let legs = "{\"similarity\":0.7,\"bm25\":1}\n{\"similarity\":0.5,\"bm25\":9}\n{\"bm25\":9,\"coverage\":0.9}\n";
    let (code, out, err) = filtered(&["--method", "language"], legs);
    assert_eq!(code, 0, "{err}");
    assert!(!out.contains("0.5") && out.contains("0.7") && out.contains("coverage"), "{out}");
    let found_by_words = "{\"similarity\":0.8}\n{\"bm25\":1000}\n";
    let (code, out, err) = filtered(&["--method", "top_score:high_bound=0.5", "--json"], found_by_words);
    assert_eq!(code, 0, "{err}");
    let report: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let values: Vec<f64> =
        report["lines"].as_array().unwrap().iter().map(|line| line["value"].as_f64().unwrap()).collect();
    assert!((values[0] - 0.56).abs() < 1e-9 && values[1] > 0.29 && values[1] <= 0.3, "{out}");
}

#[test]
fn a_limit_shortens_and_figures_explain() {
    let (code, out, err) = filtered(&["--method", "fixed:k=4", "-n", "1", "--explain"], SCORES);
    assert_eq!((code, out.lines().count()), (0, 1));
    assert!(err.contains("Kept 4 of 5, the first 1 shown: ") && err.contains("method = fixed"), "{err}");
    let (_, _, err) = filtered(&["--explain"], SCORES);
    assert!(err.contains("method = auto") && err.contains("background = estimated"), "the default: {err}");
}

#[test]
fn wrong_flags_are_told_what_is_allowed() {
    for (arguments, part) in [
        (["--method", "otsuu"], "did you mean"),
        (["--method", "fixed:k=0"], "from 1 to"),
        (["--limit", "0"], "at least 1"),
        (["--background", "NaN"], "finite"),
    ] {
        let (code, _, err) = filtered(&arguments, SCORES);
        assert_eq!(code, 2, "{arguments:?}");
        assert!(err.contains(part), "{arguments:?}: {err}");
    }
}
