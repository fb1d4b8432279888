//! `tamis grep`, `files`, `outline` and `pack`.

use crate::support::Tree;
use serde_json::Value;

/// The output of a command that succeeds.
fn ok(tree: &Tree, arguments: &[&str]) -> String {
    let output = tree.tamis(arguments).output().expect("it runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// The status and the messages of a command.
fn failed(tree: &Tree, arguments: &[&str]) -> (Option<i32>, String) {
    let output = tree.tamis(arguments).output().expect("it runs");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn tree() -> Tree {
    let tree = Tree::empty();
    tree.write("src/door.rs", "/// A door.\npub struct Door;\n\nimpl Door {\n    /// Opens the door.\n    pub fn open(&self) {\n        knock();\n    }\n}\n\nfn knock() {}\n");
    tree.write("src/house.rs", "use crate::door::Door;\n\n/// Opens every door of the house.\npub fn open_all(doors: &[Door]) {\n    doors.iter().for_each(|door| door.open());\n}\n");
    tree.write("docs/guide.md", "# Guide\n\n## Opening\n\nOpen the door with a key.\n");
    tree.write(".gitignore", "target/\n");
    tree.write("target/out.rs", "pub struct Door;\n");
    ok(&tree, &["index", "-q"]);
    tree
}

#[test]
fn grep_finds_exact_text_in_the_files_of_the_index() {
    let tree = tree();
    assert_eq!(
        ok(&tree, &["grep", "-w", "Door"]),
        "src/door.rs:2:pub struct Door;\nsrc/door.rs:4:impl Door {\nsrc/house.rs:1:use crate::door::Door;\nsrc/house.rs:4:pub fn open_all(doors: &[Door]) {\n",
        "not what .gitignore leaves out"
    );
    assert_eq!(ok(&tree, &["grep", "-lF", "&[Door]"]), "src/house.rs\n");
    assert_eq!(ok(&tree, &["grep", "-ci", "door", "src"]), "src/door.rs:4\nsrc/house.rs:4\n");
    assert_eq!(
        ok(&tree, &["grep", "--vimgrep", "knock", "-g", "*.rs"]),
        "src/door.rs:7:9:        knock();\nsrc/door.rs:11:4:fn knock() {}\n"
    );
    assert_eq!(
        ok(&tree, &["grep", "-C", "1", "knock\\(\\);"]),
        "src/door.rs-6-    pub fn open(&self) {\nsrc/door.rs:7:        knock();\nsrc/door.rs-8-    }\n"
    );
    assert_eq!(ok(&tree, &["grep", "^fn .*}$"]), "src/door.rs:11:fn knock() {}\n", "the ends of a line");
    tree.write("src/dos.rs", "fn first() {}\r\nfn dos() {}\r\n");
    assert_eq!(ok(&tree, &["grep", "^fn dos.*}$"]), "src/dos.rs:2:fn dos() {}\n");
    let answer: Value = serde_json::from_str(&ok(&tree, &["grep", "--json", "--limit", "1", "open"])).expect("JSON");
    assert_eq!(
        (&answer["matches"], &answer["files"], &answer["unlisted"]),
        (&3.into(), &2.into(), &2.into()),
        "{answer}"
    );
    assert_eq!(answer["results"][0]["hits"][0]["line"], 6);
}

#[test]
fn grep_reads_files_as_they_are_now_and_says_what_is_wrong() {
    let tree = tree();
    tree.write("src/door.rs", "pub struct Gate;\n");
    assert_eq!(ok(&tree, &["grep", "--no-refresh", "Gate"]), "src/door.rs:1:pub struct Gate;\n");
    assert_eq!(failed(&tree, &["grep", "walrus"]).0, Some(1));
    let (status, message) = failed(&tree, &["grep", "a("]);
    assert!(status == Some(2) && message.contains("unclosed group"), "{message}");
    let (status, message) = failed(&tree, &["grep", "x", "src/none.rs"]);
    assert!(status == Some(2) && message.contains("src/none.rs: not in the index"), "{message}");
}

#[test]
fn trap_matches_cannot_steer_the_terminal() {
    let tree = tree();
    tree.write("src/evil.rs", "// \u{1b}[2Jneedle\n");
    let shown = ok(&tree, &["grep", "needle"]);
    assert!(shown.contains("␛[2Jneedle") && !shown.contains('\u{1b}'), "{shown:?}");
}

#[test]
fn files_by_glob_part_and_letters() {
    let tree = tree();
    assert_eq!(ok(&tree, &["files", "src/*.rs"]), "src/door.rs\nsrc/house.rs\n");
    assert_eq!(ok(&tree, &["files", "door"]), "src/door.rs\n");
    assert_eq!(ok(&tree, &["files", "dcgd"]), "docs/guide.md\n");
    assert_eq!(failed(&tree, &["files", "walrus"]).0, Some(1));
    let answer: Value = serde_json::from_str(&ok(&tree, &["files", "--json", "--lang", "rust"])).expect("JSON");
    assert_eq!((&answer["total"], &answer["results"][0]["language"]), (&2.into(), &"rust".into()), "{answer}");
}

#[test]
fn an_outline_has_signatures_and_lines() {
    let tree = tree();
    let shown = ok(&tree, &["outline", "src/door.rs"]);
    assert_eq!(
        shown,
        "src/door.rs  (rust, 11 lines, 4 symbols)\n 2-2   pub struct Door\n 4-9   impl Door\n 6-8     pub fn open(&self)\n11-11  fn knock()\n"
    );
    assert!(ok(&tree, &["outline", "src", "-n", "1"]).contains("src/house.rs  (rust, 6 lines, 1 symbol)"));
    assert!(ok(&tree, &["outline", "docs/guide.md"]).contains("  Opening"));
}

#[test]
fn a_pack_is_in_reading_order_within_its_budget_and_has_nothing_twice() {
    let tree = tree();
    let pack: Value =
        serde_json::from_str(&ok(&tree, &["pack", "--json", "open the door", "--budget-tokens", "300"])).expect("JSON");
    assert!(pack["tokens"].as_u64().is_some_and(|tokens| tokens <= 300), "{pack}");
    let text = pack["text"].as_str().expect("text");
    assert!(text.lines().last().is_some_and(|line| line.starts_with("=== ")), "{text}");
    let sections = pack["sections"].as_array().expect("sections");
    let places: Vec<(&str, u64)> = sections
        .iter()
        .map(|one| (one["path"].as_str().unwrap_or_default(), one["start_line"].as_u64().unwrap_or_default()))
        .collect();
    assert!(places.is_sorted() && !places.is_empty(), "{places:?}");
    let steps = "The winch lifts the gate, and a pawl keeps it from falling back.\n".repeat(20);
    tree.write("docs/winch.md", &format!("# Winch\n\n{steps}"));
    let small: Value =
        serde_json::from_str(&ok(&tree, &["pack", "--json", "what does the winch lift", "--budget-tokens", "150"]))
            .expect("JSON");
    assert!(small["tokens"].as_u64().is_some_and(|tokens| tokens <= 150), "{small}");
    let text = small["text"].as_str().expect("text");
    assert!(text.contains("The winch lifts the gate") && text.contains("Left out or shortened"), "{text}");
}

#[test]
fn a_pack_says_what_its_limit_left_out() {
    let tree = tree();
    for number in 0..3 {
        tree.write(
            &format!("docs/winch{number}.md"),
            &format!("# Winch {number}\n\nThe winch of gate {number} lifts it.\n"),
        );
    }
    let pack = |limit: &str| -> Value {
        serde_json::from_str(&ok(&tree, &["pack", "--json", "winch", "--limit", limit])).expect("JSON")
    };
    let whole = pack("9");
    let kept = whole["cut"]["keep"].as_u64().expect("a number");
    assert!(
        kept > 2 && whole["text"].as_str().is_some_and(|text| text.contains("Nothing relevant was left out")),
        "{whole}"
    );
    let first = pack("1");
    let text = first["text"].as_str().expect("text");
    let said = format!("=== Left out by the limit: {} more relevant results\n", kept - 1);
    assert!(text.ends_with(&said) && !text.contains("Nothing relevant"), "{text}");
}
