//! Nothing written by others steers a terminal or hides from its reader: every command, with everything that it can
//! quote.

use crate::support::{Tree, run};
use serde_json::json;
use std::collections::BTreeSet;
use std::fs;
use tamis_text::sanitize::{for_terminal, is_hidden};

/// Every kind of character that steers or hides.
const HOSTILE: &str =
    "\u{1b}[36mPWN\u{1b}]0;t\u{7}\u{1b}[2J\u{202e}\u{2066}\u{200b}\u{2060}\u{e0041}\u{e0042}\u{fe0f}\u{9b}31m\u{7f}";

/// The same as a part of a file's name.
fn file_name() -> String {
    format!("docs/kraken{HOSTILE}.md")
}

/// A tree in which everything has such a name.
fn tree() -> Tree {
    let tree = Tree::new();
    tree.write(&file_name(), &format!("# Kraken {HOSTILE}\n\nThe kraken {HOSTILE} sleeps below the ice.\n"));
    tree.write("docs/plain.md", &format!("# Plain {HOSTILE}\n\nA walrus {HOSTILE} on a plain name.\n"));
    tree.write("src/odd.py", &format!("def walrus():\n    '''{HOSTILE}'''\n    return kraken()\n"));
    tree.write("MEMORY.md", &format!("# Memory\n\n## Topic {HOSTILE}\n\n- The kraken {HOSTILE} was fed.\n"));
    let issue = |number: u32, title: &str| {
        json!({
            "number": number, "title": format!("{title} {HOSTILE}"), "state": "closed", "user": HOSTILE,
            "body": format!("The kraken crashes the boiler {HOSTILE}."), "closed_at": "2024-03-02T10:00:00Z",
            "url": format!("https://example.org/{number}/{HOSTILE}"), "labels": [HOSTILE],
            "comments": [{ "author": HOSTILE, "created_at": "2024-03-01T10:00:00Z", "body": format!("Restart {HOSTILE}.") }],
        })
        .to_string()
    };
    let issues = [issue(1, "The kraken crashes the boiler"), issue(2, "A kraken crashes the boiler")];
    tree.write(".tamis-import/issues.jsonl", &issues.join("\n"));
    let bad = format!("{{\"number\": \"{HOSTILE}\"}}\n{}\nnonsense {HOSTILE}\n", issue(3, "x"));
    tree.write(".tamis-import/bad.jsonl", &bad);
    let evidence = [
        json!({ "record": "task", "id": "t1", "question": format!("Kraken {HOSTILE_PLAIN}?") }),
        json!({ "record": "page", "id": "p1", "url": "https://kraken.example/a", "title": format!("T {HOSTILE}") }),
        json!({ "record": "fragment", "id": "f1", "page_id": "p1", "text": format!("Krakens sleep {HOSTILE} below ice.") }),
        json!({ "record": "claim", "id": "c1", "task_id": "t1", "text": format!("Krakens sleep {HOSTILE} in winter.") }),
    ];
    tree.write(".tamis-import/evidence.jsonl", &evidence.map(|record| record.to_string()).join("\n"));
    tree.index_and_import();
    tree
}

/// Characters that steer without being control characters, for fields that reject those.
const HOSTILE_PLAIN: &str = "\u{202e}\u{2066}\u{200b}\u{e0041}";

/// Fails if an output holds anything but text and the styles of printers.
fn check(what: &str, out: &str) {
    assert!(!out.contains("\u{1b}[36mPWN"), "{what} lets a style of others through: {out:?}");
    let mut text = String::new();
    for (at, part) in out.split('\u{1b}').enumerate() {
        let rest = match at {
            0 => part,
            _ => {
                let style = part.strip_prefix('[').and_then(|rest| rest.split_once('m'));
                let (codes, rest) = style.unwrap_or_else(|| panic!("{what}: an escape sequence: {out:?}"));
                assert!(codes.chars().all(|c| c.is_ascii_digit() || c == ';'), "{what}: {codes:?} in {out:?}");
                rest
            }
        };
        text.push_str(rest);
    }
    let hidden = text.chars().find(|character| is_hidden(*character));
    assert!(hidden.is_none(), "{what}: {hidden:?} in {text:?}");
}

/// The command lines to run, each also with `--color always`; the first word of each is the command.
fn invocations() -> Vec<Vec<String>> {
    let fill = |word: String| match word.as_str() {
        "NAME" => file_name(),
        _ => word.replace("HOSTILE", HOSTILE).replace("PLAIN", HOSTILE_PLAIN),
    };
    let lines = include_str!("../fixtures/hostile_commands").lines();
    lines.map(|line| shlex::split(line).expect("closed quotes").into_iter().map(fill).collect()).collect()
}

#[cfg(unix)]
#[test]
fn nothing_that_others_wrote_steers_a_terminal_or_hides_on_it() {
    let tree = tree();
    // JSON is exact, and a pipe gets the very text.
    let found = tree.json(&["search", "--mode", "lexical", "--json", "kraken ice"]);
    let paths: Vec<_> = found["results"].as_array().expect("it").iter().filter_map(|it| it["path"].as_str()).collect();
    assert!(paths.contains(&file_name().as_str()), "{paths:?}");
    let (_, text, _) = run(tree.tamis(&["get", "docs/plain.md"]));
    // Characters without a width are no part of any word, so the index has none.
    let whole = fs::read_to_string(tree.root().join("docs/plain.md")).expect("read");
    assert_eq!(text, whole.replace(['\u{200b}', '\u{2060}'], ""));
    let (_, files, _) = run(tree.tamis(&["search", "--mode", "lexical", "--files", "kraken ice"]));
    assert!(files.contains(for_terminal(&file_name()).as_ref()), "{files:?}");

    // Settings are quoted with the file that they came from.
    fs::write(tree.home().join("config.toml"), "[memory]\ndirectory = \"mem\u{202e}\u{200b}\"\n").expect("written");
    let mut said = String::new();
    for words in invocations() {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (_, out, err) = run(tree.tamis(&[&["--color", "always"], words.as_slice()].concat()));
        check(&format!("{words:?}, standard output"), &out);
        check(&format!("{words:?}, standard error"), &err);
        said.push_str(&out);
        said.push_str(&err);
    }
    // It did quote, or the test would mean nothing.
    assert!(said.matches("PWN").count() > 100, "{} quotations", said.matches("PWN").count());
}

#[cfg(unix)]
#[test]
fn what_is_wrong_with_a_configuration_is_quoted_safely() {
    let tree = Tree::empty();
    for text in [
        format!("\"{HOSTILE_PLAIN}\" = 1\n"),
        format!("[search]\ncut = \"{HOSTILE_PLAIN}\"\n"),
        format!("[search]\n\"li\u{202e}mit\" = \"{HOSTILE_PLAIN}\"\n"),
        format!("[models.\"a{HOSTILE_PLAIN}\"]\nprovider = \"{HOSTILE_PLAIN}\"\n"),
        format!("{HOSTILE}\n"),
    ] {
        fs::write(tree.home().join("config.toml"), &text).expect("written");
        for words in [&["search", "kraken"][..], &["config"], &["status"], &["mcp"]] {
            let (code, out, err) = run(tree.tamis(&[&["--color", "always"], words].concat()));
            assert_eq!(code, 2, "{words:?} with {text:?}: {out}{err}");
            check(&format!("{words:?} with {text:?}"), &(out + &err));
        }
    }
}

/// The commands listed in the help.
fn commands(tree: &Tree) -> BTreeSet<String> {
    tree.succeed(&["man", "pages"]);
    let pages = fs::read_dir(tree.root().join("pages")).expect("a directory");
    let names = pages.map(|page| page.expect("an entry").file_name().to_string_lossy().into_owned());
    names.filter_map(|name| Some(name.strip_prefix("tamis-")?.strip_suffix(".1")?.to_owned())).collect()
}

#[test]
fn no_command_is_left_out_of_that() {
    let tried: BTreeSet<String> = invocations().into_iter().filter_map(|words| words.into_iter().next()).collect();
    for command in commands(&Tree::empty()) {
        let name = match command.split_once('-') {
            Some(("tune" | "setup", short)) => short.split('-').next().expect("a word"),
            Some((top, _)) => top,
            None => &command,
        };
        assert!(tried.contains(name), "`tamis {command}` is not among the invocations");
    }
}

#[test]
fn a_name_with_a_newline_is_one_line_of_a_listing() {
    let tree = Tree::new();
    tree.write("docs/two\nlines.md", "# Two lines\n\nA narwhal on two lines.\n");
    let (_, out, _) = run(tree.tamis(&["search", "--mode", "lexical", "--files", "narwhal"]));
    assert_eq!(out, "docs/two␊lines.md\n");
}
