//! Files that are notes, pages of a wiki, or neither.

use crate::support::{Tree, ask, assert_says, paths, refresh, search};
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use tamis::config::FileCollection;
use tamis::{Index, SearchRequest, SourceSettings, TextDocument};

const FILES: [(&str, &str); 6] = [
    ("MEMORY.md", "# Memory\n\n- The staging database is called heron.\n"),
    ("memory/2026-03-04.md", "# 2026-03-04\n\n- 09:10 The certificate of the mail server was renewed.\n"),
    ("memory/tool.py", "def renew():\n    \"\"\"Renew the certificate.\"\"\"\n"),
    ("handbook/travel.md", "# Travel\n\nTrains are booked by the office.\n"),
    ("README.md", "# Project\n\nA small project.\n"),
    ("src/lib.rs", "/// Adds.\npub fn add(a: u32, b: u32) -> u32 {\n    a + b\n}\n"),
];

fn collections(index: &Index) -> BTreeMap<String, String> {
    let documents = index.contents().documents(index.namespace()).expect("listed");
    documents.into_iter().map(|document| (document.path, document.collection)).collect()
}

fn expect(index: &Index, expected: &[(&str, &str)]) {
    let found = collections(index);
    for (path, collection) in expected {
        assert_eq!(found.get(*path).map(String::as_str), Some(*collection), "{path} in {found:?}");
    }
}

#[test]
fn files_are_notes_wiki_or_neither_and_removed_ones_are_gone() {
    let tree = Tree::new(&FILES);
    let index = tree.indexed(&[("search.gate", "false")]);
    expect(&index, &[("MEMORY.md", "notes"), ("memory/2026-03-04.md", "notes"), ("memory/tool.py", "code")]);
    expect(&index, &[("handbook/travel.md", "docs"), ("README.md", "docs"), ("src/lib.rs", "code")]);
    let notes = SearchRequest { collections: vec!["notes".into()], ..SearchRequest::new("renew the certificate") };
    assert_eq!(paths(&search(&index, notes))[0], "memory/2026-03-04.md");
    assert_eq!(refresh(&index).unchanged, 6, "nothing is read again");
    assert_eq!(index.stale().expect("compared"), 0);

    fs::remove_file(tree.root().join("memory/2026-03-04.md")).expect("removed");
    assert_eq!(refresh(&index).removed, 1);
    assert!(!paths(&ask(&index, "certificate of the mail server")).contains(&"memory/2026-03-04.md"));

    let tree = Tree::new(&FILES);
    refresh(&tree.open(&[]));
    let index = tree.open(&[("index.notes", "/handbook/"), ("index.wiki", "README.md"), ("memory.directory", "log")]);
    let report = refresh(&index);
    assert_eq!((report.removed, report.added), (0, 0));
    expect(&index, &[("MEMORY.md", "docs"), ("memory/2026-03-04.md", "docs"), ("handbook/travel.md", "notes")]);
    expect(&index, &[("README.md", "wiki"), ("src/lib.rs", "code")]);
    assert_eq!(refresh(&index).unchanged, 6);

    let tree = Tree::new(&FILES);
    let index = tree.open(&[]);
    for collection in ["notes", "wiki", "docs", "code", "skipped"] {
        let document = TextDocument { id: "x".into(), collection: collection.into(), title: None, text: "x".into() };
        assert_says(index.put_documents(&[document]).expect_err(collection), &["another name than those of files"]);
    }
}

#[test]
fn a_directory_as_a_whole_is_what_the_user_or_the_configuration_says() {
    let tree = Tree::new(&[
        ("place/x", ""),
        ("diary/monday.md", "# Monday\n\nRain.\n"),
        ("diary/script.sh", "echo rain\n"),
        ("project.wiki/Home.md", "# Home\n\nWelcome.\n"),
    ]);
    let at = |path: &str| tree.root().join(path);
    let place = Tree { directory: tempfile::tempdir().expect("a temporary directory") };
    let mut index = place.open(&[]);
    let notes = SourceSettings { collection: Some(FileCollection::Notes), ..SourceSettings::default() };
    index.add_sources(&[at("diary")], &notes).expect("added");
    index.add_sources(&[at("project.wiki")], &SourceSettings::default()).expect("added");
    refresh(&index);
    let collection = |index: &Index, namespace: &str, path: &str| {
        index.contents().document(namespace, path).expect("read").expect("there").collection
    };
    assert_eq!(collection(&index, "diary", "monday.md"), "notes");
    assert_eq!(collection(&index, "diary", "script.sh"), "code");
    assert_eq!(collection(&index, "project.wiki", "Home.md"), "wiki");
    // The setting is kept, and can be changed.
    drop(index);
    let mut index = place.open(&[]);
    refresh(&index);
    assert_eq!(collection(&index, "diary", "monday.md"), "notes");
    let wiki = SourceSettings { collection: Some(FileCollection::Wiki), ..SourceSettings::default() };
    index.add_sources(&[at("diary")], &wiki).expect("changed");
    refresh(&index);
    assert_eq!(collection(&index, "diary", "monday.md"), "wiki");
}

#[test]
fn trap_a_note_has_no_date_from_the_commit_that_brought_it() {
    let tree = Tree::new(&FILES);
    let git = |arguments: &[&str]| {
        let done = Command::new("git")
            .args(["-c", "user.name=n", "-c", "user.email=e@example.org"])
            .args(arguments)
            .current_dir(tree.root())
            .output();
        assert!(done.is_ok_and(|output| output.status.success()), "git {arguments:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "all"]);
    let index = tree.indexed(&[]);
    let dated = |path: &str| index.contents().document(index.namespace(), path).expect("read").expect("there").dated_ns;
    assert!(dated("README.md").is_some(), "other files have that of the commit");
    assert_eq!(dated("MEMORY.md"), None);
}

#[test]
fn a_note_of_overlapping_passages_is_given_back_as_it_was() {
    let lines: Vec<String> = (0..120)
        .map(|line| format!("- line {line} tells of the boats, the berths and the weather of that day"))
        .collect();
    let text = format!("# 2026-03-05\n\n{}\n", lines.join("\n"));
    let tree = Tree::new(&[("memory/2026-03-05.md", &text)]);
    let index = tree.indexed(&[]);
    let passages = index.contents().document_passages(index.namespace(), "memory/2026-03-05.md").expect("read");
    let shared = passages.windows(2).filter(|pair| pair[1].start_line <= pair[0].end_line).count();
    assert!(shared >= 2, "{shared} of {} passages share lines", passages.len());
    assert_eq!(index.get("memory/2026-03-05.md").expect("there").text, text);
    let some = index.get("memory/2026-03-05.md:30-90").expect("there");
    assert_eq!(some.text.lines().collect::<Vec<_>>(), lines[27..88].iter().map(String::as_str).collect::<Vec<_>>());
}
