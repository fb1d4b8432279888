//! A tree and an index that this user may not write.

use crate::support::{Tree, ignores_permissions, run, skipped};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Takes or gives the right to write a directory and everything in it.
fn set_writable(directory: &Path, writable: bool) {
    let bits = |executable: u32| Permissions::from_mode(if writable { 0o644 } else { 0o444 } | executable);
    fs::set_permissions(directory, bits(0o111)).expect("set");
    for entry in fs::read_dir(directory).expect("listed") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => set_writable(&path, writable),
            false => fs::set_permissions(path, bits(0)).expect("set"),
        }
    }
}

#[test]
fn read_only_index_is_searched_as_it_is_and_takes_no_note() {
    let tree = Tree::empty();
    if ignores_permissions(tree.home()) {
        return skipped("a read-only index", "permissions do not stop this user");
    }
    let (mut queries, mut judgements) = (String::new(), String::from("query-id\tcorpus-id\tscore\n"));
    for (at, subject) in
        "anchor barrel candle drum easel feather hammer kite lantern oar quill violin".split(' ').enumerate()
    {
        let text = format!("# The {subject}\n\nThe {subject} came in {} and stands in the hall.\n", 1700 + at);
        tree.write(&format!("notes/{subject}.md"), &text);
        queries += &format!("{{\"_id\": \"q{at}\", \"text\": \"when did the {subject} come\"}}\n");
        judgements += &format!("q{at}\tnotes/{subject}.md\t1\n");
    }
    set_writable(tree.root(), false);
    let (code, out, err) = run(tree.tamis(&["search", "violin"]));
    set_writable(tree.root(), true);
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("--index") && err.contains("TAMIS_INDEX"), "{err}");

    tree.succeed(&["index"]);
    fs::create_dir_all(tree.home().join("judged/qrels")).expect("made");
    fs::write(tree.home().join("judged/queries.jsonl"), queries).expect("written");
    fs::write(tree.home().join("judged/qrels/test.tsv"), judgements).expect("written");
    tree.succeed(&["feedback", "--import", &tree.home().join("judged").to_string_lossy()]);
    set_writable(&tree.root().join(".tamis"), false);
    let plain = run(tree.tamis(&["search", "when did the violin come"]));
    let guaranteed = run(tree.tamis(&["search", "--guarantee", "recall=0.9", "when did the violin come"]));
    let note = run(tree.tamis(&["remember", "x"]));
    set_writable(&tree.root().join(".tamis"), true);
    assert!(plain.0 == 0 && plain.1.starts_with("notes/violin.md") && !plain.1.contains("[query "), "{plain:?}");
    assert!(plain.2.contains("searched the index as it is"), "{plain:?}");
    assert!(guaranteed.0 == 0 && guaranteed.1.contains("is kept, going by 12 judged queries"), "{guaranteed:?}");
    assert!(note.0 == 2 && note.2.contains("not writable") && note.2.contains("--index"), "{note:?}");
    assert!(!tree.root().join("memory").exists());
}
