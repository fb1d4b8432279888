//! What only Linux has: a full disk made for a test, and names of files that are no text.
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
    tree.succeed(&["index"]);
    let question = "how hot should the oven be";
    let before = tree.json(&["search", "--json", "--cut", "fixed:k=3", question]);
    for (left, changed) in [(0, false), (24 << 10, false), (0, true), (64 << 10, true)] {
        disk.fill(left);
        if changed {
            tree.write("docs/new.md", &format!("# New {left}\n\n{}\n", "Something new about kites. ".repeat(9000)));
        }
        let (out, err) = tree.succeed(&["search", "--json", "--cut", "fixed:k=3", question]);
        assert!(err.contains("no space left") && err.contains("searched the index as it is"), "{left}: {err}");
        let answer: serde_json::Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!(answer["results"], before["results"], "{left} bytes left");
        let (out, _) = tree.succeed(&["status"]);
        assert!(out.contains("passages"), "{out}");
        disk.empty();
    }
    std::fs::remove_dir_all(tree.root().join(".tamis/lexical")).expect("removed");
    disk.fill(0);
    let (_, out, _) = run(tree.tamis(&["doctor"]));
    assert!(out.contains("free some space and run again") && out.contains("repairable: lexical"), "{out}");
    assert!(!out.contains("--check-only") && !out.contains("writable"), "{out}");
    disk.empty();
    tree.succeed(&["index"]);
    assert_eq!(run(tree.tamis(&["doctor"])).0, 0);
}

#[test]
fn name_that_is_no_text_is_reported_once_and_never_counts_as_changed() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let tree = Tree::new();
    for name in [&b"caf\xe9.md"[..], b"caf\xe8.md"] {
        fs::write(tree.root().join(OsStr::from_bytes(name)), "# Coffee\n").expect("written");
    }
    for _ in 0..2 {
        let (out, _) = tree.succeed(&["index"]);
        let lines: Vec<&str> = out.lines().filter(|line| line.contains("not UTF-8")).collect();
        assert!(lines.len() == 1 && lines[0].contains("caf\\xE8.md") && lines[0].contains("rename"), "{out}");
        assert!(!out.contains("could not be read"), "{out}");
    }
    let status = tree.json(&["status", "--json"]);
    assert_eq!(status["stale"], 0, "{status}");
    let (_, _, error) = run(tree.tamis(&["search", "oven"]));
    assert!(!error.contains("could not be read") && !error.contains("changed"), "{error}");
}
