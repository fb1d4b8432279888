//! A full disk: the index is searched and described, with a warning.
#![cfg(target_os = "linux")]

use crate::support::{Tree, run};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A small file system at a path, unmounted on drop.
struct Disk(PathBuf);

impl Disk {
    fn at(place: &Path) -> Option<Disk> {
        fs::create_dir_all(place).expect("made");
        let mut mount = Command::new("mount");
        let mounted = mount.args(["-t", "tmpfs", "-o", "size=8m", "tamis-test"]).arg(place).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Disk(place.to_owned()));
        }
        println!("skipped: this user may not mount a small file system");
        None
    }

    fn fill(&self, left: usize) {
        let room = self.0.join("room");
        fs::write(&room, vec![0; left]).expect("written");
        let mut filler = fs::File::create(self.0.join("filler")).expect("made");
        while filler.write_all(&[1; 4096]).is_ok() {}
        fs::remove_file(room).expect("removed");
    }

    fn empty(&self) {
        fs::remove_file(self.0.join("filler")).expect("removed");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}

#[test]
fn search_and_status_answer_on_a_full_disk_with_a_warning() {
    let tree = Tree::new();
    let Some(disk) = Disk::at(&tree.root().join(".tamis")) else { return };
    tree.tamis(&["index"]).assert().success();
    let question = "how hot should the oven be";
    let before = tree.json(&["search", "--json", "--cut", "fixed:k=3", question]);
    for (left, changed) in [(0, false), (24 << 10, false), (0, true), (64 << 10, true)] {
        disk.fill(left);
        if changed {
            tree.write("docs/new.md", &format!("# New {left}\n\n{}\n", "Something new about kites. ".repeat(9000)));
        }
        let (code, out, err) = run(tree.tamis(&["search", "--json", "--cut", "fixed:k=3", question]));
        assert_eq!(code, 0, "{left} bytes left: {err}");
        assert!(err.contains("no space left") && err.contains("searched the index as it is"), "{left}: {err}");
        let answer: serde_json::Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!(answer["results"], before["results"], "{left} bytes left");
        let (code, out, err) = run(tree.tamis(&["status"]));
        assert_eq!(code, 0, "{left} bytes left: {err}");
        assert!(out.contains("passages"), "{out}");
        disk.empty();
    }
    tree.tamis(&["index"]).assert().success();
    assert_eq!(run(tree.tamis(&["doctor"])).0, 0);
}

#[test]
fn an_import_that_cannot_be_published_says_that_it_is_committed() {
    let tree = Tree::indexed();
    // The search indexes cannot be written for whatever reason; the database can.
    let lexical = tree.root().join(".tamis/lexical");
    fs::remove_dir_all(&lexical).expect("removed");
    fs::write(&lexical, "in the way").expect("written");
    let issue =
        serde_json::json!({ "number": 1, "title": "Login fails with a bad token", "body": "It says bad token." });
    tree.write("issues.jsonl", &issue.to_string());
    let (code, _, err) = run(tree.tamis(&["import", "issues", "issues.jsonl"]));
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("is committed") && err.contains("catch up"), "{err}");
    assert!(!err.contains("unchanged"), "{err}");
    fs::remove_file(&lexical).expect("removed");
    let answer = tree.json(&["search", "--json", "login bad token", "--collection", "issues"]);
    assert!(answer["results"][0]["path"].is_string(), "{answer}");
}

#[test]
fn a_lost_lexical_index_that_cannot_be_made_again_leaves_the_vectors_to_answer() {
    let tree = Tree::indexed();
    let lexical = tree.root().join(".tamis/lexical");
    fs::remove_dir_all(&lexical).expect("removed");
    fs::write(&lexical, "in the way").expect("written");
    let (code, out, err) = run(tree.tamis(&["search", "--json", "--cut", "fixed:k=3", "heat the oven before baking"]));
    assert_eq!(code, 0, "{err}");
    let answer: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(answer["mode_used"], "semantic", "{answer}");
    assert_eq!(answer["results"][0]["path"], "docs/bread.md");
    assert!(err.contains("answered by meaning alone"), "{err}");
    let (code, _, err) = run(tree.tamis(&["search", "--mode", "lexical", "oven"]));
    assert_eq!(code, 2, "words alone were asked for, and there are none: {err}");
}
