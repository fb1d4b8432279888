//! Help, suggestions for command lines without a command, and short names.

use crate::support::{Tree, bare, run};

#[test]
fn the_first_page_shows_common_commands_and_groups_the_others() {
    let (code, out, _) = run(bare(&["--help"]));
    assert_eq!(code, 0);
    for part in
        ["  search ", "  doctor ", "Evidence ", "Imports ", "Tuning ", "Setup ", "import, troubleshoot, duplicates"]
    {
        assert!(out.contains(part), "{part} is not in:\n{out}");
    }
    assert!(!out.contains("sql") && !out.contains("views") && !out.contains("calibrate"), "{out}");
}

#[test]
fn an_unknown_command_leads_to_the_right_one() {
    let refused = |arguments: &[&str]| {
        let (code, out, err) = run(bare(arguments));
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}: {err}");
        err
    };
    for (word, command) in [
        ("find", "search"),
        ("query", "search"),
        ("ask", "search"),
        ("server", "serve"),
        ("update", "index"),
        ("ls", "files"),
        ("docter", "doctor"),
    ] {
        let err = refused(&[word]);
        assert!(err.contains(&format!("did you mean `tamis {command}`?")), "{word}: {err}");
    }
    let err = refused(&["how does the lock work"]);
    assert!(err.contains("tamis search \"how does the lock work\""), "{err}");
    let err = refused(&["how", "does", "the", "lock", "work", "--json"]);
    assert!(err.contains("tamis search \"how does the lock work\""), "{err}");
}

#[test]
fn a_suggestion_quotes_nothing_that_steers_the_terminal() {
    let (code, _, err) = run(bare(&["what is \u{1b}[2J this"]));
    assert_eq!(code, 2);
    assert!(!err.contains('\u{1b}'), "{err:?}");
}

#[test]
fn short_names_of_grouped_commands_work() {
    let tree = Tree::indexed();
    for (short, whole) in [
        (&["sql", "--schema"][..], &["evidence", "sql", "--schema"][..]),
        (&["views", "--json"], &["evidence", "views", "--json"]),
        (&["view", "no_such_view"], &["evidence", "view", "no_such_view"]),
        (&["stats", "--json"], &["tune", "stats", "--json"]),
        (&["calibrate", "--dry-run"], &["tune", "calibrate", "--dry-run"]),
        (&["feedback", "--list"], &["tune", "feedback", "--list"]),
        (&["eval", "none"], &["tune", "eval", "none"]),
        (&["hook", "print"], &["setup", "hook", "print"]),
        (&["trust"], &["setup", "trust"]),
        (&["completions", "fish"], &["setup", "completions", "fish"]),
        (&["man"], &["setup", "man"]),
        (&["jobs", "list"], &["store", "jobs", "list"]),
    ] {
        assert_eq!(run(tree.tamis(short)), run(tree.tamis(whole)), "{short:?}");
    }
}

#[test]
fn output_into_a_pipe_needs_no_pager_and_keeps_its_lines() {
    let tree = Tree::indexed();
    let line = "long ".repeat(60);
    tree.write("docs/long.md", &format!("# Long\n\nA walrus {line}\n"));
    let mut command = tree.tamis(&["search", "walrus"]);
    command.env("TAMIS_PAGER", "no-such-pager-here").env("COLUMNS", "40");
    let (code, out, err) = run(command);
    assert_eq!(code, 0, "{err}");
    assert!(out.lines().any(|line| line.chars().count() > 200), "{out}");
    assert_eq!(run(tree.tamis(&["status", "--no-pager"])).0, 0);
}
